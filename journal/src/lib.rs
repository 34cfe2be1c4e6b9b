//! How records are kept: the four store traits, the frame, the writer that never re-bases, and the backends.
//!
//! It knows no record's meaning: a frame's body is bytes to it.

mod blobs;
mod chain;
mod frame;
mod inbox;
mod keys;
mod seam;
mod summary_wire;
mod writer;

pub use blobs::{BlobError, Blobs};
pub use chain::{Chain, JournalCorruptError};
pub use frame::{FRAME_BYTES_MAX, Frame, FrameError, FrameHeader, SealedFrame};
pub use inbox::{Inbox, Letter, LetterId, LetterSeq, Ring, StoredLetter};
pub use keys::{Expect, KeyPut, Keys, StoredKey};
pub use seam::{
    AppendDone, AppendOutcome, FollowCursor, FollowPage, Journal, JournalError, StoredFrame, Tail,
    TailRead, TreeHead, UnknownReason,
};
pub use writer::{ReadBack, Writer};

/// One backend: the four traits of a store, so that they can be given out as one object.
pub trait Store: Journal + Inbox + Keys + Blobs {}
impl<T: Journal + Inbox + Keys + Blobs + ?Sized> Store for T {}
