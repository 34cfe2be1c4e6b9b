//! Where the socket lies, and how it comes there: nobody but its owner ever connects, and what a dead process left is replaced.
//!
//! - PLACE-2: the socket has its mode before anybody can connect to it.
//! - PLACE-3: only who holds the store's lock listens: whatever lies there before is of a process that is gone.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixListener as StdListener;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use tokio::net::UnixListener;

/// The socket's name in the store's directory.
const NAME: &str = "control.sock";
/// The longest path that a socket's address takes, with some room. Source: unix(7), `sun_path` of 108 bytes.
const PATH_BYTES_MAX: usize = 100;
/// Connections that may wait to be taken.
const BACKLOG: i32 = 64;

/// A path to the socket of a store that an address can hold.
#[derive(Debug)]
pub(super) struct SocketPath {
    path: PathBuf,
    /// Keeps the way to a directory with a long name open.
    _directory: Option<File>,
}

impl SocketPath {
    /// The socket called `name` in `directory`.
    ///
    /// # Errors
    /// The directory cannot be opened.
    pub(super) fn named(directory: &Path, name: &str) -> io::Result<Self> {
        let path = directory.join(name);
        if path.as_os_str().len() <= PATH_BYTES_MAX {
            return Ok(Self {
                path,
                _directory: None,
            });
        }
        // Through the directory's descriptor every path is short. Source: proc(5), /proc/pid/fd.
        let opened = File::open(directory)?;
        let path = PathBuf::from(format!("/proc/self/fd/{}/{name}", opened.as_raw_fd()));
        Ok(Self {
            path,
            _directory: Some(opened),
        })
    }

    /// The store's control socket.
    ///
    /// # Errors
    /// The directory cannot be opened.
    pub(super) fn of(directory: &Path) -> io::Result<Self> {
        Self::named(directory, NAME)
    }

    /// The path.
    pub(super) fn as_path(&self) -> &Path {
        &self.path
    }
}

/// The socket of a running instance; it is gone when this is dropped.
#[derive(Debug)]
pub(in crate::cli) struct Listening {
    /// What clients connect to.
    pub(super) listener: UnixListener,
    path: SocketPath,
}

impl Drop for Listening {
    fn drop(&mut self) {
        // A socket that is left behind is replaced by the next instance.
        let _best_effort = std::fs::remove_file(self.path.as_path());
    }
}

/// Listens beside the store whose lock this process holds.
///
/// # Errors
/// The system refuses the socket.
pub(in crate::cli) fn listen(directory: &Path) -> io::Result<Listening> {
    let made = SocketPath::named(directory, &format!(".{NAME}.{}", std::process::id()))?;
    let path = SocketPath::of(directory)?;
    let _none_is_there = std::fs::remove_file(made.as_path());
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrUnix::new(made.as_path())?)?;
    // PLACE-2: nobody can connect before `listen`, and only its owner after.
    rustix::fs::chmod(made.as_path(), Mode::RUSR | Mode::WUSR)?;
    rustix::net::listen(&socket, BACKLOG)?;
    std::fs::rename(made.as_path(), path.as_path())?;
    let listener = UnixListener::from_std(StdListener::from(socket))?;
    Ok(Listening { listener, path })
}

/// Whether a socket lies beside a store.
#[cfg(test)]
pub(in crate::cli) fn is_there(directory: &Path) -> bool {
    directory.join(NAME).exists()
}
