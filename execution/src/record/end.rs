//! Where an execution stands when it rests, and how it ends.

use leasehold_types::{Digest, Money, Owner, Timestamp, TokenUsage};
use serde::{Deserialize, Serialize};

use super::AnswererWire;

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
