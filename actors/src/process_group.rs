//! Child processes of a tool: a process group of its own, ended as a whole, with bounded output.
//!
//! A tool's future is dropped at its timeout, on cancel and when the lease is lost; a [`ProcessGroup`] in it goes with it.
//!
//! - GROUP-1: when it is dropped or its command has ended, every process of the group has been sent SIGKILL. Nothing is asked first.
//! - GROUP-2: a group is signalled only while its leader is not reaped, so the number cannot belong to anybody else.
//!
//! What leaves the group by `setsid` leaves it for good: only a container or a control group holds that.

use std::io;
use std::os::fd::AsFd;
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::signal::unix::{SignalKind, signal};

/// Bytes that are read at once: a pipe holds this much.
const READ_BYTES: usize = 64 * 1_024;
/// Reads of what a pipe still holds: the largest pipe of an unprivileged process holds 1 MiB. Whoever left the group may go on writing.
const REST_READS_MAX: usize = 16;

/// What a command left behind.
#[derive(Debug)]
pub struct ProcessOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// The first bytes of its standard output.
    pub stdout: Vec<u8>,
    /// The first bytes of its standard error.
    pub stderr: Vec<u8>,
    /// Bytes of both that were read and not kept.
    pub cut_bytes: u64,
}

/// A command and everything it starts. Dropping it ends them all.
#[derive(Debug)]
pub struct ProcessGroup {
    child: Child,
    leader: Pid,
    stdout: ChildStdout,
    stderr: ChildStderr,
    is_reaped: bool,
}

impl ProcessGroup {
    /// Starts a command in a group of its own, with nothing on its standard input.
    ///
    /// # Errors
    /// The system's own: there is no such program, or no room for a process.
    pub fn spawn(command: Command) -> io::Result<Self> {
        let mut command = tokio::process::Command::from(command);
        command
            .process_group(0)
            .kill_on_drop(true)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        let gone = || io::Error::other("the process has no id or no streams");
        let leader = id.and_then(Pid::from_raw).ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take().ok_or_else(gone)?;
        let is_reaped = false;
        Ok(Self {
            child,
            leader,
            stdout,
            stderr,
            is_reaped,
        })
    }

    /// The number of the process, which is that of its group.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the command has ended, ends what it left running, and gives at most `bytes_max` bytes of each stream.
    ///
    /// What it writes beyond that is read and dropped, so that it does not wait for a reader. Dropping the future ends the group.
    ///
    /// # Errors
    /// The system's own.
    pub async fn output(mut self, bytes_max: usize) -> io::Result<ProcessOutput> {
        // Listen first, look second: an exit between the two wakes the listener.
        let mut exits = signal(SignalKind::child())?;
        let mut stdout = Kept::new(bytes_max);
        let mut stderr = Kept::new(bytes_max);
        while !self.has_ended()? {
            tokio::select! {
                _ = exits.recv() => {}
                read = stdout.read(&mut self.stdout), if !stdout.is_over => read?,
                read = stderr.read(&mut self.stderr), if !stderr.is_over => read?,
            }
        }
        self.kill();
        stdout.read_rest(&self.stdout)?;
        stderr.read_rest(&self.stderr)?;
        let status = self.child.wait().await?;
        self.is_reaped = true;
        Ok(ProcessOutput {
            status,
            cut_bytes: stdout.cut_bytes + stderr.cut_bytes,
            stdout: stdout.bytes,
            stderr: stderr.bytes,
        })
    }

    /// Whether the command has ended; it is left unreaped: GROUP-2.
    fn has_ended(&self) -> io::Result<bool> {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        Ok(waitid(WaitId::Pid(self.leader), look)?.is_some())
    }

    fn kill(&self) {
        // It fails where nobody is left to signal.
        let _gone = kill_process_group(self.leader, Signal::KILL);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if !self.is_reaped {
            // The runtime reaps the leader: `kill_on_drop`.
            self.kill();
        }
    }
}

/// The beginning of one stream.
struct Kept {
    bytes: Vec<u8>,
    bytes_max: usize,
    cut_bytes: u64,
    buffer: Vec<u8>,
    is_over: bool,
}

impl Kept {
    fn new(bytes_max: usize) -> Self {
        Self {
            bytes: Vec::new(),
            bytes_max,
            cut_bytes: 0,
            buffer: vec![0; READ_BYTES],
            is_over: false,
        }
    }

    /// Reads once. May be dropped: what was not told was not read.
    async fn read(&mut self, stream: &mut (impl AsyncRead + Unpin)) -> io::Result<()> {
        let count = stream.read(&mut self.buffer).await?;
        self.keep(count);
        Ok(())
    }

    /// Reads what is there now: a process that left the group may keep the stream open for ever.
    fn read_rest(&mut self, stream: &impl AsFd) -> io::Result<()> {
        for _ in 0..REST_READS_MAX {
            if self.is_over {
                break;
            }
            match rustix::io::read(stream, &mut self.buffer) {
                Ok(count) => self.keep(count),
                Err(rustix::io::Errno::AGAIN) => break,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn keep(&mut self, count: usize) {
        self.is_over = count == 0;
        let kept = count.min(self.bytes_max - self.bytes.len());
        self.bytes.extend_from_slice(&self.buffer[..kept]);
        self.cut_bytes += (count - kept) as u64;
    }
}
