//! What records of tool calls do to the state.

use leasehold_types::{CallId, Money, Timestamp};

use super::super::state::{Call, CallState, State, Stop};
use super::{Applied, call_key};
use crate::record::{
    CallFinished, CallIntended, CallUncertain, FinishKind, IntentCause, LateOutcome,
};
use crate::texts;

impl State {
    pub(super) fn call_intended(&mut self, body: &CallIntended, at: Timestamp) -> Applied {
        let mut reserved = Money::ZERO;
        self.with_call(&body.call_id, |call| {
            may_be_intended(call, body)?;
            call.state = CallState::Running;
            call.attempt = body.attempt;
            call.failures += u32::from(body.cause == IntentCause::Retry);
            call.first_intended.get_or_insert(at);
            let bound = call.binding.as_ref();
            reserved = bound.map_or(Money::ZERO, |bound| bound.reserved);
            Ok(())
        })?;
        let key = call_key(&body.call_id);
        let in_doubt = body.previous_kind.is_some_and(FinishKind::leaves_doubt);
        match body.cause {
            IntentCause::Retry if !in_doubt => self.ledger.settle(&key, &body.spend),
            IntentCause::Retry | IntentCause::Recovered => self.ledger.doubt(&key, &body.spend),
            IntentCause::Dequeued | IntentCause::Approved => {}
        }
        self.ledger.reserve(key, reserved);
        Ok(())
    }

    pub(super) fn call_finished(&mut self, body: &CallFinished) -> Applied {
        let mut in_doubt = body.kind == FinishKind::Uncertain;
        in_doubt |= body.attempt > 0 && body.kind.leaves_doubt();
        let mut tool = String::new();
        self.with_call(&body.call_id, |call| {
            if body.attempt > 0 && (body.attempt != call.attempt || !has_run(&call.state)) {
                return Err(format!("attempt {} of it was not intended", body.attempt));
            }
            in_doubt |= call.state == CallState::Interrupted;
            let note = call.edited_by.as_ref().map(texts::edited_note);
            let text = note.unwrap_or_default() + &body.text;
            let kind = body.kind;
            call.state = CallState::Finished { kind, text };
            tool.clone_from(&call.tool);
            Ok(())
        })?;
        let key = call_key(&body.call_id);
        if in_doubt {
            self.ledger.doubt(&key, &body.spend);
        } else {
            self.ledger.settle(&key, &body.spend);
        }
        if body.fatal && self.stop.is_none() {
            let error = texts::tool_ended_it(&tool, &body.text);
            self.stop = Some(Stop::Fatal { error });
        }
        self.close_turn();
        Ok(())
    }

    pub(super) fn call_uncertain(&mut self, body: &CallUncertain) -> Applied {
        self.with_call(&body.call_id, |call| {
            if !has_run(&call.state) {
                return Err("it has not run".to_owned());
            }
            call.state = CallState::Uncertain;
            Ok(())
        })?;
        self.ledger.doubt(&call_key(&body.call_id), &body.spend);
        Ok(())
    }

    pub(super) fn late_outcome(&mut self, body: &LateOutcome) -> Applied {
        if let Some(call_id) = &body.call_id
            && !self.used_ids.contains(call_id)
        {
            return Err(format!("there is no call {call_id}"));
        }
        self.ledger.settle("", &body.spend);
        Ok(())
    }

    /// Changes a call that has no result yet.
    pub(super) fn with_call(
        &mut self,
        call_id: &CallId,
        change: impl FnOnce(&mut Call) -> Applied,
    ) -> Applied {
        let mut calls = self.calls.iter_mut();
        let call = calls
            .find(|call| call.call_id == *call_id)
            .ok_or_else(|| format!("call {call_id} is not one of the turn's"))?;
        if call.is_finished() {
            return Err(format!("call {call_id} has its result already"));
        }
        change(call).map_err(|why| format!("call {call_id}: {why}"))
    }
}

/// Whether a call may have run under its last intent.
const fn has_run(state: &CallState) -> bool {
    match state {
        CallState::Running
        | CallState::Queued(None)
        | CallState::Interrupted
        | CallState::Uncertain => true,
        CallState::Queued(Some(_)) | CallState::Asking | CallState::Finished { .. } => false,
    }
}

fn may_be_intended(call: &Call, body: &CallIntended) -> Applied {
    let fits = match body.cause {
        IntentCause::Dequeued | IntentCause::Approved => {
            call.state == CallState::Queued(Some(body.cause))
        }
        IntentCause::Retry => matches!(call.state, CallState::Running | CallState::Queued(None)),
        IntentCause::Recovered => call.state == CallState::Interrupted,
    };
    if !fits || body.attempt != call.attempt + 1 {
        return Err(format!(
            "attempt {} may not follow attempt {}",
            body.attempt, call.attempt
        ));
    }
    Ok(())
}
