//! Lines about the life of an execution: its start, who holds it, what others want of it, its end.

use leasehold_execution::record::{
    CancelRequested, Checkpoint, ClaimCause, Claimed, Ended, Outcome, Quarantined, Released,
    Retried, Started,
};

use super::{Story, TEXT_CHARS};
use crate::cli::counted;
use crate::cli::view::EventView;
use crate::cli::when::When;
use crate::escape::clip;

pub(super) fn started(event: EventView, body: &Started) -> EventView {
    let mut facts = vec![format!("configuration {}", body.config_hash.short())];
    if let Some(budget) = body.budget {
        facts.push(format!("budget {budget}"));
    }
    if let Some(thread) = &body.thread {
        facts.push(format!("thread {}", clip(thread.as_str(), 64)));
    }
    if let Some(key) = &body.idempotency_key {
        facts.push(format!("start key {}", clip(key, 64)));
    }
    let by = clip(&body.started_by.id, 64);
    EventView {
        text: format!("started by {by}: {}", clip(&body.input, TEXT_CHARS)),
        details: vec![facts.join(", ")],
        ..event
    }
}

impl Story {
    pub(super) fn claimed(&mut self, event: EventView, body: &Claimed) -> EventView {
        let mut details = Vec::new();
        if let Some(asking) = self.asking.take() {
            details.push(format!(
                "cut off: {}, turn {}",
                clip(&asking.model, 64),
                asking.turn
            ));
        }
        for (call_id, call) in &self.calls {
            let runs = !call.is_over && call.doubt.is_none();
            if let (true, Some(epoch)) = (runs, call.epochs.last()) {
                let tool = clip(&call.tool, 64);
                details.push(format!(
                    "cut off: {tool}, call {call_id}, begun under epoch {epoch}"
                ));
            }
        }
        let cause = match body.cause {
            ClaimCause::Start => "start",
            ClaimCause::Wake => "wake",
            ClaimCause::Takeover => "takeover: its owner is gone",
            ClaimCause::Restart => "restart: an actor of it failed",
        };
        let instance = clip(body.instance.as_str(), 64);
        self.claim = Some(body.clone());
        self.released = None;
        EventView {
            text: format!("claimed by {instance} as epoch {} ({cause})", body.epoch),
            details,
            ..event
        }
    }
}

pub(super) fn cancel_requested(event: EventView, body: &CancelRequested) -> EventView {
    let reason = reason_of(&body.reason);
    EventView {
        text: format!("cancel asked for by {}{reason}", clip(&body.by.id, 64)),
        ..event
    }
}

fn reason_of(reason: &str) -> String {
    if reason.is_empty() {
        return String::new();
    }
    format!(": {}", clip(reason, TEXT_CHARS))
}

pub(super) fn rested(event: EventView, body: &Checkpoint) -> EventView {
    let open = match body.pauses.len() {
        0 => "nothing to do".to_owned(),
        open => format!("{} open", counted(open, "pause")),
    };
    let due = body
        .next_due
        .map(|due| format!(", next due {}", When(due).full()));
    EventView {
        text: format!("rests: {open}{}", due.unwrap_or_default()),
        ..event
    }
}

pub(super) fn released(event: EventView, body: &Released) -> EventView {
    EventView {
        text: format!("released{}", reason_of(&body.reason)),
        ..event
    }
}

pub(super) fn quarantined(event: EventView, body: &Quarantined) -> EventView {
    EventView {
        text: format!("quarantined: {}", clip(&body.cause, TEXT_CHARS)),
        ..event
    }
}

pub(super) fn retried(event: EventView, body: &Retried) -> EventView {
    EventView {
        text: format!("let go on by {}", clip(&body.by.id, 64)),
        ..event
    }
}

pub(super) fn ended(event: EventView, body: &Ended) -> EventView {
    EventView {
        text: match &body.outcome {
            Outcome::Completed { .. } => "completed".to_owned(),
            Outcome::Failed { error }
            | Outcome::LimitExceeded { error, .. }
            | Outcome::BudgetExceeded { error } => {
                format!("{}: {}", body.outcome.word(), clip(error, TEXT_CHARS))
            }
            Outcome::Cancelled { by, reason } => {
                format!("cancelled by {}{}", clip(by, 64), reason_of(reason))
            }
        },
        ..event
    }
}
