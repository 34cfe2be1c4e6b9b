//! Records about pauses: the question, its way to whoever answers, the decision.

use leasehold_types::{Answerer, CallId, Digest, PauseId, Principal, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
