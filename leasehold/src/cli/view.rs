//! What commands show, as data: the same whether it came over the socket or from the store, for people and for scripts.
//!
//! Field names are stable. A field is only ever added; [`SCHEMA`] rises when one changes its meaning or goes.
//! Money is whole micro-units of US dollars, times are RFC 3339 in UTC.

use leasehold_types::{Answerer, ExecutionId, Money, PauseRef, TokenUsage};
use serde::{Deserialize, Serialize};

use super::when::When;

/// The version of everything printed with `--output json`.
pub(super) const SCHEMA: u32 = 1;

/// What an execution is doing.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// Started; no instance has taken it yet.
    Starting,
    /// An instance has it, or should have.
    Running,
    /// It rests until somebody decides or a timer ends.
    Waiting,
    /// An operator must let it go on.
    Blocked,
    /// Ended with an answer.
    Completed,
    /// Ended with an error.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// Ended at a limit.
    LimitExceeded,
    /// Ended for want of budget.
    BudgetExceeded,
    /// Its journal cannot be read to its end.
    Unreadable,
}

impl State {
    /// The word that people and scripts read.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Blocked => "blocked",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::LimitExceeded => "limit-exceeded",
            Self::BudgetExceeded => "budget-exceeded",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether nothing comes after it.
    pub(super) const fn is_over(self) -> bool {
        match self {
            Self::Completed
            | Self::Failed
            | Self::Cancelled
            | Self::LimitExceeded
            | Self::BudgetExceeded => true,
            Self::Starting | Self::Running | Self::Waiting | Self::Blocked | Self::Unreadable => {
                false
            }
        }
    }
}

/// Money and tokens of one execution tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SpendView {
    /// Spend that is certain.
    pub(super) settled_micros: u64,
    /// Spend that may have happened: calls whose end nobody saw.
    pub(super) possible_micros: u64,
    /// The most that may be spent, where there is a budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) budget_micros: Option<u64>,
    /// Tokens of all requests.
    pub(super) input_tokens: u64,
    /// Tokens of all answers.
    pub(super) output_tokens: u64,
    /// Tokens of requests that the provider had cached.
    pub(super) cached_tokens: u64,
}

impl SpendView {
    /// From a ledger's or a checkpoint's numbers.
    pub(super) const fn new(
        settled: Money,
        possible: Money,
        budget: Option<Money>,
        tokens: TokenUsage,
    ) -> Self {
        let budget_micros = match budget {
            Some(money) => Some(money.micros()),
            None => None,
        };
        Self {
            settled_micros: settled.micros(),
            possible_micros: possible.micros(),
            budget_micros,
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cached_tokens: tokens.cached,
        }
    }
}

/// Who may answer a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum AnswererView {
    /// The owner of the execution's thread.
    ThreadOwner,
    /// Whom the role's channel or a door authenticates.
    Channel,
}

impl From<Answerer> for AnswererView {
    fn from(answerer: Answerer) -> Self {
        match answerer {
            Answerer::ThreadOwner => Self::ThreadOwner,
            Answerer::Channel => Self::Channel,
        }
    }
}

/// One execution in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ExecutionRow {
    /// Its id.
    pub(super) execution: ExecutionId,
    /// What it is doing.
    pub(super) state: State,
    /// The workflow, or the agent where it runs by itself.
    pub(super) workflow: String,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread: Option<String>,
    /// Whose it is.
    pub(super) tenant: String,
    /// When it started.
    pub(super) started_at: When,
    /// When its last record was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_at: Option<When>,
    /// The epoch of its last claim; 0 where nobody has claimed it.
    pub(super) epoch: u64,
    /// How many frames its journal has.
    pub(super) frames: u64,
    /// When it next has something to do by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next_due: Option<When>,
    /// Its open pauses; of many only the first.
    pub(super) pauses: Vec<PauseRow>,
    /// Its spend, where its last record tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) spend: Option<SpendView>,
    /// Why it stands where it stands, in a few words.
    pub(super) why: String,
}

/// One open pause in a list of executions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PauseRow {
    /// Its public reference.
    pub(super) pause: PauseRef,
    /// The role asked; `uncertain` or `input` where there is none.
    pub(super) role: String,
    /// Who may answer.
    pub(super) answerer: AnswererView,
}

/// What a pause asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum About {
    /// Whether a call may run.
    Approval,
    /// What to do about a call of unknown outcome.
    Uncertain,
    /// What the person says next.
    Input,
}

