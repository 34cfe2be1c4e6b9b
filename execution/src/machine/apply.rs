//! The fold: what each record does to the state. The only place that changes it.

use std::sync::Arc;

use leasehold_models::{Message, PastCall};
use leasehold_types::{CallId, Money, Timestamp};

use super::state::{Call, CallState, Claim, ModelState, Pause, PauseState, SendState, State, Stop};
use super::{Machine, OutOfPlaceError};
use crate::history::past_call;
use crate::record::{
    AnsweredCall, CallFinished, CallIntended, CallPlan, Claimed, Entry, FinishKind, IntentCause,
    ModelAnswered, ModelFailed, ModelIntended, PauseOpened, PauseResolved, PauseSent, PauseSubject,
    Record, Resolution, SendOutcome, Started,
};
use crate::texts;

/// The ledger's name for the model call of a turn.
pub(crate) fn model_key(turn: u32) -> String {
    format!("model {turn}")
}

/// The ledger's name for a call.
pub(crate) fn call_key(call_id: &CallId) -> String {
    format!("call {call_id}")
}

type Applied = Result<(), String>;

impl Machine {
    /// Folds one entry into the state.
    ///
    /// # Errors
    /// It does not fit what came before it. The state is then of no further use.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), OutOfPlaceError> {
        let at = entry.at;
        let state = &mut self.state;
        let record = &entry.record;
        let out_of_place = |why: String| OutOfPlaceError {
            kind: record.kind(),
            why,
        };
        state.may_stand(record).map_err(out_of_place)?;
        state.note_progress(record);
        match record {
            Record::Started(body) => state.started(body),
            Record::Claimed(body) => state.claimed(body),
            Record::ModelIntended(body) => state.model_intended(body),
            Record::ModelAnswered(body) => state.model_answered(body, at),
            Record::ModelFailed(body) => state.model_failed(body),
            Record::CallIntended(body) => state.call_intended(body, at),
            Record::CallFinished(body) => state.call_finished(body),
            Record::CallUncertain(body) => {
                state.with_call(&body.call_id, |call| call.state = CallState::Uncertain)
            }
            Record::PauseOpened(body) => state.pause_opened(body, at),
            Record::PauseSent(body) => state.pause_sent(body, at),
            Record::PauseResolved(body) => state.pause_resolved(body, at),
            Record::CancelRequested(body) => {
                let (by, reason) = (body.by.clone(), body.reason.clone());
                state.stop = Some(Stop::Cancel { by, reason });
                Ok(())
            }
            Record::MessageReceived(body) => {
                state.history.push(Message::user(body.text.as_str()));
                Ok(())
            }
            Record::LateOutcome(body) => {
                state.ledger.settle("", &body.spend);
                Ok(())
            }
            Record::Rested(_) => {
                state.resting = true;
                Ok(())
            }
            Record::Released(_) => Ok(()),
            Record::Quarantined(body) => {
                state.quarantined = Some(body.cause.clone());
                Ok(())
            }
            Record::Retried(_) => {
                state.quarantined = None;
                state.claim = Claim {
                    deaths: 0,
                    ..state.claim.clone()
                };
                Ok(())
            }
            Record::Ended(body) => {
                state.ended = Some((**body).clone());
                Ok(())
            }
        }
        .map_err(out_of_place)
    }
}

impl State {
    /// What must be true of the state for a record to stand next.
    fn may_stand(&self, record: &Record) -> Applied {
        if self.ended.is_some() {
            return Err("the execution has ended".to_owned());
        }
        match (record, &self.started) {
            (Record::Started(_), Some(_)) => Err("the execution was started before".to_owned()),
            (Record::Started(_), None) | (_, Some(_)) => Ok(()),
            (_, None) => Err("the execution was not started".to_owned()),
        }
    }

    /// An outcome, a rest or a release shows that the epoch was not in vain.
    fn note_progress(&mut self, record: &Record) {
        let progress = match record {
            Record::ModelAnswered(_)
            | Record::ModelFailed(_)
            | Record::CallFinished(_)
            | Record::PauseSent(_)
            | Record::PauseResolved(_)
            | Record::MessageReceived(_)
            | Record::LateOutcome(_)
            | Record::Rested(_)
            | Record::Released(_)
            | Record::Ended(_) => true,
            Record::Started(_)
            | Record::Claimed(_)
            | Record::ModelIntended(_)
            | Record::CallIntended(_)
            | Record::CallUncertain(_)
            | Record::PauseOpened(_)
            | Record::CancelRequested(_)
            | Record::Quarantined(_)
            | Record::Retried(_) => false,
        };
        self.claim.progress |= progress;
    }

    fn started(&mut self, body: &Started) -> Applied {
        self.ledger.set_limit(body.budget);
        self.history.push(Message::user(body.input.as_str()));
        self.started = Some(body.clone());
        Ok(())
    }

