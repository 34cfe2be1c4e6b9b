//! The execution machine: folds records, and says from events what is journaled and done next.
//!
//! Pure: no clock, no chance, no IO. The caller passes the time and random numbers, journals the entries of an [`Output`],
//! and carries out its steps once those entries are durable.
//!
//! - EXEC-1: every change of state is a record, applied by [`Machine::apply`] alone, live and in replay.
//! - EXEC-2: a finished step is never a step again.
//! - EXEC-3: each call has exactly one result before the next model request.
//! - EXEC-4: a call runs only with the arguments and the tool definition it was checked against.
//! - EXEC-5: what a call may use is reserved in the ledger from its intent to its result; a cut-off call's reservation becomes possible spend.
//! - EXEC-6: after the end nothing is a step.

mod answer;
mod apply;
mod call;
mod claim;
mod closing;
mod decision;
mod judge;
mod next;
mod order;
mod outcome;
mod running;
mod standing;
mod state;
mod view;

use std::sync::Arc;

use leasehold_types::{AbortReason, CallId, Principal, Random, Timestamp, TreeId};

pub use claim::{ClaimFacts, DEATHS_MAX, SUSPECT_DEATHS};
pub use decision::{Decision, DecisionReply, PauseKey, Verdict};
pub use outcome::{CallReport, ModelFailure, ModelReport};
pub use standing::Standing;
pub use state::{CallState, PauseState, SendState};
pub use view::{CallView, QuestionView};

use crate::plan::Plan;
use crate::record::{Entry, Record};
use state::State;

/// Something to do outside, once the entries it came with are durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ask the model for the answer of a turn.
    AskModel {
        /// The turn.
        turn: u32,
        /// The attempt.
        attempt: u32,
    },
    /// Run a call.
    RunCall {
        /// The call.
        call_id: CallId,
        /// The attempt.
        attempt: u32,
        /// Not before this time.
        not_before: Option<Timestamp>,
    },
    /// Put a question to its channel.
    SendQuestion {
        /// The pause.
        number: u32,
        /// The attempt.
        attempt: u32,
    },
    /// Stop everything that runs.
    Abort(AbortReason),
}

/// What an event leads to.
#[derive(Debug, Default, PartialEq)]
pub struct Output {
    /// To be journaled, in this order, in one frame.
    pub entries: Vec<Entry>,
    /// To be done once the entries are durable, in this order.
    pub steps: Vec<Step>,
}

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// A model call ended.
    Model(ModelReport),
    /// A tool call ended.
    Call(CallReport),
    /// A question was sent, or could not be.
    Sent {
        /// The pause.
        number: u32,
        /// The attempt.
        attempt: u32,
        /// What happened, if it failed.
        error: Option<String>,
    },
    /// Somebody cancels.
    Cancel {
        /// Who.
        by: Principal,
        /// Why.
        reason: String,
    },
    /// An operator lets a quarantined tree go on.
    Retry {
        /// Who.
        by: Principal,
    },
    /// Time has passed.
    Tick,
}

/// The state of one execution, folded from its records.
#[derive(Debug, Clone)]
pub struct Machine {
    tree: TreeId,
    plan: Arc<Plan>,
    state: State,
}

/// A record that does not fit what came before it: the journal is corrupt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[journal.record-out-of-place] {kind}: {why}")]
pub struct OutOfPlaceError {
    /// The record's kind.
    pub kind: &'static str,
    /// Why it cannot stand there.
    pub why: String,
}

/// What deciding takes besides the state.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The wall clock.
    pub now: Timestamp,
    /// Chance, for secrets.
    pub random: &'a dyn Random,
}

impl Machine {
    /// A machine that has seen nothing.
    #[must_use]
    pub fn new(tree: TreeId, plan: Arc<Plan>) -> Self {
        Self {
            tree,
            plan,
            state: State::default(),
        }
    }

    /// Folds entries that were read from the journal.
    ///
    /// # Errors
    /// An entry does not fit what came before it.
    pub fn replay(&mut self, entries: &[Entry]) -> Result<(), OutOfPlaceError> {
        entries.iter().try_for_each(|entry| self.apply(entry))
    }

    /// Decides what follows from `event`.
    pub fn on(&mut self, context: Context<'_>, event: Event) -> Output {
        let mut deciding = self.decide(context);
        match event {
            Event::Model(report) => deciding.model_reported(report),
            Event::Call(report) => deciding.call_reported(report),
            Event::Sent {
                number,
                attempt,
                error,
            } => deciding.sent(number, attempt, error),
            Event::Cancel { by, reason } => deciding.cancel(by, reason),
            Event::Retry { by } => deciding.retry(by),
            Event::Tick => deciding.tick(),
        }
        deciding.output
    }

    fn decide<'a>(&'a mut self, context: Context<'a>) -> Deciding<'a> {
        Deciding {
            machine: self,
            context,
            output: Output::default(),
        }
    }

    /// The plan it decides by.
    #[must_use]
    pub const fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
}

/// One decision under way: records are applied as they are made, so that what follows sees them.
struct Deciding<'a> {
    machine: &'a mut Machine,
    context: Context<'a>,
    output: Output,
}

impl Deciding<'_> {
    const fn state(&self) -> &State {
        &self.machine.state
    }

    fn plan(&self) -> Arc<Plan> {
        Arc::clone(&self.machine.plan)
    }

    /// Makes a record true.
    fn record(&mut self, record: Record) {
        let entry = Entry {
            execution: 0,
            at: self.context.now,
            record,
        };
        let applied = self.machine.apply(&entry);
        assert!(
            applied.is_ok(),
            "EXEC-1: a decision made a record out of place: {applied:?}"
        );
        self.output.entries.push(entry);
    }

    fn step(&mut self, step: Step) {
        self.output.steps.push(step);
    }
}
