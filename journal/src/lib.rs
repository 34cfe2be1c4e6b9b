//! How records are kept: the four store traits, the frame, the writer that never re-bases, and the backends.
//!
//! It knows no record's meaning: a frame's body is bytes to it.

mod blobs;
mod chain;
#[cfg(feature = "contract-tests")]
pub mod contract;
#[cfg(feature = "embedded")]
pub mod embedded;
#[cfg(feature = "contract-tests")]
pub mod faulty;
mod frame;
mod inbox;
mod keys;
mod memory;
mod reply;
mod seam;
mod summary_wire;
mod writer;

pub use blobs::{BLOB_BYTES_MAX, BlobError, Blobs};
pub use chain::{Chain, JournalCorruptError};
pub use frame::{FRAME_BYTES_MAX, Frame, FrameError, FrameHeader, SealedFrame};
pub use inbox::{Inbox, Letter, LetterId, LetterSeq, Ring, StoredLetter};
pub use keys::{Expect, KEY_BYTES_MAX, KEY_VALUE_BYTES_MAX, KeyPut, Keys, StoredKey};
pub use memory::MemoryStore;
pub use reply::append;
pub use seam::{
    AppendDone, AppendOutcome, FollowCursor, FollowPage, Journal, JournalError, StoredFrame, Tail,
    TailRead, TreeHead, UnknownReason,
};
pub use writer::{ReadBack, Writer};

/// One backend: the four traits of a store, so that they can be given out as one object.
pub trait Store: Journal + Inbox + Keys + Blobs {}
impl<T: Journal + Inbox + Keys + Blobs + ?Sized> Store for T {}

/// Locks what no holder can leave half-changed: a panic elsewhere must not stop the store.
pub(crate) fn unpoisoned<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
