//! Following changes of owner keys: a hint that comes early, never the truth.
//!
//! A feed may lose, and end, at any time: whoever needs to know lists as well.

use leasehold_types::{BoxFuture, Slot, TreeId};

use crate::{Owner, Revision, SessionId};

/// Which owner keys are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All.
    All,
    /// Those of one slot's trees.
    Slot(Slot),
    /// Those that hang on one session.
    Session(SessionId),
}

impl Scope {
    /// Whether the key of `tree`, hanging on `session`, is in scope.
    #[must_use]
    pub fn holds(self, tree: TreeId, session: Option<SessionId>) -> bool {
        match self {
            Self::All => true,
            Self::Slot(slot) => Slot::of(tree) == slot,
            Self::Session(wanted) => session == Some(wanted),
        }
    }
}

/// One change of an owner key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A tree was claimed.
    Claimed {
        /// The tree.
        tree: TreeId,
        /// Its new owner.
        owner: Owner,
        /// When.
        at: Revision,
    },
    /// A tree's key is gone: released, revoked or expired.
    Freed {
        /// The tree.
        tree: TreeId,
        /// When.
        at: Revision,
    },
    /// Changes were lost here: the reader was slow, or the store forgot. List again.
    Missed,
}

/// A feed of changes, in the store's order, from the moment [`crate::LeaseStore::watch`] answered.
pub trait ChangeFeed: Send + std::fmt::Debug {
    /// The next change; `None` when the feed has ended and must be opened anew, with a list beside it.
    ///
    /// Dropping the future loses no change.
    fn next(&mut self) -> BoxFuture<'_, Option<Change>>;
}