    /// A new owner: what the former one ran was cut off.
    fn claimed(&mut self, body: &Claimed) -> Applied {
        if body.epoch <= self.claim.epoch {
            return Err(format!(
                "epoch {} does not follow {}",
                body.epoch, self.claim.epoch
            ));
        }
        let died = self.claim.boot.is_some() && !self.claim.progress;
        self.claim = Claim {
            epoch: body.epoch,
            boot: Some(body.boot),
            alone: body.alone,
            progress: false,
            deaths: if died { self.claim.deaths + 1 } else { 0 },
            died_alone: died && self.claim.alone,
        };
        self.resting = false;
        if let ModelState::InFlight { attempt } = self.model {
            self.model = ModelState::Interrupted { attempt };
            self.ledger.book_possible(&model_key(self.turn));
        }
        for call in &mut self.calls {
            let cut_off = match call.state {
                CallState::Running | CallState::Queued(None) => true,
                CallState::Queued(Some(_))
                | CallState::Interrupted
                | CallState::Asking
                | CallState::Uncertain
                | CallState::Finished { .. } => false,
            };
            if cut_off {
                call.state = CallState::Interrupted;
            }
        }
        for pause in self.pauses.values_mut() {
            if let SendState::InFlight { attempt } = pause.send {
                pause.send = SendState::Due {
                    attempt,
                    not_before: None,
                };
            }
        }
        Ok(())
    }

