//! The `Journal` trait: append by compare-and-set, read, list. Its docs are the contract; `contract.rs` tests it.

use leasehold_types::{BoxFuture, Epoch, FrameId, FrameIndex, TreeId};

use crate::{FrameError, FrameHeader, JournalCorruptError, SealedFrame};

/// Where a tree's journal ends, as the backend saw it. Only a backend makes one; nobody else reads `position`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    tree: TreeId,
    position: u64,
}

impl Tail {
    /// For backends: the tail of `tree` at the backend's own `position`; 0 where the tree has no frame.
    #[must_use]
    pub const fn at(tree: TreeId, position: u64) -> Self {
        Self { tree, position }
    }

    /// The tree.
    #[must_use]
    pub const fn tree(&self) -> TreeId {
        self.tree
    }

    /// For backends: the position given to [`Tail::at`].
    #[must_use]
    pub const fn position(&self) -> u64 {
        self.position
    }
}

/// One frame as it stands in the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFrame {
    /// Header and body as written.
    pub bytes: Vec<u8>,
}

impl StoredFrame {
    /// What it says of its tree.
    pub(crate) fn head(&self) -> Result<TreeHead, JournalError> {
        let (header, _) = FrameHeader::read(&self.bytes)?;
        Ok(TreeHead { header })
    }
}

/// What a read of a tree's tail found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TailRead {
    /// What the next append must expect.
    pub tail: Tail,
    /// The last frame; `None` where the tree has none.
    pub last: Option<StoredFrame>,
}

/// What became of an append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppendOutcome {
    /// It is durable; this is the tail after it.
    Acked(Tail),
    /// The tail was not the expected one. The frame may still be there: an earlier attempt of ours. Read back.
    Refused,
    /// Nobody knows: it may be there, or come later. Read back.
    Unknown(UnknownReason),
    /// It is not there and never will be.
    Failed(JournalError),
}

/// Why an append's outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnknownReason {
    /// No answer within the attempt's time.
    TimedOut,
    /// The connection or the store ended under it.
    Disconnected,
    /// An earlier append to the tree is still undecided: wait 1 to 5 ms, then send the same frame again.
    Undecided,
}

/// Why the store cannot do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// No space left. What was asked did not happen; it works again once there is space.
    #[error("[journal.store-full] StoreFull: the store has no space left: {0}")]
    StoreFull(String),
    /// More is in flight than the store's queue holds.
    #[error("[journal.overloaded] the store's queue is full: {in_flight} appends are in flight")]
    Overloaded {
        /// Appends in flight.
        in_flight: usize,
    },
    /// An fsync failed: nothing is accepted any more, the process must end and recover from disk.
    #[error(
        "[journal.poisoned] the store stopped after a failed fsync: {0}; end the process, it recovers from disk"
    )]
    Poisoned(String),
    /// The store is closed.
    #[error("[journal.closed] the store is closed")]
    Closed,
    /// The store does not answer now.
    #[error("[journal.unavailable] JournalUnavailable: {0}")]
    Unavailable(String),
    /// Larger than may be stored; nothing was.
    #[error("[journal.too-large] a {what} of {bytes} bytes is over the limit of {max}")]
    TooLarge {
        /// What was to be stored.
        what: &'static str,
        /// Its size.
        bytes: usize,
        /// The most bytes there may be.
        max: usize,
    },
    /// Letters, keys or blobs cannot be read from the disk any more.
    #[error(
        "[journal.damaged] the store's letters, keys and blobs are damaged: {0}; restore them from a backup"
    )]
    Damaged(String),
    /// The frame cannot be written at all.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// What is stored is not what was written.
    #[error(transparent)]
    Corrupt(#[from] JournalCorruptError),
}

impl JournalError {
    /// Refuses what has more than `max` bytes.
    pub(crate) const fn within(what: &'static str, bytes: usize, max: usize) -> Result<(), Self> {
        if bytes > max {
            return Err(Self::TooLarge { what, bytes, max });
        }
        Ok(())
    }
}

/// Told once what became of an append, from any thread. It must not block.
pub type AppendDone = Box<dyn FnOnce(AppendOutcome) + Send>;

/// The last header of one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeHead {
    /// The tree's last header.
    pub header: FrameHeader,
}

/// Where a follower of all trees stands. Only a backend makes one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FollowCursor(pub u64);

/// What came after a cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowPage {
    /// Headers in the order of appending; of one tree possibly only the last.
    pub heads: Vec<TreeHead>,
    /// Where to go on.
    pub next: FollowCursor,
}

/// One append-only sequence of frames per tree, extended by compare-and-set.
///
/// It assumes nothing about how trees lie in the store.
pub trait Journal: Send + Sync + std::fmt::Debug {
    /// Appends `frame` if `expected` is the tree's tail, and tells `done` once.
    ///
    /// - On [`AppendOutcome::Acked`] the frame survives the end of every process, and every read that begins later sees it.
    /// - At most one append ever succeeds on one tail. Frames of one tree are acked in order.
    /// - Dropping the caller changes nothing: the append goes on.
    /// - The store checks neither epoch nor chain: that is the claim's compare-and-set and the reader's work.
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone);

    /// Reads the tree's tail. Never older than any append acked before the call.
    fn tail(&self, tree: TreeId) -> BoxFuture<'_, Result<TailRead, JournalError>>;

    /// Reads frames from index `from` on, in order, without gaps, up to about `bytes_max` bytes but at least one frame;
    /// empty at the end. A reader that must see a certain frame goes on until it has seen it.
    fn read(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> BoxFuture<'_, Result<Vec<StoredFrame>, JournalError>>;

    /// The last headers of up to `limit` trees after `after`, in the order of their ids.
    fn scan(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TreeHead>, JournalError>>;

    /// Waits until something was appended after `cursor`, then tells of it.
    ///
    /// - The default cursor answers at once, with no heads and the cursor of now. Who wants all trees and then every change
    ///   asks for it first, scans second and follows third: nothing falls between.
    /// - May be dropped and called again with the same cursor. A cursor is good for this start of the store only.
    fn follow(&self, cursor: FollowCursor) -> BoxFuture<'_, Result<FollowPage, JournalError>>;
}

impl TailRead {
    /// The last frame's header, if there is a frame.
    ///
    /// # Errors
    /// The stored bytes are no frame.
    pub fn header(&self) -> Result<Option<FrameHeader>, FrameError> {
        let header = |frame: &StoredFrame| FrameHeader::read(&frame.bytes).map(|read| read.0);
        self.last.as_ref().map(header).transpose()
    }

    /// The last frame's epoch and id, if there is a frame.
    ///
    /// # Errors
    /// The stored bytes are no frame.
    pub fn last_written(&self) -> Result<Option<(Epoch, FrameId)>, FrameError> {
        Ok(self.header()?.map(|header| (header.epoch, header.id)))
    }
}
