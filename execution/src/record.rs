//! The record kinds: what a journal can say of an execution. The truth, as it is stored.
//!
//! Each kind has a version of its own in `wire.rs`; a field is only ever added, with a default, or the version rises.
//! Records hold no clock and no chance of their own: the time stands in the entry, ids were made before.
//!
//! - REC-1: what a later reader needs to decide stands in the record: no record means something else under another configuration.

use leasehold_types::{
    Answerer, BootId, CallId, Digest, Effect, Epoch, ExecutionId, InstanceId, Money, Owner,
    PauseId, Principal, SpendEntry, ThreadId, Timestamp, TokenUsage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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

/// Somebody started the execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The workflow, or the agent where it was started by itself.
    pub workflow: String,
    /// The agent that runs.
    pub agent: String,
    /// What it was asked.
    pub input: String,
    /// The hash of all that the model reads; the execution resumes under no other.
    pub config_hash: Digest,
    /// Whose it is.
    pub owner: Owner,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The execution of the same thread whose history it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<ExecutionId>,
    /// Who started it.
    pub started_by: Principal,
    /// The most money the tree may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Money>,
    /// The caller's key for this start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The execution that started it, for a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The W3C trace context of the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// Who started a child execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The parent's number in the tree.
    pub execution: u32,
    /// The step of the parent that started it.
    pub place: Place,
}

/// Why an instance took a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimCause {
    /// It was just started.
    Start,
    /// A letter or a timer woke it.
    Wake,
    /// Its owner is gone.
    Takeover,
    /// An actor of it failed and is started again.
    Restart,
}

/// An instance took the tree, under a new epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// The epoch; the frame's own.
    pub epoch: Epoch,
    /// The instance.
    pub instance: InstanceId,
    /// Its start.
    pub boot: BootId,
    /// Why.
    pub cause: ClaimCause,
    /// The lease key's create revision, where a lease store gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_revision: Option<u64>,
    /// Whether the instance ran no other suspect beside it: only then does a death count for quarantine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

/// A model call may be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelIntended {
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The turn, from 1.
    pub turn: u32,
    /// The attempt of this turn, from 1.
    pub attempt: u32,
    /// The model asked.
    pub model: String,
    /// The most it may cost; booked as possible spend if nobody learns what it did.
    #[serde(default)]
    pub reserved: Money,
    /// Whether this is the last turn, without tools.
    #[serde(default)]
    pub tools_off: bool,
}

/// The model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelAnswered {
    /// The turn.
    pub turn: u32,
    /// The attempt.
    pub attempt: u32,
    /// What it said.
    #[serde(default)]
    pub text: String,
    /// The calls it asks for, in its order.
    #[serde(default)]
    pub calls: Vec<AnsweredCall>,
    /// Why it stopped, in the provider's word.
    pub stop: String,
    /// What it cost.
    pub spend: SpendEntry,
    /// What the provider wants back with the answer, opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub echo: Option<String>,
    /// What the model is told because the answer cannot be used as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
}

/// One call the model asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnsweredCall {
    /// Our id for it, unique in the execution.
    pub call_id: CallId,
    /// The provider's id, for the echo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The tool, as the model wrote it.
    pub tool: String,
    /// The arguments: canonical where they are valid, else as the model wrote them.
    pub arguments: String,
    /// What is done with it.
    pub plan: CallPlan,
    /// What the call was checked against; absent where it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<CallBinding>,
}

/// What a call was checked against: nothing else is ever run under its id.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallBinding {
    /// The hash of the tool's definition.
    pub definition: Digest,
    /// The hash of the canonical arguments.
    pub arguments: Digest,
    /// The tool's effect class at that time.
    pub effect: Effect,
    /// What is reserved for the call.
    #[serde(default)]
    pub reserved: Money,
}

/// What is done with a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPlan {
    /// It runs at once; this is its intent.
    Run,
    /// It waits for others of its turn; this is its intent, unless it is a `write`.
    Queue,
    /// It waits for a decision; a pause follows in the same frame.
    Ask,
    /// It does not run; this is its result.
    Refuse {
        /// Why, in a word.
        kind: FinishKind,
        /// What the model reads.
        message: String,
    },
}

