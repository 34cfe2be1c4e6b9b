//! The plan of one agent: all that the machine must know of the configuration, settled at assembly.
//!
//! It holds no model and no tool, only what deciding needs of them: names, classes, prices, limits, and how arguments are reviewed.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_models::Price;
use leasehold_types::{Answerer, Digest, Effect, Money};

/// What the machine must know of an agent.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The workflow, or the agent where it runs by itself.
    pub workflow: String,
    /// The agent; its node's name too.
    pub agent: String,
    /// The hash of all that the model reads.
    pub config_hash: Digest,
    /// The model's name.
    pub model: String,
    /// What its tokens cost, where that is known.
    pub price: Option<Price>,
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// Bytes of what each request repeats: instructions and tool definitions.
    pub fixed_bytes: u64,
    /// The agent's tools by name.
    pub tools: BTreeMap<String, PlannedTool>,
    /// The agent's limits.
    pub limits: Limits,
    /// The most money a tree may use, where the application sets it.
    pub budget: Option<Money>,
    /// What an answer without calls means.
    pub after_answer: AfterAnswer,
    /// How long an approval stays open; for ever if absent.
    pub approval_expires_after: Option<Duration>,
}

/// What an answer without calls means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterAnswer {
    /// The execution is complete.
    End,
    /// The execution waits for what the person says next.
    AwaitMessage,
}

/// What the machine must know of a tool.
#[derive(Clone)]
pub struct PlannedTool {
    /// The hash of its definition.
    pub definition: Digest,
    /// What a second run would do.
    pub effect: Effect,
    /// Whether it runs alone.
    pub exclusive: bool,
    /// What is reserved for each call.
    pub reserve: Money,
    /// The most attempts of one call, the first included, where the tool says that it may be tried again.
    pub attempts_max: u32,
    /// Who must approve it, if anybody.
    pub approval: Option<PlannedApproval>,
    /// How its arguments are judged.
    pub review: Arc<dyn Review>,
}

impl fmt::Debug for PlannedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlannedTool")
            .field("effect", &self.effect)
            .field("approval", &self.approval)
            .finish_non_exhaustive()
    }
}

/// Who must approve a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedApproval {
    /// The role's name.
    pub role: String,
    /// Who may answer.
    pub answerer: Answerer,
}

/// Arguments that were found valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reviewed {
    /// Their canonical JSON: what is shown, journaled and run.
    pub canonical: String,
    /// Its hash.
    pub digest: Digest,
}

/// Judges a tool's arguments. Pure: the same text gives the same verdict.
pub trait Review: Send + Sync {
    /// Checks arguments as the model wrote them.
    ///
    /// # Errors
    /// What the model reads: `invalid input: …`.
    fn review(&self, raw: &str) -> Result<Reviewed, String>;

    /// Whether a call with these arguments needs a decision. Asked once, when the call is dispatched.
    fn asks(&self, reviewed: &Reviewed) -> bool;
}

/// The limits of one agent call. Reaching one ends the execution with `LimitExceededError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most tool calls; 20 unless set.
    pub tool_calls: u32,
    /// The most model calls; 12 unless set.
    pub model_calls: u32,
    /// How often the same failing call may be repeated in a row; 3 unless set.
    pub identical_failing_calls: u32,
    /// The most bytes of one answer's text; 256 KB unless set.
    pub reply_bytes: u64,
    /// The most calls of one turn that run at the same time; 8 unless set.
    pub parallel_calls: u32,
    /// Whether a limit is followed by one last turn without tools.
    pub soft_landing: bool,
    /// The most attempts of one model call, the first included; 4 unless set.
    pub model_attempts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_calls: 20,
            model_calls: 12,
            identical_failing_calls: 3,
            reply_bytes: 256 * 1_024,
            parallel_calls: 8,
            soft_landing: false,
            model_attempts: 4,
        }
    }
}
