//! What records of model calls do to the state, and how a turn becomes history.

use std::sync::Arc;

use leasehold_models::{Message, PastCall};
use leasehold_types::{Digest, Effect, Timestamp};

use super::super::state::{Call, CallState, ModelState, State};
use super::{Applied, call_key, model_key};
use crate::history::{callable, past_call};
use crate::record::{
    AnsweredCall, CallPlan, FinishKind, IntentCause, ModelAnswered, ModelFailed, ModelIntended,
};

impl State {
    pub(super) fn model_intended(&mut self, body: &ModelIntended) -> Applied {
        if self.calls.iter().any(|call| !call.is_finished()) {
            return Err("EXEC-3: a call of the last answer has no result".to_owned());
        }
        if (body.turn, body.attempt) != self.next_model_call() {
            let (turn, attempt) = self.next_model_call();
            return Err(format!(
                "attempt {} of turn {} is intended where attempt {attempt} of turn {turn} is next",
                body.attempt, body.turn
            ));
        }
        if body.attempt == 1 {
            self.counts.model_failures = 0;
        }
        self.turn = body.turn;
        self.tools_off = body.tools_off;
        self.counts.model_calls += 1;
        self.model = ModelState::InFlight {
            attempt: body.attempt,
        };
        self.ledger.reserve(model_key(body.turn), body.reserved);
        Ok(())
    }

    /// The turn and the attempt that may be intended; attempt 0 where none may.
    const fn next_model_call(&self) -> (u32, u32) {
        match self.model {
            ModelState::Idle => (self.turn + 1, 1),
            ModelState::Interrupted { attempt } | ModelState::Waiting { attempt, .. } => {
                (self.turn, attempt + 1)
            }
            ModelState::InFlight { .. } | ModelState::Failed { .. } => (self.turn, 0),
        }
    }

    fn await_answer(&self, turn: u32, attempt: u32) -> Applied {
        if turn != self.turn || self.model != (ModelState::InFlight { attempt }) {
            return Err(format!(
                "no answer to attempt {attempt} of turn {turn} was awaited"
            ));
        }
        Ok(())
    }

    pub(super) fn model_answered(&mut self, body: &ModelAnswered, at: Timestamp) -> Applied {
        self.await_answer(body.turn, body.attempt)?;
        self.model = ModelState::Idle;
        let spend = std::slice::from_ref(&body.spend);
        self.ledger.settle(&model_key(body.turn), spend);
        self.last_text.clone_from(&body.text);
        self.last_echo.clone_from(&body.echo);
        self.counts.repairs = match body.repair {
            Some(_) => self.counts.repairs + 1,
            None => 0,
        };
        if body.calls.is_empty() {
            self.say(Arc::default());
        }
        if let Some(repair) = &body.repair {
            self.history.push(Message::user(repair.as_str()));
        }
        for call in &body.calls {
            let admitted = self.admit(call, at)?;
            self.calls.push(admitted);
        }
        self.close_turn();
        Ok(())
    }

    fn admit(&mut self, answered: &AnsweredCall, at: Timestamp) -> Result<Call, String> {
        if !self.used_ids.insert(answered.call_id.clone()) {
            return Err(format!("CALL-1: call {} was made before", answered.call_id));
        }
        self.counts.tool_calls += 1;
        if let Some(binding) = &answered.bound {
            let key = call_key(&answered.call_id);
            self.ledger.reserve(key, binding.reserved);
        }
        let (state, attempt) = planned(answered);
        if answered.bound.is_none() && !matches!(state, CallState::Finished { .. }) {
            return Err(format!(
                "call {} was checked against nothing",
                answered.call_id
            ));
        }
        Ok(Call {
            call_id: answered.call_id.clone(),
            provider_id: answered.provider_id.clone(),
            tool: answered.tool.clone(),
            arguments: answered.arguments.clone(),
            binding: answered.bound.clone(),
            first_intended: (attempt > 0).then_some(at),
            state,
            attempt,
            failures: 0,
            edited_by: None,
        })
    }

    pub(super) fn model_failed(&mut self, body: &ModelFailed) -> Applied {
        self.await_answer(body.turn, body.attempt)?;
        let key = model_key(body.turn);
        if body.may_be_billed {
            self.ledger.book_possible(&key);
        } else {
            self.ledger.release(&key);
        }
        self.counts.model_failures += 1;
        self.model = match body.retry_at {
            Some(retry_at) => ModelState::Waiting {
                attempt: body.attempt,
                retry_at,
            },
            None => ModelState::Failed {
                error: body.error.clone(),
            },
        };
        Ok(())
    }

    /// Once every call has its result, the answer and its results become history: HIST-1.
    ///
    /// Failures in a row are counted here, in the order of the calls: the order in which they ended differs after a crash.
    pub(super) fn close_turn(&mut self) {
        if self.calls.is_empty() || self.calls.iter().any(|call| !call.is_finished()) {
            return;
        }
        let calls = std::mem::take(&mut self.calls);
        self.say(calls.iter().map(past).collect());
        for call in calls {
            let CallState::Finished { kind, text } = call.state else {
                continue;
            };
            self.note_failure(&call.tool, &call.arguments, kind);
            self.history.push(Message::ToolResult {
                call_id: call.call_id.as_str().into(),
                name: callable(&call.tool).into(),
                text: text.into(),
                is_error: !kind.is_ok(),
            });
        }
    }

    fn note_failure(&mut self, tool: &str, arguments: &str, kind: FinishKind) {
        if kind.is_ok() {
            self.repeated_failure = None;
            return;
        }
        let same = Digest::of_parts(&[tool.as_bytes(), arguments.as_bytes()]);
        let count = match self.repeated_failure {
            Some((digest, count)) if digest == same => count + 1,
            Some(_) | None => 1,
        };
        self.repeated_failure = Some((same, count));
    }

    /// The model's last answer becomes history.
    fn say(&mut self, calls: Arc<[PastCall]>) {
        let text = self.last_text.as_str().into();
        let echo = self.last_echo.as_deref().map(Arc::from);
        self.history.push(Message::Assistant { text, calls, echo });
    }
}

/// Where an answered call stands, and its attempt.
fn planned(answered: &AnsweredCall) -> (CallState, u32) {
    let is_write = answered
        .bound
        .as_ref()
        .is_some_and(|bound| bound.effect == Effect::Write);
    match &answered.plan {
        CallPlan::Run => (CallState::Running, 1),
        CallPlan::Queue if is_write => (CallState::Queued(Some(IntentCause::Dequeued)), 0),
        CallPlan::Queue => (CallState::Queued(None), 1),
        CallPlan::Ask => (CallState::Asking, 0),
        CallPlan::Refuse { kind, message } => {
            let (kind, text) = (*kind, message.clone());
            (CallState::Finished { kind, text }, 0)
        }
    }
}

fn past(call: &Call) -> PastCall {
    past_call(
        call.call_id.as_str(),
        call.provider_id.as_deref(),
        &call.tool,
        &call.arguments,
    )
}
