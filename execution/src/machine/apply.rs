//! The fold: what each record does to the state. The only place that changes it.
//!
//! - FOLD-1: a record that does not fit what came before it is refused: the journal is corrupt, and nothing is run from it.

mod calls;
mod model;
mod pauses;

use leasehold_models::Message;
use leasehold_types::CallId;

use super::state::{Call, CallState, Claim, ModelState, SendState, State, Stop};
use super::{Machine, OutOfPlaceError};
use crate::record::{CancelRequested, Claimed, Entry, Quarantined, Record, Retried, Started};

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
        let kind = entry.record.kind();
        let applied = self.state.fold(entry);
        applied.map_err(|why| OutOfPlaceError { kind, why })
    }
}

impl State {
    fn fold(&mut self, entry: &Entry) -> Applied {
        self.may_stand(entry)?;
        self.note_progress(&entry.record);
        let at = entry.at;
        match &entry.record {
            Record::Started(body) => self.started(body),
            Record::Claimed(body) => self.claimed(body),
            Record::ModelIntended(body) => self.model_intended(body),
            Record::ModelAnswered(body) => self.model_answered(body, at),
            Record::ModelFailed(body) => self.model_failed(body),
            Record::CallIntended(body) => self.call_intended(body, at),
            Record::CallFinished(body) => self.call_finished(body),
            Record::CallUncertain(body) => self.call_uncertain(body),
            Record::PauseOpened(body) => self.pause_opened(body, at),
            Record::PauseSent(body) => self.pause_sent(body, at),
            Record::PauseResolved(body) => self.pause_resolved(body, at),
            Record::CancelRequested(body) => self.cancel_requested(body),
            Record::MessageReceived(body) => self.message_received(body),
            Record::LateOutcome(body) => self.late_outcome(body),
            Record::Rested(_) => {
                self.resting = true;
                Ok(())
            }
            Record::Released(_) => Ok(()),
            Record::Quarantined(body) => self.quarantine(body),
            Record::Retried(body) => self.retried(body),
            Record::Ended(body) => {
                self.ended = Some((**body).clone());
                Ok(())
            }
        }
    }

    /// What must be true of the state for a record to stand next.
    fn may_stand(&self, entry: &Entry) -> Applied {
        if entry.execution != 0 {
            return Err(format!(
                "it is of execution {} and not of the root",
                entry.execution
            ));
        }
        if self.ended.is_some() {
            return Err("the execution has ended".to_owned());
        }
        match (&entry.record, &self.started) {
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
            let before = self.claim.epoch;
            return Err(format!("epoch {} does not follow {before}", body.epoch));
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
        self.calls.iter_mut().for_each(cut_off);
        for pause in self.pauses.values_mut() {
            if let SendState::InFlight { attempt } = pause.send {
                let not_before = None;
                pause.send = SendState::Due {
                    attempt,
                    not_before,
                };
            }
        }
        Ok(())
    }

    fn cancel_requested(&mut self, body: &CancelRequested) -> Applied {
        let (by, reason) = (body.by.clone(), body.reason.clone());
        self.stop = Some(Stop::Cancel { by, reason });
        Ok(())
    }

    fn quarantine(&mut self, body: &Quarantined) -> Applied {
        if self.quarantined.is_some() {
            return Err("the tree is quarantined already".to_owned());
        }
        self.quarantined = Some(body.cause.clone());
        Ok(())
    }

    fn retried(&mut self, _: &Retried) -> Applied {
        if self.quarantined.take().is_none() {
            return Err("the tree is not quarantined".to_owned());
        }
        self.claim.deaths = 0;
        Ok(())
    }
}

/// What may have run under the former owner has an unknown outcome now.
fn cut_off(call: &mut Call) {
    match call.state {
        CallState::Running | CallState::Queued(None) => call.state = CallState::Interrupted,
        CallState::Queued(Some(_))
        | CallState::Interrupted
        | CallState::Asking
        | CallState::Uncertain
        | CallState::Finished { .. } => {}
    }
}
