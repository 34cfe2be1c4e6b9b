//! Whether a directory can hold a store, and who may open it: checked before anything is written.
//!
//! - PLACE-1: one process at a time: the lock is the kernel's and ends with its process, however that ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use leasehold_types::BootId;
use rustix::fs::{StatVfsMountFlags, statfs, statvfs};

use super::config::{CopiedStore, CreateStore, EmbeddedConfig, StoreOpenError, StoreWarning, io};
use super::segment::sync_directory;

/// Checks the directory, and makes it if that is wanted.
pub(super) fn check(config: &EmbeddedConfig) -> Result<Vec<StoreWarning>, StoreOpenError> {
    let directory = &config.directory;
    if !is_there(directory)? {
        make(config)?;
    }
    let meta = std::fs::symlink_metadata(directory)
        .map_err(io(format!("look at {}", directory.display())))?;
    if meta.is_symlink() {
        return Err(StoreOpenError::Symlink(directory.clone()));
    }
    if !meta.is_dir() {
        return Err(StoreOpenError::NotADirectory(directory.clone()));
    }
    let user = rustix::process::geteuid().as_raw();
    if meta.uid() != user {
        return Err(StoreOpenError::WrongOwner {
            directory: directory.clone(),
            owner: meta.uid(),
            user,
        });
    }
    let mount =
        statvfs(directory).map_err(|e| io(format!("look at {}", directory.display()))(e.into()))?;
    if mount.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return Err(StoreOpenError::ReadOnly(directory.clone()));
    }
    Ok(file_system_warning(directory)?.into_iter().collect())
}

fn is_there(path: &Path) -> Result<bool, StoreOpenError> {
    match std::fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(io(format!("look at {}", path.display()))(error)),
    }
}

fn make(config: &EmbeddedConfig) -> Result<(), StoreOpenError> {
    let directory = &config.directory;
    let above = match directory.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => directory,
    };
    if config.create == CreateStore::Never {
        return Err(StoreOpenError::MissingDirectory(directory.clone()));
    }
    if !is_there(above)? {
        return Err(StoreOpenError::MissingDirectory(above.to_owned()));
    }
    std::fs::DirBuilder::new()
        .mode(0o700)
        .create(directory)
        .and_then(|()| sync_directory(above))
        .map_err(|error| refused(directory, error))
}

/// What a system's refusal to write means.
fn refused(directory: &Path, error: io::Error) -> StoreOpenError {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    if matches!(error.kind(), ReadOnlyFilesystem | PermissionDenied) {
        StoreOpenError::ReadOnly(directory.to_owned())
    } else if super::keeper::is_full(&error) {
        StoreOpenError::Full(error.to_string())
    } else {
        io(format!("write to {}", directory.display()))(error)
    }
}

/// Magic numbers of `statfs`. Source: Linux, `include/uapi/linux/magic.h`, and `statfs(2)`.
fn file_system_warning(directory: &Path) -> Result<Option<StoreWarning>, StoreOpenError> {
    let found =
        statfs(directory).map_err(|e| io(format!("look at {}", directory.display()))(e.into()))?;
    let kind = u64::try_from(found.f_type).unwrap_or(0) & 0xffff_ffff;
    Ok(match kind {
        0x0102_1994 | 0x8584_58f6 => Some(StoreWarning::MemoryFileSystem),
        0x6969 => Some(StoreWarning::NetworkFileSystem("NFS")),
        0xff53_4d42 | 0xfe53_4d42 | 0x517b => Some(StoreWarning::NetworkFileSystem("SMB")),
        0x0102_1997 => Some(StoreWarning::NetworkFileSystem("9P")),
        0x00c3_6400 => Some(StoreWarning::NetworkFileSystem("Ceph")),
        _ => None,
    })
}

/// Refuses where writing `wanted` bytes would leave less than `reserve` free.
pub(super) fn check_space(directory: &Path, wanted: u64, reserve: u64) -> io::Result<()> {
    let found = statvfs(directory)?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < wanted.saturating_add(reserve) {
        let why =
            format!("{free} bytes are free, {wanted} are wanted and {reserve} stay in reserve");
        return Err(io::Error::new(io::ErrorKind::StorageFull, why));
    }
    Ok(())
}

/// The store's lock, held as long as this lives.
#[derive(Debug)]
pub(super) struct StoreLock {
    file: File,
    /// Whether the process before closed the store.
    pub(super) was_closed: bool,
}

impl StoreLock {
    pub(super) fn acquire(config: &EmbeddedConfig, boot: BootId) -> Result<Self, StoreOpenError> {
        let directory = &config.directory;
        let path = directory.join("lock");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(|error| refused(directory, error))?;
        let said = read_text(&file);
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(StoreOpenError::Locked {
                    directory: directory.clone(),
                    pid: field(&said, "pid").unwrap_or(0),
                });
            }
            Err(TryLockError::Error(error)) => return Err(io("lock the store")(error)),
        }
        let inode = file.metadata().map_err(io("look at the lock"))?.ino();
        let holder = field::<u32>(&said, "pid");
        let is_copy = holder.is_some() && field(&said, "inode") != Some(inode);
        if is_copy && config.copies == CopiedStore::Refuse {
            return Err(StoreOpenError::Copied(directory.clone()));
        }
        let pid = std::process::id();
        write_text(&file, &format!("pid {pid}\nboot {boot}\ninode {inode}\n"))
            .map_err(|error| refused(directory, error))?;
        let was_closed = holder.is_none();
        Ok(Self { file, was_closed })
    }

    /// Notes that everything is in place, so that the next start need not wonder.
    pub(super) fn note_closed(&self) -> io::Result<()> {
        write_text(&self.file, "closed\n")
    }
}

fn read_text(file: &File) -> String {
    let mut bytes = [0; 256];
    let count = super::segment::read_up_to(file, &mut bytes, 0).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

fn write_text(file: &File, text: &str) -> io::Result<()> {
    file.set_len(0)?;
    file.write_all_at(text.as_bytes(), 0)
}

fn field<T: std::str::FromStr>(text: &str, name: &str) -> Option<T> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].trim().parse().ok()
}
