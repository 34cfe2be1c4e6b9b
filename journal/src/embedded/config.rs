//! What an embedded store is opened with, and why it may not open.

use std::path::PathBuf;
use std::sync::Arc;

use crate::FRAME_BYTES_MAX;

/// What to do where there is no store yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreateStore {
    /// Make one; the directory above it must be there.
    IfMissing,
    /// Refuse: an empty store where one is expected is most likely a volume that is not mounted.
    Never,
}

/// What to do with files that were copied from a store that was open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopiedStore {
    /// Refuse: the original may be running, and both would do the same work.
    Refuse,
    /// Take it: the original is gone.
    Adopt,
}

/// How to open an embedded store.
#[derive(Debug, Clone)]
pub struct EmbeddedConfig {
    /// The store's directory.
    pub directory: PathBuf,
    /// Where there is no store. Default: make one.
    pub create: CreateStore,
    /// Where the files were copied while the store was open. Default: refuse.
    pub copies: CopiedStore,
    /// Bytes of one segment file of a store that is made now; a multiple of 4,096, from 512 KiB to 1 GiB. Default 32 MiB:
    /// prepared in about 0.1 s, read through at start in less. A store keeps the size it was made with.
    pub segment_bytes: u64,
    /// The most appends that are queued or being written; one more is refused as overloaded. Default 16,384.
    pub queue_appends_max: usize,
    /// The most bytes of frames that are queued or being written. Default 64 MiB.
    pub queue_bytes_max: usize,
    /// Free space of the file system that is left alone. Default 64 MiB.
    pub reserve_bytes: u64,
    /// What goes wrong on purpose. Default: nothing.
    #[cfg(feature = "fault-points")]
    pub faults: Vec<super::FaultPlan>,
}

impl EmbeddedConfig {
    /// The defaults, for a store in `directory`.
    #[must_use]
    pub fn at(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            create: CreateStore::IfMissing,
            copies: CopiedStore::Refuse,
            segment_bytes: 32 * 1_024 * 1_024,
            queue_appends_max: 16_384,
            queue_bytes_max: 64 * 1_024 * 1_024,
            reserve_bytes: 64 * 1_024 * 1_024,
            #[cfg(feature = "fault-points")]
            faults: Vec::new(),
        }
    }

    pub(super) fn check(&self) -> Result<(), StoreOpenError> {
        let sizes = 512 * 1_024..=1_024 * 1_024 * 1_024;
        let invalid = |why: &str| Err(StoreOpenError::InvalidConfig(why.to_owned()));
        if !sizes.contains(&self.segment_bytes) || !self.segment_bytes.is_multiple_of(4_096) {
            return invalid(
                "segment_bytes must be a multiple of 4,096 from 524,288 to 1,073,741,824",
            );
        }
        if self.queue_appends_max == 0 || self.queue_bytes_max < FRAME_BYTES_MAX {
            return invalid("the queue must hold at least one frame of the largest size");
        }
        Ok(())
    }
}

/// Why the store can go on no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreFatal {
    /// What failed.
    pub why: String,
}

impl StoreFatal {
    /// The exit code of a process whose store failed: 74, `EX_IOERR` of sysexits.h.
    pub const EXIT_CODE: u8 = 74;
}

/// Told once, from whatever thread noticed it, that the store can go on no more: end the process with
/// [`StoreFatal::EXIT_CODE`].
pub type FatalHook = Arc<dyn Fn(StoreFatal) + Send + Sync>;