/// Why a model call failed and when it is tried again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// The turn.
    pub turn: u32,
    /// The attempt that failed.
    pub attempt: u32,
    /// What happened, without payload.
    pub error: String,
    /// Whether the provider may have billed it: then what was reserved is booked as possible spend.
    pub may_be_billed: bool,
    /// When it is tried again; absent: it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<Timestamp>,
}

/// Why a call is intended by a record of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentCause {
    /// A `write` call whose turn has come.
    Dequeued,
    /// Somebody approved it.
    Approved,
    /// It failed in a way that may be tried again.
    Retry,
    /// It was cut off and may run again.
    Recovered,
}

/// A call may be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallIntended {
    /// The call.
    pub call_id: CallId,
    /// The attempt, from 1.
    pub attempt: u32,
    /// Why.
    pub cause: IntentCause,
    /// Not before this time, where the attempt before it failed and the next one waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<Timestamp>,
    /// What the attempt before it said, where that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_error: Option<String>,
    /// What the attempt before it used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spend: Vec<SpendEntry>,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FinishKind {
    /// The tool gave a result.
    Ok,
    /// The tool gave an error.
    Error,
    /// Its timer ran out.
    TimedOut,
    /// It panicked, or its actor died.
    Panicked,
    /// Its arguments were refused; nothing ran.
    InvalidInput,
    /// Its output broke its own schema.
    InvalidOutput,
    /// The agent has no such tool; nothing ran.
    UnknownTool,
    /// A limit was reached; nothing ran.
    LimitReached,
    /// The budget does not cover it; nothing ran.
    BudgetExceeded,
    /// Somebody said no; nothing ran.
    Rejected,
    /// Nobody answered in time; nothing ran.
    Expired,
    /// The execution was cancelled.
    Cancelled,
    /// The question reached nobody; nothing ran.
    Undeliverable,
    /// A rule said no; nothing ran.
    PolicyDenied,
    /// It was stopped because the execution ended.
    Stopped,
    /// Nobody knows what it did.
    Uncertain,
}

impl FinishKind {
    /// Whether the model reads it as a result and not as an error.
    #[must_use]
    pub const fn is_ok(self) -> bool {
        matches!(self, Self::Ok)
    }
}

/// A call has its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The call.
    pub call_id: CallId,
    /// The attempt; 0 where nothing ran.
    pub attempt: u32,
    /// What became of it.
    pub kind: FinishKind,
    /// What the model reads, cut to the tool's bound.
    pub text: String,
    /// The bytes of the whole text, where it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_bytes: Option<u64>,
    /// The blob with the whole text, where it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole: Option<Digest>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spend: Vec<SpendEntry>,
    /// Whether it ends the execution as failed (`throw_on_error`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fatal: bool,
}

/// A call was cut off and its class does not say what may be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallUncertain {
    /// The call.
    pub call_id: CallId,
    /// Why nobody knows.
    pub why: String,
}

/// What a pause is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "about")]
pub enum PauseSubject {
    /// Whether a call may run.
    Approval {
        /// The call.
        call_id: CallId,
        /// The role that may approve.
        role: String,
    },
    /// What to do about a call of unknown outcome.
    Uncertain {
        /// The call.
        call_id: CallId,
    },
    /// What the person says next, where the agent's answer is not the end.
    Input,
}

/// The execution waits for a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PauseOpened {
    /// Its number in the execution, from 1; the public reference.
    pub number: u32,
    /// Its secret, made before the first send.
    pub pause_id: PauseId,
    /// What it is about.
    #[serde(flatten)]
    pub subject: PauseSubject,
    /// Who may answer.
    pub answerer: AnswererWire,
    /// What a decision is bound to: tool definition, canonical arguments, configuration.
    pub digest: Digest,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// Who may answer, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswererWire {
    /// The owner of the execution's thread.
    ThreadOwner,
    /// Any authenticated principal that the channel or a door vouches for.
    Channel,
}

impl From<AnswererWire> for Answerer {
    fn from(wire: AnswererWire) -> Self {
        match wire {
            AnswererWire::ThreadOwner => Self::ThreadOwner,
            AnswererWire::Channel => Self::Channel,
        }
    }
}

impl From<Answerer> for AnswererWire {
    fn from(answerer: Answerer) -> Self {
        match answerer {
            Answerer::ThreadOwner => Self::ThreadOwner,
            Answerer::Channel => Self::Channel,
        }
    }
}

