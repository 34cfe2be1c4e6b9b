//! The record kinds: what a journal can say of an execution. The truth, as it is stored.
//!
//! Each kind has a version of its own in `wire.rs`; a field is only ever added, with a default, or the version rises.
//! A new word of an enum changes what a reader must do: it raises the version too.
//! Records hold no clock and no chance of their own: the time stands in the entry, ids were made before.
//!
//! - REC-1: what a later reader needs to decide stands in the record: no record means something else under another configuration.

mod call;
mod end;
mod life;
mod model;
mod pause;

use leasehold_types::Timestamp;
use serde::{Deserialize, Serialize};

pub use call::{CallFinished, CallIntended, CallUncertain, FinishKind, IntentCause, LateOutcome};
pub use end::{Checkpoint, Ended, OpenPause, Outcome};
pub use life::{
    CancelRequested, ClaimCause, Claimed, Parent, Quarantined, Released, Retried, Started,
};
pub use model::{AnsweredCall, CallBinding, CallPlan, ModelAnswered, ModelFailed, ModelIntended};
pub use pause::{
    AnswererWire, MessageReceived, PauseOpened, PauseResolved, PauseSent, PauseSubject, Resolution,
    SendOutcome,
};

/// One record with whose it is and when it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The execution's number in the tree; 0 is the root.
    pub execution: u32,
    /// When it was made, on its writer's wall clock. For people; order is by position.
    pub at: Timestamp,
    /// What happened.
    pub record: Record,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// Somebody started the execution.
    Started(Box<Started>),
    /// An instance took the tree, under a new epoch.
    Claimed(Claimed),
    /// A model call may be made, and this much is reserved for it.
    ModelIntended(ModelIntended),
    /// The model answered.
    ModelAnswered(Box<ModelAnswered>),
    /// A model call failed.
    ModelFailed(ModelFailed),
    /// A call may be made that no earlier record allowed: approved, repeated, or a `write` that had to wait.
    CallIntended(CallIntended),
    /// A call has its result.
    CallFinished(Box<CallFinished>),
    /// A call was cut off and nobody knows what it did; a person decides.
    CallUncertain(CallUncertain),
    /// The execution waits for a decision.
    PauseOpened(Box<PauseOpened>),
    /// The question went out, or could not.
    PauseSent(PauseSent),
    /// The pause has its decision.
    PauseResolved(Box<PauseResolved>),
    /// Somebody cancelled the execution.
    CancelRequested(CancelRequested),
    /// Somebody continued the execution with a message.
    MessageReceived(MessageReceived),
    /// What a call did or cost after it was given up; never shown to a model.
    LateOutcome(LateOutcome),
    /// Nothing is left to do before somebody answers or a timer ends; the lease is given back.
    Rested(Box<Checkpoint>),
    /// The lease is given back while steps are left.
    Released(Released),
    /// The tree has killed its workers too often and is stopped.
    Quarantined(Quarantined),
    /// An operator lets a quarantined tree go on.
    Retried(Retried),
    /// The execution is over.
    Ended(Box<Ended>),
}

/// Where in a workflow a step stands; part of every key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The node.
    pub node: String,
    /// How often the node has been visited, from 1.
    pub visit: u32,
    /// The item of a fan-out, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<u32>,
}
