//! What an execution actor and its tree tell each other.

use std::sync::Arc;

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{CallReport, DecisionReply, ModelReport};
use leasehold_execution::{Entry, Machine, Step};
use leasehold_journal::{LetterId, LetterSeq};
use leasehold_types::{FrameIndex, OwnershipGuard, Tenant, Timestamp, TreeSummary};
use ractor::{ActorId, ActorRef};

use crate::agent::Agent;
use crate::call::Decided;
use crate::deps::Deps;
use crate::tally::Tally;
use crate::tree::TreeMsg;

/// What an execution actor is told.
pub(crate) enum ExecutionMsg {
    /// Entries are durable up to this frame: carry out their steps.
    Durable {
        frame: FrameIndex,
        commits: usize,
        steps: Vec<Step>,
    },
    /// A model call ended.
    Model(ModelReport),
    /// A tool call ended.
    Call(CallReport),
    /// A question was sent, was decided by a rule, or failed.
    Sent {
        number: u32,
        attempt: u32,
        error: Option<String>,
        decided: Decided,
    },
    /// A letter for the execution.
    Letter(Arrived),
    /// Time has passed.
    Tick,
    /// Ask no model any more; release the tree once nothing runs.
    Drain,
    /// While it drains: the mailbox is read up to here, and this call's report with it.
    Read(Option<ActorId>),
    /// Release the tree now; what runs is cut off.
    Release,
    /// Kill one of the running calls' actors, as a defect would.
    Fault(usize),
}

/// A letter that arrived, decoded.
pub(crate) struct Arrived {
    pub(crate) seq: LetterSeq,
    pub(crate) id: LetterId,
    pub(crate) body: LetterBody,
}

/// What the tree is asked to journal together.
pub(crate) struct Commit {
    /// Records as they stand in a frame.
    pub(crate) body: Vec<u8>,
    /// Blobs that must be durable first.
    pub(crate) blobs: Vec<Vec<u8>>,
    /// The entries themselves, where an observer wants them.
    pub(crate) entries: Vec<Entry>,
    pub(crate) summary: TreeSummary,
    pub(crate) steps: Vec<Step>,
    /// Letters that are over once this is durable.
    pub(crate) settled: Vec<Settled>,
    pub(crate) then: Then,
    /// Whether something came of the epoch, this commit included.
    pub(crate) proven: bool,
}

/// A letter and what its sender is told.
#[derive(Debug, Clone)]
pub(crate) struct Settled {
    pub(crate) seq: LetterSeq,
    pub(crate) id: LetterId,
    pub(crate) reply: DecisionReply,
}

/// What the tree does after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// It goes on.
    Continue,
    /// It rests until a letter or this time.
    Rest(Option<Timestamp>),
    /// It is over.
    End,
    /// It waits for an operator.
    Block,
    /// It is given back with steps left.
    Release,
}

/// What an execution actor begins with.
pub(crate) struct Beginning {
    pub(crate) machine: Machine,
    pub(crate) agent: Arc<Agent>,
    pub(crate) tenant: Tenant,
    pub(crate) guard: OwnershipGuard,
    pub(crate) tree: ActorRef<TreeMsg>,
    pub(crate) deps: Arc<Deps>,
    pub(crate) tally: Arc<Tally>,
}
