//! What a node actor is told, and how trees end.

use std::sync::Arc;

use leasehold_execution::machine::DecisionReply;
use leasehold_execution::record::ClaimCause;
use leasehold_journal::LetterId;
use leasehold_types::{Epoch, LeaseLostReason, Timestamp, TreeId};
use ractor::{ActorId, RpcReplyPort};
use tokio::sync::oneshot;

use crate::handle::NodeStats;
use crate::tree::Fault;

/// How a tree's actors came to an end without failing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closed {
    /// The execution is over.
    Ended,
    /// It rests until a letter or this time.
    Resting {
        /// When its first timer ends.
        due: Option<Timestamp>,
    },
    /// It was released while steps are left.
    Released,
    /// It waits for an operator.
    Blocked,
    /// A higher epoch is in its journal.
    Fenced {
        /// That epoch.
        by: Epoch,
    },
    /// Another instance holds it.
    HeldElsewhere,
    /// The store does not serve it now; it is tried again.
    Unavailable {
        /// What it said.
        why: String,
    },
    /// Its journal is not what was written; it is left alone.
    Corrupt {
        /// What is wrong.
        why: String,
    },
    /// This instance cannot run it; it is left untouched.
    WaitingForVersion {
        /// What it would take.
        why: String,
    },
    /// There is no such tree.
    Missing,
    /// It has killed its workers and must run without another suspect beside it.
    Suspect,
}

/// Told whenever a tree's actors have ended.
pub(crate) type OnClosed = Arc<dyn Fn(TreeId, &Closed) + Send + Sync>;

/// What a closed tree's inbox holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing that is this instance's business.
    Nothing,
    /// Letters: look at the tree again.
    Letters,
    /// Letters that the store does not give or take now: look again later.
    Later,
}

/// What a node actor is told.
pub(crate) enum NodeMsg {
    /// Look whether this tree has something to do.
    Wake { tree: TreeId, cause: ClaimCause },
    /// A tree that could not be served is tried again.
    Retry { tree: TreeId },
    /// A letter has arrived for this tree.
    Bell { tree: TreeId },
    /// A tree's actors have ended.
    Closed {
        tree: TreeId,
        actor: ActorId,
        how: Closed,
        left: Left,
        /// The bells it heard.
        bells: u64,
    },
    /// Something came of a tree's epoch.
    Proven { actor: ActorId },
    /// A suspect has waited long enough.
    Trial,
    /// A letter is over.
    Settled { id: LetterId, reply: DecisionReply },
    /// Somebody waits for a letter's outcome.
    Await {
        id: LetterId,
        sender: oneshot::Sender<DecisionReply>,
    },
    /// How it stands.
    Stats(RpcReplyPort<NodeStats>),
    /// The lease of one tree, or of all, is lost.
    Lose {
        tree: Option<TreeId>,
        reason: LeaseLostReason,
    },
    /// Take no new work, let what runs end, release the trees; then answer.
    Drain(RpcReplyPort<()>),
    /// Release the trees now; then answer.
    Release(RpcReplyPort<()>),
    /// Told when a tree rests or is over, for whoever keeps timers.
    OnClosed(OnClosed),
    /// Kill an actor of a tree, as a defect would.
    Fault { tree: TreeId, fault: Fault },
}
