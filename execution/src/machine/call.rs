//! The calls of one turn: which start, which may run again after a crash, and how they are ended without running.

use leasehold_types::{AbortReason, CallId, Effect, Money, PauseId, SpendEntry, Timestamp};

use super::apply::call_key;
use super::order::{Slot, may_start};
use super::state::{Call, CallState};
use super::{Deciding, Step};
use crate::ledger::BudgetExceededError;
use crate::record::{
    AnswererWire, CallFinished, CallIntended, CallUncertain, FinishKind, IntentCause, PauseOpened,
    PauseSubject, Record,
};
use crate::texts;

/// Whether a call that was cut off may run again by itself.
pub(super) fn may_repeat(call: &Call, now: Timestamp) -> bool {
    match call.binding.as_ref().map(|bound| bound.effect) {
        Some(Effect::Pure | Effect::Read) => true,
        Some(Effect::Idempotent { retention_s }) => call
            .first_intended
            .is_some_and(|first| now.since(first).as_secs() < retention_s),
        Some(Effect::Write) | None => false,
    }
}

impl Deciding<'_> {
    /// Gives the calls that an answer admitted at once their steps.
    pub(super) fn run_admitted(&mut self) {
        let running: Vec<CallId> = self
            .state()
            .calls
            .iter()
            .filter(|call| call.state == CallState::Running)
            .map(|call| call.call_id.clone())
            .collect();
        for call_id in running {
            self.step(Step::RunCall {
                call_id,
                attempt: 1,
                not_before: None,
            });
        }
    }

    /// Starts the calls whose turn has come; again while a refused one makes room for the next.
    pub(super) fn dispatch(&mut self) {
        loop {
            let starts = self.starts();
            let mut refused = false;
            for call_id in &starts {
                refused |= !self.start(call_id);
            }
            if !refused {
                return;
            }
        }
    }

    fn starts(&self) -> Vec<CallId> {
        let (now, calls) = (self.context.now, &self.state().calls);
        let slots: Vec<Slot> = calls.iter().map(|call| self.slot(call, now)).collect();
        may_start(&slots, self.machine.plan.limits.parallel_calls)
            .into_iter()
            .map(|position| calls[position].call_id.clone())
            .collect()
    }

    /// Starts a call, or refuses it where the budget does not cover it any more. Says whether it started.
    fn start(&mut self, call_id: &CallId) -> bool {
        let Some(call) = self.state().call(call_id) else {
            return true;
        };
        let cause = match call.state {
            CallState::Queued(cause) => cause,
            CallState::Running
            | CallState::Interrupted
            | CallState::Asking
            | CallState::Uncertain
            | CallState::Finished { .. } => Some(IntentCause::Recovered),
        };
        let attempt = call.attempt + u32::from(cause.is_some());
        if let Err(error) = self.affords(call, cause) {
            let in_doubt = left_in_doubt(call);
            self.refuse_start(call_id.clone(), in_doubt, &error);
            return false;
        }
        match cause {
            Some(cause) => self.intend(call_id.clone(), attempt, cause),
            None => self.set_running(call_id),
        }
        self.step(Step::RunCall {
            call_id: call_id.clone(),
            attempt,
            not_before: None,
        });
        true
    }

    fn intend(&mut self, call_id: CallId, attempt: u32, cause: IntentCause) {
        self.record(Record::CallIntended(CallIntended {
            call_id,
            attempt,
            cause,
            not_before: None,
            previous_error: None,
            previous_kind: None,
            spend: vec![],
        }));
    }

    /// The intent is durable since the answer; only this owner needs to know that it runs now.
    fn set_running(&mut self, call_id: &CallId) {
        let mut calls = self.machine.state.calls.iter_mut();
        if let Some(call) = calls.find(|call| call.call_id == *call_id) {
            call.state = CallState::Running;
        }
    }

    /// EXEC-5: a call that was cut off keeps what was reserved for it booked, and needs as much again.
    fn affords(&self, call: &Call, cause: Option<IntentCause>) -> Result<(), BudgetExceededError> {
        let bound = call.binding.as_ref();
        let reserve = bound.map_or(Money::ZERO, |bound| bound.reserved);
        let (ledger, key) = (&self.state().ledger, call_key(&call.call_id));
        let is_held = ledger.held(&key) > Money::ZERO && cause != Some(IntentCause::Recovered);
        if is_held || reserve == Money::ZERO {
            return Ok(());
        }
        ledger.covers(reserve)
    }

    fn refuse_start(&mut self, call_id: CallId, in_doubt: bool, error: &BudgetExceededError) {
        let error = error.to_string();
        if in_doubt {
            self.finish_unrun(call_id, FinishKind::Uncertain, &texts::not_repeated(&error));
        } else {
            self.finish_unrun(call_id, FinishKind::BudgetExceeded, &error);
        }
    }

    fn slot(&self, call: &Call, now: Timestamp) -> Slot {
        let tool = self.machine.plan.tools.get(&call.tool);
        let waits = match call.state {
            CallState::Queued(_) => true,
            CallState::Interrupted => may_repeat(call, now),
            CallState::Running
            | CallState::Asking
            | CallState::Uncertain
            | CallState::Finished { .. } => false,
        };
        Slot {
            waits,
            runs: call.state == CallState::Running,
            exclusive: tool.is_some_and(|tool| tool.exclusive),
        }
    }

    /// Calls that were cut off and may not run again by themselves go to a person.
    pub(super) fn park_uncertain(&mut self) {
        let now = self.context.now;
        let uncertain: Vec<CallId> = self
            .state()
            .calls
            .iter()
            .filter(|call| call.state == CallState::Interrupted && !may_repeat(call, now))
            .map(|call| call.call_id.clone())
            .collect();
        for call_id in uncertain {
            let why = "its owner was lost before the outcome was journaled";
            self.uncertain(&call_id, why, vec![]);
        }
    }

    /// Nobody knows what a call did: a person is asked.
    pub(super) fn uncertain(&mut self, call_id: &CallId, why: &str, spend: Vec<SpendEntry>) {
        let call = self.state().call(call_id);
        let Some(bound) = call.and_then(|call| call.binding.clone()) else {
            return;
        };
        self.record(Record::CallUncertain(CallUncertain {
            call_id: call_id.clone(),
            why: why.to_owned(),
            spend,
        }));
        let opened = PauseOpened {
            number: self.state().next_pause(),
            pause_id: PauseId::new(self.context.random),
            subject: PauseSubject::Uncertain {
                call_id: call_id.clone(),
            },
            answerer: AnswererWire::Channel,
            digest: self.digest_of(&bound),
            expires_at: None,
        };
        self.record(Record::PauseOpened(Box::new(opened)));
    }

    /// Ends a call that does not run.
    pub(super) fn finish_unrun(&mut self, call_id: CallId, kind: FinishKind, message: &str) {
        self.record(Record::CallFinished(Box::new(CallFinished {
            call_id,
            attempt: 0,
            kind,
            text: format!("Tool error: {message}"),
            whole_bytes: None,
            whole: None,
            spend: vec![],
            fatal: false,
        })));
    }

    /// Ends every call that has no result, because the execution ends.
    pub(super) fn finish_all(&mut self, reason: &AbortReason) {
        let open: Vec<(CallId, bool)> = self
            .state()
            .calls
            .iter()
            .filter(|call| !call.is_finished())
            .map(|call| (call.call_id.clone(), left_in_doubt(call)))
            .collect();
        for (call_id, in_doubt) in open {
            let kind = match (in_doubt, reason) {
                (true, _) => FinishKind::Uncertain,
                (false, AbortReason::Cancelled { .. }) => FinishKind::Cancelled,
                (false, _) => FinishKind::Stopped,
            };
            self.finish_unrun(call_id, kind, &reason.to_string());
        }
    }
}

/// Whether a call that is given up may have had an effect.
fn left_in_doubt(call: &Call) -> bool {
    let cut_off = match call.state {
        CallState::Interrupted | CallState::Uncertain => true,
        // A person let a call of unknown outcome run again, and it has not.
        CallState::Queued(Some(IntentCause::Approved)) => call.attempt > 0,
        CallState::Queued(_)
        | CallState::Running
        | CallState::Asking
        | CallState::Finished { .. } => false,
    };
    let has_effect = match call.binding.as_ref().map(|bound| bound.effect) {
        Some(Effect::Pure | Effect::Read) | None => false,
        Some(Effect::Idempotent { .. } | Effect::Write) => true,
    };
    cut_off && has_effect
}