/// Why a store was not opened. Nothing in it was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreOpenError {
    /// Another process, or another part of this one, has it open.
    #[error(
        "[store.locked] StoreLockedError: {directory:?} is open in process {pid}; stop it, or use its socket"
    )]
    Locked {
        /// The store.
        directory: PathBuf,
        /// Who has it open; 0 where the lock file does not say.
        pid: u32,
    },
    /// The directory, or the one above it, is not there.
    #[error("[store.missing-directory] {0:?} is not there; make it, or mount the volume it is on")]
    MissingDirectory(PathBuf),
    /// It is a file, or something else that is no directory.
    #[error("[store.not-a-directory] {0:?} is not a directory; name another place for the store")]
    NotADirectory(PathBuf),
    /// The directory is a symbolic link.
    #[error("[store.symlink] {0:?} is a symbolic link; name the directory it leads to")]
    Symlink(PathBuf),
    /// It belongs to another user.
    #[error(
        "[store.wrong-owner] {directory:?} belongs to user {owner}, this process is user {user}; run as its owner, or change it with chown"
    )]
    WrongOwner {
        /// The store.
        directory: PathBuf,
        /// Its owner.
        owner: u32,
        /// Who wanted it.
        user: u32,
    },
    /// It cannot be written to.
    #[error(
        "[store.read-only] {0:?} cannot be written to; mount it for writing, or change its mode"
    )]
    ReadOnly(PathBuf),
    /// No free space beyond the reserve.
    #[error("[store.full] StoreFull: {0}; free some space")]
    Full(String),
    /// It holds something that is no store of this product.
    #[error("[store.other-product] {0:?} holds files of something else; name an empty directory")]
    OtherProduct(PathBuf),
    /// It was written by a later release.
    #[error(
        "[store.newer-version] the store has version {major}.{minor}, this build reads {supported}; use a later release"
    )]
    NewerVersion {
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
        /// The highest major version this build reads.
        supported: u16,
    },
    /// Its files were copied while it was open.
    #[error(
        "[store.copied] {0:?} was copied while it was open; use the original, or, if that is gone for good, adopt the copy"
    )]
    Copied(PathBuf),
    /// What says what it is cannot be read, or its letters, keys and blobs cannot.
    #[error("[store.damaged] the store is damaged: {0}; restore it from a backup")]
    Damaged(String),
    /// The configuration is out of range.
    #[error("[store.invalid-config] {0}")]
    InvalidConfig(String),
    /// The system refused something else.
    #[error("[store.io] cannot {what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        error: std::io::Error,
    },
}

/// What an operator should know of a store that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreWarning {
    /// It is on a file system in memory: nothing outlives the machine.
    MemoryFileSystem,
    /// It is on a network file system, whose fsync and locks may not hold what they promise.
    NetworkFileSystem(&'static str),
    /// It was not closed: the process before ended without warning.
    NotClosed,
    /// A write was under way when the process or the machine ended; it was not acked and is dropped.
    TornTail {
        /// Where the log ends now.
        position: u64,
        /// Bytes that were dropped.
        bytes: u64,
    },
    /// The saved table of trees was missing or damaged and has been made anew from the log.
    TableRebuilt(String),
    /// Something that was written is not there any more.
    Damage {
        /// Where it begins in the log.
        from: u64,
        /// Where the log can be read again.
        to: u64,
        /// How many trees are quarantined because of it.
        trees: usize,
    },
}

impl std::fmt::Display for StoreWarning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::MemoryFileSystem => f.write_str(
                "the store is on a file system in memory: it does not outlive the machine",
            ),
            Self::NetworkFileSystem(kind) => write!(
                f,
                "the store is on {kind}: its fsync and its locks may not hold what they promise"
            ),
            Self::NotClosed => {
                f.write_str("the store was not closed: it was recovered from the log")
            }
            Self::TornTail { position, bytes } => write!(
                f,
                "{bytes} bytes of a write that was never acked were dropped at {position}"
            ),
            Self::TableRebuilt(why) => {
                write!(f, "the table of trees was made anew from the log: {why}")
            }
            Self::Damage { from, to, trees } => write!(
                f,
                "the log is damaged from {from} to {to}: {trees} trees are quarantined"
            ),
        }
    }
}

pub(super) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> StoreOpenError {
    let what = what.into();
    move |error| StoreOpenError::Io { what, error }
}
