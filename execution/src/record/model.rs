//! Records about model calls: the intent, the answer with what is done with each of its calls, the failure.

use leasehold_types::{CallId, Digest, Effect, Money, SpendEntry, Timestamp};
use serde::{Deserialize, Serialize};

use super::{FinishKind, Place};

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
