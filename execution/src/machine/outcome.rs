//! What models, tools and channels report, and what is journaled of it.

use std::time::Duration;

use leasehold_models::{ModelAnswer, ModelError, Retry};
use leasehold_types::{AbortReason, CallId, Effect, Money, Principal, SpendEntry};

use super::apply::call_key;
use super::call::may_repeat;
use super::state::{Call, CallState, ModelState, SendState, Stop};
use super::{Deciding, Step};
use crate::ledger;
use crate::record::{
    CallFinished, CallIntended, CancelRequested, FinishKind, IntentCause, LateOutcome, ModelFailed,
    PauseSent, Record, Retried, SendOutcome,
};

/// The first wait before a failed step is tried again; doubled with each attempt.
const BACKOFF_FIRST: Duration = Duration::from_millis(500);
/// The longest wait that we choose ourselves.
const BACKOFF_MAX: Duration = Duration::from_secs(30);
/// The longest wait that a provider may ask for; a longer one fails the turn.
const RETRY_AFTER_MAX: Duration = Duration::from_secs(3_600);
/// The attempts of one question, the first included.
const SEND_ATTEMPTS_MAX: u32 = 5;

/// The wait after the `attempt`-th failure.
pub(super) fn backoff(attempt: u32) -> Duration {
    let doublings = attempt.saturating_sub(1).min(16);
    BACKOFF_FIRST
        .saturating_mul(1 << doublings)
        .min(BACKOFF_MAX)
}

/// What became of a model call.
#[derive(Debug)]
pub struct ModelReport {
    /// The turn.
    pub turn: u32,
    /// The attempt.
    pub attempt: u32,
    /// The answer with what it is booked at, or the failure.
    pub result: Result<(ModelAnswer, SpendEntry), ModelFailure>,
}

/// How a model call failed.
#[derive(Debug)]
pub struct ModelFailure {
    /// What happened, with its code.
    pub error: String,
    /// Whether another attempt makes sense.
    pub retry: Retry,
    /// Whether the provider may bill it.
    pub may_be_billed: bool,
}

impl From<&ModelError> for ModelFailure {
    fn from(error: &ModelError) -> Self {
        Self {
            error: error.to_string(),
            retry: error.retry(),
            may_be_billed: error.may_have_been_billed(),
        }
    }
}

/// What became of a tool call.
#[derive(Debug, Clone)]
pub struct CallReport {
    /// The call.
    pub call_id: CallId,
    /// The attempt.
    pub attempt: u32,
    /// What became of it.
    pub kind: FinishKind,
    /// What the model reads, already cut to the tool's bound.
    pub text: String,
    /// The bytes of the whole text, where it was cut.
    pub whole_bytes: Option<u64>,
    /// What it used.
    pub spend: Vec<SpendEntry>,
    /// Whether the tool says that it may be tried again.
    pub retryable: bool,
    /// Whether the tool does not know what it did.
    pub outcome_unknown: bool,
    /// Whether it ends the execution.
    pub fatal: bool,
}

