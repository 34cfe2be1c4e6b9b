//! Lines about pauses: the question, its way, the decision. A pause's secret is in none of them.

use leasehold_execution::record::{
    AnswererWire, MessageReceived, PauseOpened, PauseResolved, PauseSent, PauseSubject, Resolution,
    SendOutcome,
};

use super::{ARGUMENT_CHARS, Story, TEXT_CHARS};
use crate::cli::view::EventView;
use crate::cli::when::When;
use crate::escape::clip;

impl Story {
    pub(super) fn pause_opened(&mut self, event: EventView, body: &PauseOpened) -> EventView {
        let number = body.number;
        let (text, call_id) = match &body.subject {
            PauseSubject::Approval { call_id, role } => {
                let tool = self.tool_of(call_id);
                let text = format!("pause {number}: {} decides about {tool}", clip(role, 64));
                (text, Some(call_id))
            }
            PauseSubject::Uncertain { call_id } => {
                let tool = self.tool_of(call_id);
                (
                    format!("pause {number}: a person decides about {tool}"),
                    Some(call_id),
                )
            }
            PauseSubject::Input => (format!("pause {number}: waits for a message"), None),
        };
        let who = match body.answerer {
            AnswererWire::ThreadOwner => "the thread's owner answers",
            AnswererWire::Channel => "answered through its channel or any door",
        };
        let expires = body
            .expires_at
            .map(|at| format!(", expires {}", When(at).full()));
        let digest = body.digest.short();
        let told = EventView {
            text,
            details: vec![format!(
                "{who}, digest {digest}{}",
                expires.unwrap_or_default()
            )],
            pause: Some(number),
            ..event
        };
        match call_id {
            Some(call_id) => self.about(told, call_id),
            None => told,
        }
    }
}

pub(super) fn sent(event: EventView, body: &PauseSent) -> EventView {
    let (number, attempt) = (body.number, body.attempt);
    let text = match &body.outcome {
        SendOutcome::Sent => format!("pause {number}: the question is sent"),
        SendOutcome::Failed { error } => format!(
            "pause {number}: sending failed, attempt {attempt}: {}",
            clip(error, TEXT_CHARS)
        ),
        SendOutcome::Undeliverable { error } => format!(
            "pause {number}: undeliverable after {attempt} attempts, still open to every door: {}",
            clip(error, TEXT_CHARS)
        ),
    };
    EventView {
        text,
        pause: Some(number),
        ..event
    }
}

pub(super) fn resolved(event: EventView, body: &PauseResolved) -> EventView {
    let by = body
        .answered_by
        .as_ref()
        .map_or_else(|| "nobody".to_owned(), |by| clip(&by.id, 64));
    let number = body.number;
    let mut details = Vec::new();
    let what = match &body.resolution {
        Resolution::Approved {
            override_arguments: None,
            ..
        } => format!("approved by {by}"),
        Resolution::Approved {
            override_arguments: Some(changed),
            ..
        } => {
            details.push(format!("runs with {}", clip(changed, ARGUMENT_CHARS)));
            format!("approved by {by} with other arguments")
        }
        Resolution::Rejected { reason } if reason.is_empty() => format!("rejected by {by}"),
        Resolution::Rejected { reason } => {
            format!("rejected by {by}: {}", clip(reason, TEXT_CHARS))
        }
        Resolution::Answered { .. } => format!("answered by {by}"),
        Resolution::Expired => "expired: nobody answered in time".to_owned(),
        Resolution::Cancelled => "closed: the execution ended first".to_owned(),
    };
    EventView {
        text: format!("pause {number}: {what}"),
        details,
        pause: Some(number),
        ..event
    }
}

pub(super) fn message(event: EventView, body: &MessageReceived) -> EventView {
    let by = clip(&body.by.id, 64);
    EventView {
        text: format!("{by} says: {}", clip(&body.text, TEXT_CHARS)),
        pause: Some(body.number),
        ..event
    }
}
