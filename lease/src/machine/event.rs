//! What the lease machine is told, and what it tells its shell to do.

use std::collections::BTreeMap;
use std::time::Duration;

use leasehold_types::{LeaseLostReason, TreeId, Uptime};

use crate::{Renewal, Revision};

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The time of [`super::LeaseMachine::next_deadline`] has come.
    Tick,
    /// An attempt to renew was answered, in time or late, in whatever order.
    Renewal {
        /// The number from [`Action::Renew`].
        attempt: u64,
        /// The answer.
        outcome: Renewal,
    },
    /// A claim was answered with [`crate::ClaimOutcome::SessionGone`].
    SessionGone,
    /// Somebody wants this session to own a tree.
    Wanted {
        /// The tree.
        tree: TreeId,
    },
    /// A claim is decided, or given up: a claim with an unknown outcome is repeated before this is said.
    ClaimEnded {
        /// The tree.
        tree: TreeId,
        /// The create revision of the key, if it was won.
        won: Option<Revision>,
    },
    /// The tree rests or has ended, or is handed over: nothing moves it here any more.
    Released {
        /// The tree.
        tree: TreeId,
    },
    /// The journal refused a write under a newer epoch.
    Fenced {
        /// The tree.
        tree: TreeId,
    },
    /// A feed or a read showed the tree's key.
    Seen {
        /// The tree.
        tree: TreeId,
        /// The store's revision then.
        at: Revision,
        /// The key's create revision; none if it was gone.
        revision: Option<Revision>,
    },
    /// The store listed the session's keys.
    Swept {
        /// The store's revision then.
        at: Revision,
        /// Each key's create revision.
        owned: BTreeMap<TreeId, Revision>,
    },
    /// The instance is done: all trees were handed over, or it stops without waiting for them.
    Close,
}

/// What the shell does next, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Abort the tree's signal with `ExecutionLeaseLostError`, kill its children, drop its memory.
    Lose {
        /// The tree.
        tree: TreeId,
        /// Why.
        reason: LeaseLostReason,
    },
    /// The session is over. Open another one for new work.
    SessionOver {
        /// Why.
        reason: LeaseLostReason,
    },
    /// Grant no permit for any tree of the session until [`Action::Extend`]. A shell that cannot hold must lose instead.
    Hold,
    /// Permits are granted until `deadline`, exclusive.
    Extend {
        /// The new deadline.
        deadline: Uptime,
    },
    /// Renew the session, and answer with [`Event::Renewal`].
    Renew {
        /// The number to answer with.
        attempt: u64,
        /// Which endpoint to ask.
        endpoint: u32,
        /// How long to wait.
        timeout: Duration,
    },
    /// List the session's keys, and answer with [`Event::Swept`]; without an answer the next sweep is in its turn.
    Sweep,
    /// Claim the tree under a new token, and answer with [`Event::ClaimEnded`].
    Claim {
        /// The tree.
        tree: TreeId,
    },
    /// The tree is not claimed here.
    RefuseClaim {
        /// The tree.
        tree: TreeId,
        /// Why.
        why: ClaimRefusal,
    },
    /// Delete the tree's key, compared by its create revision.
    Release {
        /// The tree.
        tree: TreeId,
        /// The key's create revision.
        create_revision: Revision,
    },
    /// Revoke the session, once: nothing depends on it, others need not wait for the TTL.
    Revoke,
}

/// Until when a session's trees may be moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// As long as the process lives: the store cannot take them away.
    Never,
    /// Until then, exclusive.
    At(Uptime),
}

impl Deadline {
    /// As an ownership guard takes it: none for never.
    #[must_use]
    pub const fn for_guard(self) -> Option<Uptime> {
        match self {
            Self::Never => None,
            Self::At(deadline) => Some(deadline),
        }
    }
}

/// Why a session does not claim a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimRefusal {
    /// The session is over.
    SessionOver,
    /// The session holds its most keys: use another.
    Full,
    /// The gate is closed after a gap: ask again after the next renewal.
    Held,
    /// The tree is owned, or being claimed, on this session.
    Already,
}