/// One open pause, with all that is needed to decide it. Never its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PauseView {
    /// Its public reference.
    pub(super) pause: PauseRef,
    /// What it asks for.
    pub(super) about: About,
    /// The role asked, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    /// Who may answer.
    pub(super) answerer: AnswererView,
    /// The agent that waits.
    pub(super) agent: String,
    /// Whose execution it is.
    pub(super) owner: String,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    /// The key the call acts under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) idempotency_key: Option<String>,
    /// The tool that would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// What a second run of it would do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) effect: Option<String>,
    /// Its canonical arguments, as JSON text: what would run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<String>,
    /// Why nobody knows what the call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) why: Option<String>,
    /// What the model said beside it; untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model_said: Option<String>,
    /// What a decision is bound to.
    pub(super) digest: String,
    /// When it was asked.
    pub(super) asked_at: When,
    /// When it expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<When>,
    /// Whether its channel could not be reached.
    pub(super) undeliverable: bool,
}

/// One line of a timeline, and what stands under it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct EventView {
    /// The frame it stands in.
    pub(super) frame: u64,
    /// When it was made, on its writer's clock; order is by position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) at: Option<When>,
    /// The epoch it was written under; 0 for the start.
    pub(super) epoch: u64,
    /// The execution's number in the tree; 0 is the root.
    pub(super) number: u32,
    /// The record's kind, as it is stored.
    pub(super) kind: String,
    /// What happened.
    pub(super) text: String,
    /// What belongs to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) details: Vec<String>,
    /// The call it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<String>,
    /// The tool of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// The key that call acts under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) idempotency_key: Option<String>,
    /// The attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) attempt: Option<u32>,
    /// The pause it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pause: Option<u32>,
    /// Spend that became certain with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) settled_micros: u64,
    /// Spend that became possible with it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(super) possible_micros: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// One execution: where it stands, why, and how it came there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ExecutionView {
    /// Its id.
    pub(super) execution: ExecutionId,
    /// What it is doing.
    pub(super) state: State,
    /// Why it stands there, in one line.
    pub(super) why: String,
    /// The workflow, or the agent where it runs by itself.
    pub(super) workflow: String,
    /// The agent.
    pub(super) agent: String,
    /// Whose it is.
    pub(super) owner: String,
    /// The tenant.
    pub(super) tenant: String,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) thread: Option<String>,
    /// What it was asked.
    pub(super) input: String,
    /// Who started it.
    pub(super) started_by: String,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) started_at: Option<When>,
    /// When its last record was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_at: Option<When>,
    /// The configuration it is bound to.
    pub(super) config_hash: String,
    /// The epoch of its last claim.
    pub(super) epoch: u64,
    /// The instance that made that claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) instance: Option<String>,
    /// How many frames were read.
    pub(super) frames: u64,
    /// When it next has something to do by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) next_due: Option<When>,
    /// Its spend.
    pub(super) spend: SpendView,
    /// Model calls, those cut off or failed included.
    pub(super) model_calls: u32,
    /// Tool calls.
    pub(super) tool_calls: u32,
    /// Its open pauses.
    pub(super) pauses: Vec<PauseView>,
    /// How it came there.
    pub(super) timeline: Vec<EventView>,
    /// The answer, or what there is of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) answer: Option<String>,
    /// The error it ended with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
    /// Why its journal cannot be read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) broken: Option<String>,
}

/// What became of a decision, a cancel or a retry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DecidedView {
    /// The execution.
    pub(super) execution: ExecutionId,
    /// The pause, where it was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) pause: Option<PauseRef>,
    /// What was done.
    pub(super) did: String,
    /// Who did it, as authentication established it.
    pub(super) by: String,
    /// Whether it changed anything: a repeat does not.
    pub(super) changed: bool,
    /// The first frame that may tell of it.
    pub(super) from: u64,
    /// What the execution does after it.
    pub(super) state: State,
    /// Whether an instance goes on with it, or it waits for one.
    pub(super) goes_on: bool,
}

/// One frame of a dump.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FrameView {
    /// Its index.
    pub(super) frame: u64,
    /// Its epoch.
    pub(super) epoch: u64,
    /// Its writer's name for it.
    pub(super) id: String,
    /// The tenant.
    pub(super) tenant: String,
    /// The hash of the frame before it.
    pub(super) previous: String,
    /// The hash of its body.
    pub(super) body_hash: String,
    /// Its size in the store.
    pub(super) stored_bytes: u64,
    /// What it says of the tree after it: live, resting, blocked or ended.
    pub(super) tree_state: String,
    /// Its records, each a JSON text.
    pub(super) records: Vec<String>,
}
