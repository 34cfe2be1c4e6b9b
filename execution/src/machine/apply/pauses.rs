//! What records of pauses do to the state.

use leasehold_models::Message;
use leasehold_types::{CallId, Timestamp};

use super::super::outcome::backoff;
use super::super::state::{CallState, Pause, PauseState, SendState, Since, State};
use super::Applied;
use crate::record::{
    IntentCause, MessageReceived, PauseOpened, PauseResolved, PauseSent, PauseSubject, Resolution,
    SendOutcome,
};

impl State {
    pub(super) fn pause_opened(&mut self, body: &PauseOpened, at: Timestamp) -> Applied {
        let expected = self.next_pause();
        if body.number != expected {
            return Err(format!(
                "pause {} is opened where {expected} is next",
                body.number
            ));
        }
        let send = match &body.subject {
            PauseSubject::Approval { call_id, .. } => {
                self.may_ask(call_id, &CallState::Asking)?;
                SendState::Due {
                    attempt: 1,
                    not_before: None,
                }
            }
            PauseSubject::Uncertain { call_id } => {
                self.may_ask(call_id, &CallState::Uncertain)?;
                SendState::NotNeeded
            }
            PauseSubject::Input => SendState::NotNeeded,
        };
        let pause = Pause {
            opened: body.clone(),
            opened_at: at,
            state: PauseState::Open,
            send,
        };
        self.pauses.insert(body.number, pause);
        Ok(())
    }

    /// The number of the next pause: from 1, without gaps.
    pub(crate) fn next_pause(&self) -> u32 {
        let opened = u32::try_from(self.pauses.len()).unwrap_or(u32::MAX);
        opened.saturating_add(1)
    }

    /// A call is asked about once at a time, and only while it waits for that.
    fn may_ask(&self, call_id: &CallId, waits: &CallState) -> Applied {
        let is_asked = self
            .open_pauses()
            .any(|pause| pause.call() == Some(call_id));
        let fits = self.call(call_id).is_some_and(|call| call.state == *waits);
        if is_asked || !fits {
            return Err(format!("call {call_id} does not wait for this question"));
        }
        Ok(())
    }

    pub(super) fn pause_sent(&mut self, body: &PauseSent, at: Timestamp) -> Applied {
        let pause = self
            .pauses
            .get_mut(&body.number)
            .ok_or("there is no such pause")?;
        pause.send = match &body.outcome {
            SendOutcome::Sent => SendState::Sent,
            SendOutcome::Undeliverable { .. } => SendState::Undeliverable,
            SendOutcome::Failed { .. } => SendState::Due {
                attempt: body.attempt + 1,
                not_before: Some(at.plus(backoff(body.attempt))),
            },
        };
        Ok(())
    }

    pub(super) fn pause_resolved(&mut self, body: &PauseResolved, at: Timestamp) -> Applied {
        let pause = self
            .pauses
            .get_mut(&body.number)
            .ok_or("there is no such pause")?;
        if !matches!(pause.state, PauseState::Open) {
            return Err(format!("pause {} has its decision already", body.number));
        }
        pause.state = PauseState::Resolved {
            resolved: body.clone(),
            at,
        };
        let call_id = pause.call().cloned();
        match (&body.resolution, call_id) {
            (Resolution::Approved { .. }, Some(call_id)) => self.approved(&call_id, body),
            (Resolution::Rejected { .. }, Some(_)) | (Resolution::Answered { .. }, None) => Ok(()),
            (Resolution::Expired | Resolution::Cancelled, _) => Ok(()),
            (Resolution::Approved { .. } | Resolution::Rejected { .. }, None)
            | (Resolution::Answered { .. }, Some(_)) => {
                Err("it is no answer to what was asked".to_owned())
            }
        }
    }

    fn approved(&mut self, call_id: &CallId, body: &PauseResolved) -> Applied {
        let Resolution::Approved {
            override_arguments,
            arguments_digest,
        } = &body.resolution
        else {
            return Ok(());
        };
        self.with_call(call_id, |call| {
            call.state = CallState::Queued(Some(IntentCause::Approved));
            if let (Some(bound), Some(changed)) = (&mut call.binding, override_arguments) {
                bound.arguments = *arguments_digest;
                call.arguments.clone_from(changed);
                call.edited_by.clone_from(&body.answered_by);
            }
            Ok(())
        })
    }

    /// A16: a message answers the pause that waits for one; between a call and its result there is no place for it.
    pub(super) fn message_received(&mut self, body: &MessageReceived) -> Applied {
        let asked = self.pauses.get(&body.number).is_some_and(|pause| {
            pause.opened.subject == PauseSubject::Input
                && matches!(pause.state, PauseState::Resolved { .. })
        });
        let said = self.history.messages().last();
        let awaited = self.calls.is_empty() && matches!(said, Some(Message::Assistant { .. }));
        if !asked || !awaited {
            return Err("nobody waits for a message".to_owned());
        }
        self.history.push(Message::user(body.text.as_str()));
        self.since = Since {
            turn: self.turn,
            tool_calls: self.counts.tool_calls,
        };
        self.repeated_failure = None;
        Ok(())
    }
}

impl Pause {
    /// The call that it is about.
    pub(crate) const fn call(&self) -> Option<&CallId> {
        match &self.opened.subject {
            PauseSubject::Approval { call_id, .. } | PauseSubject::Uncertain { call_id } => {
                Some(call_id)
            }
            PauseSubject::Input => None,
        }
    }
}
