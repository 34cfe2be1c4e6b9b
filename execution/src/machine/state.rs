//! The state that records fold into. Plain data; `apply.rs` alone changes it.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_types::{BootId, CallId, Digest, Epoch, Principal, Timestamp};

use crate::history::History;
use crate::ledger::Ledger;
use crate::record::{
    CallBinding, Ended, FinishKind, IntentCause, PauseOpened, PauseResolved, Started,
};

/// Everything a journal says of an execution.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(crate) started: Option<Started>,
    pub(crate) claim: Claim,
    pub(crate) ended: Option<Ended>,
    pub(crate) quarantined: Option<String>,
    pub(crate) resting: bool,
    pub(crate) stop: Option<Stop>,
    pub(crate) turn: u32,
    pub(crate) tools_off: bool,
    pub(crate) model: ModelState,
    pub(crate) counts: Counts,
    /// Where the counters stood when somebody spoke last: limits hold from there on.
    pub(crate) since: Since,
    pub(crate) history: History,
    pub(crate) ledger: Ledger,
    /// The calls of the turn, in the model's order; empty between turns.
    pub(crate) calls: Vec<Call>,
    /// Every call id of the execution: CALL-1.
    pub(crate) used_ids: BTreeSet<CallId>,
    pub(crate) pauses: BTreeMap<u32, Pause>,
    /// The last failing calls in a row that were the same.
    pub(crate) repeated_failure: Option<(Digest, u32)>,
    /// What the model said last, where the execution waits for a message.
    pub(crate) last_text: String,
    /// What the provider wants back with it.
    pub(crate) last_echo: Option<String>,
}

/// Who holds the tree, and how its holders fared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) epoch: Epoch,
    pub(crate) boot: Option<BootId>,
    pub(crate) alone: bool,
    /// Whether anything came of the current epoch.
    pub(crate) progress: bool,
    /// Epochs in a row that ended without anything.
    pub(crate) deaths: u32,
    /// Whether the last of them was claimed with no other suspect beside it.
    pub(crate) died_alone: bool,
}

/// Why no further turn is begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Somebody cancelled.
    Cancel { by: Principal, reason: String },
    /// A tool's failure ends the execution.
    Fatal { error: String },
}

/// What was done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Attempts, those that failed or were cut off included.
    pub(crate) model_calls: u32,
    pub(crate) tool_calls: u32,
    /// Failed attempts of the current turn's model call.
    pub(crate) model_failures: u32,
    /// Answers in a row that could not be used.
    pub(crate) repairs: u32,
}

/// Where the counters stood when a person spoke last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Since {
    pub(crate) turn: u32,
    pub(crate) tool_calls: u32,
}

/// The model call of the current turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum ModelState {
    /// None is due.
    #[default]
    Idle,
    /// It runs.
    InFlight { attempt: u32 },
    /// The owner that ran it is gone.
    Interrupted { attempt: u32 },
    /// It failed and is tried again.
    Waiting { attempt: u32, retry_at: Timestamp },
    /// It failed for the last time.
    Failed { error: String },
}

/// One call of the turn.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) call_id: CallId,
    pub(crate) provider_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) binding: Option<CallBinding>,
    pub(crate) state: CallState,
    pub(crate) attempt: u32,
    /// Attempts that failed; those that were cut off do not count: they are R6's.
    pub(crate) failures: u32,
    /// When its key was first used: how old the other side's memory of it is.
    pub(crate) first_intended: Option<Timestamp>,
    /// Who changed its arguments.
    pub(crate) edited_by: Option<Principal>,
}

/// Where a call stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallState {
    /// It may run when its turn comes; with a cause if that takes a record of its own.
    Queued(Option<IntentCause>),
    /// It runs, or waits for its next attempt.
    Running,
    /// Its owner is gone while it ran, or may have run.
    Interrupted,
    /// It waits for the decision of a pause.
    Asking,
    /// Nobody knows what it did; it waits for the decision of a pause.
    Uncertain,
    /// It has its result.
    Finished {
        /// What became of it.
        kind: FinishKind,
        /// What the model reads.
        text: String,
    },
}

/// A pause, open or resolved.
#[derive(Debug, Clone)]
pub(crate) struct Pause {
    pub(crate) opened: PauseOpened,
    pub(crate) opened_at: Timestamp,
    pub(crate) state: PauseState,
    pub(crate) send: SendState,
}

/// Where a pause stands.
#[derive(Debug, Clone, PartialEq)]
pub enum PauseState {
    /// It waits.
    Open,
    /// It has its decision.
    Resolved {
        /// The decision.
        resolved: PauseResolved,
        /// When it was journaled.
        at: Timestamp,
    },
}

/// Where the sending of a question stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendState {
    /// Nobody has to be told: there is no channel, or a door is enough.
    NotNeeded,
    /// It is to be sent.
    Due {
        /// The attempt to come.
        attempt: u32,
        /// Not before this time.
        not_before: Option<Timestamp>,
    },
    /// It is being sent.
    InFlight {
        /// The attempt.
        attempt: u32,
    },
    /// It is with whoever answers.
    Sent,
    /// It reached nobody.
    Undeliverable,
}

impl State {
    pub(crate) fn call(&self, call_id: &CallId) -> Option<&Call> {
        self.calls.iter().find(|call| call.call_id == *call_id)
    }

    /// Whether something is under way outside: only then does an event come by itself.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.model, ModelState::InFlight { .. })
            || self
                .calls
                .iter()
                .any(|call| call.state == CallState::Running)
            || self
                .open_pauses()
                .any(|pause| matches!(pause.send, SendState::InFlight { .. }))
    }

    pub(crate) fn open_pauses(&self) -> impl Iterator<Item = &Pause> {
        self.pauses
            .values()
            .filter(|pause| matches!(pause.state, PauseState::Open))
    }
}

impl Call {
    pub(crate) const fn is_finished(&self) -> bool {
        matches!(self.state, CallState::Finished { .. })
    }
}
