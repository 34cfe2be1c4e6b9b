//! Lines about tool calls: each attempt with its epoch and its key, so that a key that is used again is seen to be the same.

use leasehold_execution::record::{
    CallFinished, CallIntended, FinishKind, IntentCause, LateOutcome,
};
use leasehold_types::SpendEntry;

use super::{Story, TEXT_CHARS};
use crate::cli::view::EventView;
use crate::cli::when::When;
use crate::escape::{clip, grouped};

impl Story {
    pub(super) fn call_intended(&mut self, event: EventView, body: &CallIntended) -> EventView {
        let epoch = self.epoch;
        let tool = self.tool_of(&body.call_id);
        let before = self
            .calls
            .get(&body.call_id)
            .and_then(|call| call.epochs.last().copied());
        let why = match (body.cause, before) {
            (IntentCause::Dequeued, _) => "its turn has come".to_owned(),
            (IntentCause::Approved, _) => "approved".to_owned(),
            (IntentCause::Retry, _) => "tried again".to_owned(),
            (IntentCause::Recovered, Some(before)) => format!("cut off under epoch {before}"),
            (IntentCause::Recovered, None) => "cut off".to_owned(),
        };
        let mut details = Vec::new();
        if let Some(error) = &body.previous_error {
            let attempt = body.attempt.saturating_sub(1);
            details.push(format!(
                "attempt {attempt} failed: {}",
                clip(error, TEXT_CHARS)
            ));
        }
        if let Some(at) = body.not_before {
            details.push(format!("not before {}", When(at).clock()));
        }
        details.push(self.key_line(&body.call_id, body.attempt, before));
        details.extend(body.spend.iter().map(paid));
        if let Some(call) = self.calls.get_mut(&body.call_id) {
            call.epochs.push(epoch);
            call.doubt = None;
        }
        EventView {
            text: format!("runs {tool}, attempt {} ({why})", body.attempt),
            details,
            attempt: Some(body.attempt),
            ..self.about(event, &body.call_id)
        }
    }

    fn key_line(
        &self,
        call_id: &leasehold_types::CallId,
        attempt: u32,
        before: Option<u64>,
    ) -> String {
        let call = self.calls.get(call_id);
        let Some(key) = call.and_then(|call| call.key.as_ref()) else {
            return format!("call {call_id}");
        };
        match before {
            Some(before) if attempt > 1 && before != self.epoch => format!(
                "key  {key} (the same as under epoch {before}, now under epoch {})",
                self.epoch
            ),
            Some(_) if attempt > 1 => format!("key  {key} (the same as before)"),
            Some(_) | None => format!("key  {key}"),
        }
    }

    pub(super) fn call_finished(&mut self, event: EventView, body: &CallFinished) -> EventView {
        let tool = self.tool_of(&body.call_id);
        if let Some(call) = self.calls.get_mut(&body.call_id) {
            call.is_over = true;
        }
        let said = clip(&body.text, TEXT_CHARS);
        let mut details = Vec::new();
        match body.attempt {
            0 => details.push(format!("call {}, nothing ran for this", body.call_id)),
            attempt => details.push(format!("call {}, attempt {attempt}", body.call_id)),
        }
        if let Some(bytes) = body.whole_bytes {
            details.push(format!(
                "cut for the model: {} bytes in all",
                grouped(bytes)
            ));
        }
        if body.fatal {
            details.push("ends the execution".to_owned());
        }
        details.extend(body.spend.iter().map(paid));
        EventView {
            text: format!("{tool} {}: {said}", word(body.kind)),
            details,
            attempt: Some(body.attempt).filter(|attempt| *attempt > 0),
            ..self.about(event, &body.call_id)
        }
    }

    pub(super) fn late_outcome(&mut self, event: EventView, body: &LateOutcome) -> EventView {
        let what = body.call_id.as_ref().map_or_else(
            || format!("the model, turn {},", body.turn),
            |id| self.tool_of(id),
        );
        let told = EventView {
            text: format!(
                "{what} came late ({}): counted, not shown to the model",
                word(body.kind)
            ),
            details: body.spend.iter().map(paid).collect(),
            ..event
        };
        match &body.call_id {
            Some(call_id) => self.about(told, call_id),
            None => told,
        }
    }
}

fn paid(spend: &SpendEntry) -> String {
    let service = clip(&spend.service, 64);
    format!("used {} ({})", spend.money, service)
}

/// What became of a call, in a word or two.
pub(super) const fn word(kind: FinishKind) -> &'static str {
    match kind {
        FinishKind::Ok => "ok",
        FinishKind::Error => "error",
        FinishKind::TimedOut => "timed out",
        FinishKind::Panicked => "panicked",
        FinishKind::InvalidInput => "invalid input",
        FinishKind::InvalidOutput => "invalid output",
        FinishKind::UnknownTool => "unknown tool",
        FinishKind::LimitReached => "limit reached",
        FinishKind::BudgetExceeded => "budget exceeded",
        FinishKind::Rejected => "rejected",
        FinishKind::Expired => "expired",
        FinishKind::Cancelled => "cancelled",
        FinishKind::Undeliverable => "undeliverable",
        FinishKind::PolicyDenied => "denied by policy",
        FinishKind::Stopped => "stopped",
        FinishKind::Uncertain => "uncertain",
    }
}