/// What became of a send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SendOutcome {
    /// The question is with whoever answers.
    Sent,
    /// It failed and is tried again.
    Failed {
        /// What happened.
        error: String,
    },
    /// It failed for the last time; the pause stays answerable through every other door.
    Undeliverable {
        /// What happened last.
        error: String,
    },
}

/// The question went out, or could not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseSent {
    /// The pause.
    pub number: u32,
    /// The attempt, from 1.
    pub attempt: u32,
    /// What became of it.
    pub outcome: SendOutcome,
}

/// How a pause ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "resolution")]
pub enum Resolution {
    /// The call may run.
    Approved {
        /// The arguments it runs with, canonical, where they were changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        override_arguments: Option<String>,
        /// Their hash.
        arguments_digest: Digest,
    },
    /// The call may not run.
    Rejected {
        /// What the model reads.
        reason: String,
    },
    /// The typed answer to a question.
    Answered {
        /// The answer.
        answer: Value,
    },
    /// Nobody answered in time.
    Expired,
    /// The execution ended first.
    Cancelled,
}

/// The pause has its decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PauseResolved {
    /// The pause.
    pub number: u32,
    /// How it ended.
    #[serde(flatten)]
    pub resolution: Resolution,
    /// Who decided, as authentication established it; absent where nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<Principal>,
    /// The letter that brought it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub letter: Option<String>,
}

/// Somebody cancelled the execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequested {
    /// Who.
    pub by: Principal,
    /// Why, in the canceller's words.
    #[serde(default)]
    pub reason: String,
}

/// Somebody continued the execution with a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageReceived {
    /// The pause it answers.
    pub number: u32,
    /// What was said.
    pub text: String,
    /// Who said it.
    pub by: Principal,
}

/// What a call did or cost after it was given up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LateOutcome {
    /// The call; absent for a model call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// The turn.
    pub turn: u32,
    /// What became of it.
    pub kind: FinishKind,
    /// What it used.
    #[serde(default)]
    pub spend: Vec<SpendEntry>,
}

/// An open pause in a checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenPause {
    /// Its number.
    pub number: u32,
    /// The hash of its secret.
    pub secret: Digest,
    /// The role asked; `uncertain` and `input` where there is none.
    pub role: String,
    /// Who may answer.
    pub answerer: AnswererWire,
    /// What a decision is bound to.
    pub digest: Digest,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// Where the execution stands, without its history: a look at the tail is enough to judge a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The turn.
    pub turn: u32,
    /// Model calls so far.
    pub model_calls: u32,
    /// Tool calls so far.
    pub tool_calls: u32,
    /// Spend that is certain.
    pub settled: Money,
    /// Spend that may have happened.
    pub possible: Money,
    /// Tokens so far.
    pub tokens: TokenUsage,
    /// The pauses that are open.
    pub pauses: Vec<OpenPause>,
    /// Who owns it; may answer where the thread's owner may.
    pub owner: Owner,
    /// When it next has something to do by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due: Option<Timestamp>,
}

/// The lease is given back while steps are left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// Why.
    pub reason: String,
}

/// The tree is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// What it did.
    pub cause: String,
    /// How often in a row.
    pub deaths: u32,
}

/// An operator lets the tree go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retried {
    /// Who.
    pub by: Principal,
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// With an answer.
    Completed {
        /// The answer.
        answer: String,
    },
    /// With an error.
    Failed {
        /// The error, with its code.
        error: String,
    },
    /// Somebody cancelled it.
    Cancelled {
        /// Who.
        by: String,
        /// Why.
        reason: String,
    },
    /// A limit was reached.
    LimitExceeded {
        /// The error, with its code.
        error: String,
        /// What the model said in its last turn, where it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<String>,
    },
    /// A budget is exhausted.
    BudgetExceeded {
        /// The error, with its code.
        error: String,
    },
}

impl Outcome {
    /// The outcome's word, as lists show it.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
            Self::LimitExceeded { .. } => "limit-exceeded",
            Self::BudgetExceeded { .. } => "budget-exceeded",
        }
    }
}

/// The execution is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Spend that is certain.
    pub settled: Money,
    /// Spend that may have happened.
    pub possible: Money,
    /// Tokens.
    #[serde(default)]
    pub tokens: TokenUsage,
}