impl Deciding<'_> {
    pub(super) fn model_reported(&mut self, report: ModelReport) {
        let awaited = self.state().model
            == ModelState::InFlight {
                attempt: report.attempt,
            }
            && self.state().turn == report.turn;
        if !awaited {
            self.answer_came_late(report);
            return;
        }
        match report.result {
            Ok((answer, spend)) => self.answered(report.turn, report.attempt, &answer, spend),
            Err(failure) => self.model_failed(report.turn, report.attempt, failure),
        }
        self.advance();
    }

    /// An answer to an attempt of this turn that was given up: what it cost is known now.
    fn answer_came_late(&mut self, report: ModelReport) {
        let state = self.state();
        let given_up = match state.model {
            ModelState::InFlight { attempt } => report.attempt < attempt,
            ModelState::Waiting { attempt, .. } => report.attempt <= attempt,
            ModelState::Idle | ModelState::Interrupted { .. } | ModelState::Failed { .. } => false,
        };
        if state.ended.is_some() || report.turn != state.turn || !given_up {
            return;
        }
        if let Ok((_, spend)) = report.result {
            self.record(Record::LateOutcome(LateOutcome {
                call_id: None,
                turn: report.turn,
                kind: FinishKind::Ok,
                spend: vec![spend],
            }));
        }
    }

    fn model_failed(&mut self, turn: u32, attempt: u32, failure: ModelFailure) {
        let failures = self.state().counts.model_failures + 1;
        let may_retry = self.state().stop.is_none() && failures < self.plan().limits.model_attempts;
        let retry_at = match failure.retry {
            Retry::After(wait) if may_retry => {
                let wait = wait.unwrap_or_else(|| backoff(failures));
                (wait <= RETRY_AFTER_MAX).then(|| self.context.now.plus(wait))
            }
            Retry::After(_) | Retry::Never => None,
        };
        self.record(Record::ModelFailed(ModelFailed {
            turn,
            attempt,
            error: failure.error,
            may_be_billed: failure.may_be_billed,
            retry_at,
        }));
    }

    pub(super) fn call_reported(&mut self, report: CallReport) {
        let awaited = self
            .state()
            .call(&report.call_id)
            .is_some_and(|call| call.state == CallState::Running && call.attempt == report.attempt);
        if !awaited {
            self.came_late(report);
            return;
        }
        if self.may_try_again(&report) {
            self.try_again(report);
        } else if report.outcome_unknown && self.state().stop.is_none() {
            self.uncertain(&report.call_id, &report.text, report.spend);
        } else {
            self.finished(report);
        }
        self.advance();
    }

    fn finished(&mut self, report: CallReport) {
        let kind = if report.outcome_unknown {
            FinishKind::Uncertain
        } else {
            report.kind
        };
        self.record(Record::CallFinished(Box::new(CallFinished {
            call_id: report.call_id,
            attempt: report.attempt,
            kind,
            text: report.text,
            whole_bytes: report.whole_bytes,
            whole: None,
            spend: report.spend,
            fatal: report.fatal,
        })));
    }

    /// An outcome after the call was given up is kept for its effect and its spend: the model never reads it.
    fn came_late(&mut self, report: CallReport) {
        if self.state().ended.is_some() || !self.state().used_ids.contains(&report.call_id) {
            return;
        }
        let (turn, kind, spend) = (self.state().turn, report.kind, report.spend);
        let call_id = Some(report.call_id);
        self.record(Record::LateOutcome(LateOutcome {
            call_id,
            turn,
            kind,
            spend,
        }));
    }

    /// A call is tried again where its tool says so, while attempts, its key's retention and the budget last.
    fn may_try_again(&self, report: &CallReport) -> bool {
        if !report.retryable || report.outcome_unknown || self.state().stop.is_some() {
            return false;
        }
        let Some(call) = self.state().call(&report.call_id) else {
            return false;
        };
        let tool = self.machine.plan.tools.get(&call.tool);
        let is_left = tool.is_some_and(|tool| call.failures + 1 < tool.attempts_max);
        is_left && self.is_retained(call, report.attempt) && self.affords_again(call, report)
    }

    fn is_retained(&self, call: &Call, attempt: u32) -> bool {
        let bound = call.binding.as_ref();
        let is_keyed = bound.is_some_and(|bound| matches!(bound.effect, Effect::Idempotent { .. }));
        !is_keyed || may_repeat(call, self.context.now.plus(backoff(attempt)))
    }

    fn affords_again(&self, call: &Call, report: &CallReport) -> bool {
        let reserve = call
            .binding
            .as_ref()
            .map_or(Money::ZERO, |bound| bound.reserved);
        let (ledger, key) = (&self.state().ledger, call_key(&call.call_id));
        let told = ledger::total(&report.spend);
        let booked = if report.kind.leaves_doubt() {
            told.max(ledger.held(&key))
        } else {
            told
        };
        reserve == Money::ZERO || ledger.covers_after(&key, booked, reserve).is_ok()
    }

    fn try_again(&mut self, report: CallReport) {
        let attempt = report.attempt + 1;
        let not_before = Some(self.context.now.plus(backoff(report.attempt)));
        self.record(Record::CallIntended(CallIntended {
            call_id: report.call_id.clone(),
            attempt,
            cause: IntentCause::Retry,
            not_before,
            previous_error: Some(report.text),
            previous_kind: Some(report.kind),
            spend: report.spend,
        }));
        self.step(Step::RunCall {
            call_id: report.call_id,
            attempt,
            not_before,
        });
    }

    pub(super) fn sent(&mut self, number: u32, attempt: u32, error: Option<String>) {
        let awaited = self
            .state()
            .pauses
            .get(&number)
            .is_some_and(|pause| pause.send == SendState::InFlight { attempt });
        if !awaited || self.state().ended.is_some() {
            return;
        }
        let outcome = match error {
            None => SendOutcome::Sent,
            Some(error) if attempt >= SEND_ATTEMPTS_MAX => SendOutcome::Undeliverable { error },
            Some(error) => SendOutcome::Failed { error },
        };
        self.record(Record::PauseSent(PauseSent {
            number,
            attempt,
            outcome,
        }));
        self.advance();
    }

    pub(super) fn cancel(&mut self, by: Principal, reason: String) {
        if self.state().ended.is_some() || matches!(self.state().stop, Some(Stop::Cancel { .. })) {
            return;
        }
        let name = by.id.clone();
        self.record(Record::CancelRequested(CancelRequested { by, reason }));
        self.step(Step::Abort(AbortReason::Cancelled { by: name }));
        self.advance();
    }

    pub(super) fn retry(&mut self, by: Principal) {
        if self.state().quarantined.is_some() && self.state().ended.is_none() {
            self.record(Record::Retried(Retried { by }));
            self.resume();
        }
    }

    pub(super) fn tick(&mut self) {
        self.advance();
    }
}
