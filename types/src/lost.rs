//! Losing a lease: the one error that ends an instance's part in an execution.

use serde::{Deserialize, Serialize};

use crate::{Epoch, TreeId};

/// Why an instance lost the right to move a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseLostReason {
    /// Another instance holds the tree's key.
    Taken,
    /// The lease store did not confirm a renewal before the deadline.
    StoreSilent,
    /// The journal holds a higher epoch: a write was refused.
    Fenced,
    /// The holder gave the tree back: it rests, it ended, or the instance drains.
    Released,
}

impl LeaseLostReason {
    /// The reason's words, as they stand in the error.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Taken => "another instance has taken it",
            Self::StoreSilent => "the lease store was silent until the lease ran out",
            Self::Fenced => "a write was refused under a newer epoch",
            Self::Released => "it was released",
        }
    }
}

/// The execution's lease is lost: nothing more is started for it here, and what is under way is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("[lease.lost] ExecutionLeaseLostError: tree {tree}, epoch {epoch}: {}", reason.words())]
pub struct ExecutionLeaseLostError {
    /// Why.
    pub reason: LeaseLostReason,
    /// The tree.
    pub tree: TreeId,
    /// The epoch that is over.
    pub epoch: Epoch,
}
