//! The `Inbox` trait: letters, by which others reach a tree that only its owner may write to.

use std::sync::Arc;

use leasehold_types::{BoxFuture, TreeId};

use crate::JournalError;

/// Names one letter, made by its sender: the same letter put twice is stored once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LetterId(pub u128);

/// A letter's place in its tree's inbox; rises, may have gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LetterSeq(pub u64);

/// What somebody asks of a tree: a decision, a cancel, a message. The body is opaque here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Its sender's name for it.
    pub id: LetterId,
    /// The tree it is for.
    pub tree: TreeId,
    /// What it says; at most 64 KiB.
    pub body: Vec<u8>,
}

impl Letter {
    /// The most bytes of a letter's body.
    pub const BYTES_MAX: usize = 64 * 1_024;

    /// For backends: whether it can be stored at all.
    ///
    /// # Errors
    /// [`JournalError::TooLarge`].
    pub fn check(&self) -> Result<(), JournalError> {
        JournalError::within("letter", self.body.len(), Self::BYTES_MAX)
    }
}

/// A letter in the inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLetter {
    /// Its place.
    pub seq: LetterSeq,
    /// The letter.
    pub letter: Letter,
}

/// Told that a tree has a letter. At least once for each, possibly more often, from any thread. It must not block.
pub type Ring = Arc<dyn Fn(TreeId) + Send + Sync>;

/// Letters, durable until their tree's owner has settled them.
pub trait Inbox: Send + Sync + std::fmt::Debug {
    /// Stores a letter. Durable before it returns `Ok`; the same id again gives the same place and stores nothing, also after it was settled.
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>>;

    /// The tree's unsettled letters after `after`, in order.
    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>>;

    /// Ends a letter: its owner has journaled it, or refused it for good. Settling twice does nothing.
    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>>;

    /// Has `ring` told of each letter stored from now on, and once of each tree that has unsettled ones already.
    /// One listener; a later one takes its place.
    fn listen(&self, ring: Ring);
}
