//! What comes next: after each event, until nothing can be done without the outside.

use leasehold_models::Message;
use leasehold_types::Money;

use super::claim::is_due;
use super::state::{ModelState, SendState};
use super::{Deciding, Step};
use crate::plan::AfterAnswer;
use crate::record::{AnswererWire, ModelIntended, Outcome, PauseOpened, PauseSubject, Record};

/// Unusable answers in a row that the model may repair.
const REPAIRS_MAX: u32 = 2;

impl Deciding<'_> {
    /// Does everything that can be done now. Called after each event, and after a claim.
    pub(super) fn advance(&mut self) {
        if self.state().ended.is_some() {
            return;
        }
        if let Some(stop) = self.state().stop.clone() {
            self.wind_down(&stop);
            return;
        }
        if self.state().quarantined.is_some() {
            return;
        }
        self.expire();
        self.park_uncertain();
        self.dispatch();
        self.send_due();
        match self.state().model.clone() {
            ModelState::Waiting { attempt, retry_at } if retry_at <= self.context.now => {
                self.ask_again(attempt);
            }
            ModelState::Failed { error } => self.end(Outcome::Failed { error }),
            ModelState::Idle if self.state().calls.is_empty() => self.after_turn(),
            ModelState::Idle
            | ModelState::InFlight { .. }
            | ModelState::Interrupted { .. }
            | ModelState::Waiting { .. } => {}
        }
    }

    /// The turn is closed: the answer is the end, or the model is asked again.
    fn after_turn(&mut self) {
        if let Some(error) = self.limit_reached() {
            self.at_limit(error);
        } else if self.is_answered() {
            self.final_answer();
        } else {
            self.ask(false);
        }
    }

    fn is_answered(&self) -> bool {
        let said = self.state().history.messages().last();
        matches!(said, Some(Message::Assistant { .. }))
    }

    fn final_answer(&mut self) {
        match self.machine.plan.after_answer {
            AfterAnswer::End => {
                let answer = self.state().last_text.clone();
                self.end(Outcome::Completed { answer });
            }
            AfterAnswer::AwaitMessage => {
                if self.state().open_pauses().next().is_none() {
                    self.await_message();
                }
            }
        }
    }

    fn await_message(&mut self) {
        let opened = PauseOpened {
            number: self.state().next_pause(),
            pause_id: leasehold_types::PauseId::new(self.context.random),
            subject: PauseSubject::Input,
            answerer: AnswererWire::ThreadOwner,
            digest: self.machine.plan.config_hash,
            expires_at: None,
        };
        self.record(Record::PauseOpened(Box::new(opened)));
    }

    /// The limit that is reached, if one is.
    fn limit_reached(&self) -> Option<String> {
        let reached = if self.state().tools_off {
            Some("the last turn without tools is over".to_owned())
        } else {
            self.reply_limit().or_else(|| self.loop_limit())
        };
        reached.map(|text| format!("[limit.exceeded] LimitExceededError: {text}"))
    }

    fn reply_limit(&self) -> Option<String> {
        let (bytes, max) = (
            self.state().last_text.len() as u64,
            self.machine.plan.limits.reply_bytes,
        );
        (bytes > max).then(|| format!("an answer is longer than the limit of {max} bytes"))
    }

    /// Limits of going on: an answer that is the last one meets none of them. They hold from the last message of a person.
    fn loop_limit(&self) -> Option<String> {
        if self.is_answered() {
            return None;
        }
        let (limits, state) = (&self.machine.plan.limits, self.state());
        let tool_calls = state.counts.tool_calls - state.since.tool_calls;
        let turns = state.turn - state.since.turn;
        let repeated = state.repeated_failure.map_or(0, |(_, count)| count);
        if tool_calls > limits.tool_calls {
            let max = limits.tool_calls;
            Some(format!(
                "{tool_calls} tool calls were asked for, the limit is {max}"
            ))
        } else if repeated >= limits.identical_failing_calls {
            Some(format!("the same call failed {repeated} times in a row"))
        } else if turns >= limits.model_calls {
            Some(format!(
                "{turns} model calls were made, the limit is {}",
                limits.model_calls
            ))
        } else {
            None
        }
    }

    fn at_limit(&mut self, error: String) {
        if self.machine.plan.limits.soft_landing && !self.state().tools_off {
            self.ask(true);
            return;
        }
        let last = &self.state().last_text;
        let partial = (self.state().tools_off && !last.is_empty()).then(|| last.clone());
        self.end(Outcome::LimitExceeded { error, partial });
    }

    fn ask(&mut self, tools_off: bool) {
        if self.state().counts.repairs > REPAIRS_MAX {
            let error = "[model.answer-unusable] the model gave no usable answer after repairs";
            self.end(Outcome::Failed {
                error: error.to_owned(),
            });
            return;
        }
        let turn = self.state().turn + 1;
        self.intend_model(turn, 1, tools_off);
    }

    /// Asks for the answer of the same turn once more.
    pub(super) fn ask_again(&mut self, attempt: u32) {
        let (turn, tools_off) = (self.state().turn, self.state().tools_off);
        self.intend_model(turn, attempt + 1, tools_off);
    }

    fn intend_model(&mut self, turn: u32, attempt: u32, tools_off: bool) {
        let reserved = match self.reserve_model() {
            Ok(reserved) => reserved,
            Err(outcome) => return self.end(outcome),
        };
        self.record(Record::ModelIntended(ModelIntended {
            place: self.place(),
            turn,
            attempt,
            model: self.machine.plan.model.clone(),
            reserved,
            tools_off,
        }));
        self.step(Step::AskModel { turn, attempt });
    }

    /// What the next model call may cost, if the budget covers it.
    fn reserve_model(&self) -> Result<Money, Outcome> {
        let (plan, state) = (&self.machine.plan, self.state());
        let reservation = self.machine.reservation();
        if state.ledger.limit().is_none() {
            return Ok(reservation.money.unwrap_or(Money::ZERO));
        }
        let amount = reservation
            .money_for(&plan.model)
            .map_err(|error| Outcome::Failed {
                error: error.to_string(),
            })?;
        let covered = state.ledger.covers(amount);
        covered.map_err(|error| Outcome::BudgetExceeded {
            error: error.to_string(),
        })?;
        Ok(amount)
    }

    fn send_due(&mut self) {
        let now = self.context.now;
        let due: Vec<(u32, u32)> = self
            .state()
            .open_pauses()
            .filter_map(|pause| match pause.send {
                SendState::Due {
                    attempt,
                    not_before,
                } if is_due(not_before, now) => Some((pause.opened.number, attempt)),
                SendState::Due { .. }
                | SendState::NotNeeded
                | SendState::InFlight { .. }
                | SendState::Sent
                | SendState::Undeliverable => None,
            })
            .collect();
        for (number, attempt) in due {
            if let Some(pause) = self.machine.state.pauses.get_mut(&number) {
                // Durable is that it is due; only this owner needs to know that it is being sent.
                pause.send = SendState::InFlight { attempt };
            }
            self.step(Step::SendQuestion { number, attempt });
        }
    }
}