    fn model_intended(&mut self, body: &ModelIntended) -> Applied {
        if self.calls.iter().any(|call| !call.is_finished()) {
            return Err("EXEC-3: a call of the last answer has no result".to_owned());
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

    fn model_answered(&mut self, body: &ModelAnswered, at: Timestamp) -> Applied {
        if body.turn != self.turn || !matches!(self.model, ModelState::InFlight { .. }) {
            return Err(format!("no answer of turn {} was awaited", body.turn));
        }
        self.model = ModelState::Idle;
        self.ledger
            .settle(&model_key(body.turn), std::slice::from_ref(&body.spend));
        self.last_text.clone_from(&body.text);
        self.last_echo.clone_from(&body.echo);
        self.counts.repairs = if body.repair.is_some() {
            self.counts.repairs + 1
        } else {
            0
        };
        if body.calls.is_empty() {
            self.say(Arc::default());
        }
        if let Some(repair) = &body.repair {
            self.history.push(Message::user(repair.as_str()));
        }
        self.calls = body.calls.iter().map(|call| self.admit(call, at)).collect();
        self.close_turn();
        Ok(())
    }

    fn admit(&mut self, answered: &AnsweredCall, at: Timestamp) -> Call {
        self.used_ids.insert(answered.call_id.clone());
        self.counts.tool_calls += 1;
        if let Some(binding) = &answered.bound {
            self.ledger
                .reserve(call_key(&answered.call_id), binding.reserved);
        }
        let is_write = answered
            .bound
            .as_ref()
            .is_some_and(|bound| bound.effect == leasehold_types::Effect::Write);
        let (state, attempt) = match &answered.plan {
            CallPlan::Run => (CallState::Running, 1),
            CallPlan::Queue if is_write => (CallState::Queued(Some(IntentCause::Dequeued)), 0),
            CallPlan::Queue => (CallState::Queued(None), 1),
            CallPlan::Ask => (CallState::Asking, 0),
            CallPlan::Refuse { kind, message } => (
                CallState::Finished {
                    kind: *kind,
                    text: message.clone(),
                },
                0,
            ),
        };
        if let CallState::Finished { kind, .. } = &state {
            self.note_failure(&answered.tool, &answered.arguments, *kind);
        }
        Call {
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
        }
    }

    fn model_failed(&mut self, body: &ModelFailed) -> Applied {
        if body.turn != self.turn || !matches!(self.model, ModelState::InFlight { .. }) {
            return Err(format!("no answer of turn {} was awaited", body.turn));
        }
        if body.may_be_billed {
            self.ledger.book_possible(&model_key(body.turn));
        } else {
            self.ledger.release(&model_key(body.turn));
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

    fn call_intended(&mut self, body: &CallIntended, at: Timestamp) -> Applied {
        let key = call_key(&body.call_id);
        let mut reserved = Money::ZERO;
        self.with_call(&body.call_id, |call| {
            call.state = CallState::Running;
            call.attempt = body.attempt;
            call.failures += u32::from(body.cause == IntentCause::Retry);
            call.first_intended.get_or_insert(at);
            reserved = call
                .binding
                .as_ref()
                .map_or(Money::ZERO, |bound| bound.reserved);
        })?;
        match body.cause {
            IntentCause::Retry => self.ledger.settle(&key, &body.spend),
            IntentCause::Recovered => self.ledger.book_possible(&key),
            IntentCause::Dequeued | IntentCause::Approved => {}
        }
        self.ledger.reserve(key, reserved);
        Ok(())
    }

    fn call_finished(&mut self, body: &CallFinished) -> Applied {
        let mut failure = None;
        self.with_call(&body.call_id, |call| {
            let note = call
                .edited_by
                .as_ref()
                .map(texts::edited_note)
                .unwrap_or_default();
            let text = note + &body.text;
            call.state = CallState::Finished {
                kind: body.kind,
                text,
            };
            failure = Some((call.tool.clone(), call.arguments.clone()));
        })?;
        let key = call_key(&body.call_id);
        if body.kind == FinishKind::Uncertain {
            self.ledger.book_possible(&key);
        }
        self.ledger.settle(&key, &body.spend);
        if let Some((tool, arguments)) = failure {
            self.note_failure(&tool, &arguments, body.kind);
        }
        if body.fatal {
            self.stop.get_or_insert(Stop::Fatal {
                error: body.text.clone(),
            });
        }
        self.close_turn();
        Ok(())
    }

    fn note_failure(&mut self, tool: &str, arguments: &str, kind: FinishKind) {
        use leasehold_types::Digest;
        if kind.is_ok() {
            self.repeated_failure = None;
            return;
        }
        let same = Digest::of_parts(&[tool.as_bytes(), arguments.as_bytes()]);
        let before = self
            .repeated_failure
            .take()
            .filter(|(digest, _)| *digest == same);
        self.repeated_failure = Some((same, before.map_or(1, |(_, count)| count + 1)));
    }

    /// Once every call has its result, the answer and its results become history: HIST-1.
    fn close_turn(&mut self) {
        if self.calls.is_empty() || self.calls.iter().any(|call| !call.is_finished()) {
            return;
        }
        let calls = std::mem::take(&mut self.calls);
        let past = calls.iter().map(|call| {
            let provider_id = call.provider_id.as_deref();
            past_call(
                call.call_id.as_str(),
                provider_id,
                &call.tool,
                &call.arguments,
            )
        });
        self.say(past.collect());
        for call in calls {
            if let CallState::Finished { kind, text } = call.state {
                self.history.push(Message::ToolResult {
                    call_id: call.call_id.as_str().into(),
                    name: call.tool.into(),
                    text: text.into(),
                    is_error: !kind.is_ok(),
                });
            }
        }
    }

    /// The model's last answer becomes history.
    fn say(&mut self, calls: Arc<[PastCall]>) {
        let text = self.last_text.as_str().into();
        let echo = self.last_echo.as_deref().map(Arc::from);
        self.history.push(Message::Assistant { text, calls, echo });
    }

    fn pause_opened(&mut self, body: &PauseOpened, at: Timestamp) -> Applied {
        let expected = u32::try_from(self.pauses.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        if body.number != expected {
            return Err(format!(
                "pause {} is opened where {expected} is next",
                body.number
            ));
        }
        let send = match body.subject {
            PauseSubject::Approval { .. } => SendState::Due {
                attempt: 1,
                not_before: None,
            },
            PauseSubject::Uncertain { .. } | PauseSubject::Input => SendState::NotNeeded,
        };
        let opened = body.clone();
        let pause = Pause {
            opened,
            opened_at: at,
            state: PauseState::Open,
            send,
        };
        self.pauses.insert(body.number, pause);
        Ok(())
    }

    fn pause_sent(&mut self, body: &PauseSent, at: Timestamp) -> Applied {
        let pause = self
            .pauses
            .get_mut(&body.number)
            .ok_or("there is no such pause")?;
        pause.send = match &body.outcome {
            SendOutcome::Sent => SendState::Sent,
            SendOutcome::Undeliverable { .. } => SendState::Undeliverable,
            SendOutcome::Failed { .. } => {
                let attempt = body.attempt + 1;
                let not_before = Some(at.plus(super::outcome::backoff(body.attempt)));
                SendState::Due {
                    attempt,
                    not_before,
                }
            }
        };
        Ok(())
    }

    fn pause_resolved(&mut self, body: &PauseResolved, at: Timestamp) -> Applied {
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
        let subject = pause.opened.subject.clone();
        match (subject, &body.resolution) {
            (
                PauseSubject::Approval { call_id, .. } | PauseSubject::Uncertain { call_id },
                Resolution::Approved {
                    override_arguments,
                    arguments_digest,
                },
            ) => self.with_call(&call_id, |call| {
                call.state = CallState::Queued(Some(IntentCause::Approved));
                if let (Some(bound), Some(changed)) = (&mut call.binding, override_arguments) {
                    bound.arguments = *arguments_digest;
                    call.arguments.clone_from(changed);
                    call.edited_by.clone_from(&body.answered_by);
                }
            }),
            _ => Ok(()),
        }
    }

    fn with_call(&mut self, call_id: &CallId, change: impl FnOnce(&mut Call)) -> Applied {
        let call = self
            .calls
            .iter_mut()
            .find(|call| call.call_id == *call_id)
            .ok_or_else(|| format!("call {call_id} is not one of the turn's"))?;
        if call.is_finished() {
            return Err(format!("call {call_id} has its result already"));
        }
        change(call);
        Ok(())
    }
}
