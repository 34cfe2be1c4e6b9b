//! Records about tool calls: the intent, the result, and what came of a call that was given up.

use leasehold_types::{CallId, Digest, SpendEntry, Timestamp};
use serde::{Deserialize, Serialize};

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
    /// What became of the attempt before it, where that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_kind: Option<FinishKind>,
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

    /// Whether a call that ran may have used more than it told: then the rest of its reservation is possible spend.
    #[must_use]
    pub const fn leaves_doubt(self) -> bool {
        match self {
            Self::TimedOut | Self::Panicked | Self::Cancelled | Self::Stopped | Self::Uncertain => {
                true
            }
            Self::Ok
            | Self::Error
            | Self::InvalidInput
            | Self::InvalidOutput
            | Self::UnknownTool
            | Self::LimitReached
            | Self::BudgetExceeded
            | Self::Rejected
            | Self::Expired
            | Self::Undeliverable
            | Self::PolicyDenied => false,
        }
    }
}

/// A call has its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The call.
    pub call_id: CallId,
    /// The attempt that ended; 0 where none did: nothing ran, or nobody knows how the last one ended.
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
    /// What it told that it used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spend: Vec<SpendEntry>,
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
