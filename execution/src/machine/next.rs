//! What comes next: after each event, until nothing can be done without the outside.

use leasehold_models::{Message, Reservation};
use leasehold_types::{AbortReason, Money};

use super::claim::is_due;
use super::state::{ModelState, PauseState, SendState, Stop};
use super::{CallState, Deciding, Step};
use crate::plan::AfterAnswer;
use crate::record::{
    AnswererWire, Ended, FinishKind, ModelIntended, Outcome, PauseOpened, PauseResolved,
    PauseSubject, Record, Resolution,
};
use crate::texts;

/// Unusable answers in a row that the model may repair.
const REPAIRS_MAX: u32 = 2;

impl Deciding<'_> {
    /// Does everything that can be done now. Called after each event, and after a claim.
    pub(super) fn advance(&mut self) {
        if self.state().ended.is_some() || self.state().quarantined.is_some() {
            return;
        }
        if let Some(stop) = self.state().stop.clone() {
            self.wind_down(&stop);
            return;
        }
        self.expire();
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
        let answered = matches!(
            self.state().history.messages().last(),
            Some(Message::Assistant { .. })
        );
        if let Some(error) = self.limit_reached() {
            self.at_limit(error);
        } else if !answered {
            self.ask(false);
        } else {
            self.final_answer();
        }
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
            number: self.next_pause(),
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
        let (limits, state) = (&self.machine.plan.limits, self.state());
        let answered = matches!(
            state.history.messages().last(),
            Some(Message::Assistant { .. })
        );
        let repeated = state.repeated_failure.map_or(0, |(_, count)| count);
        let text = if state.tools_off {
            "the last turn without tools is over".to_owned()
        } else if state.last_text.len() as u64 > limits.reply_bytes {
            format!(
                "an answer has {} bytes, the limit is {}",
                state.last_text.len(),
                limits.reply_bytes
            )
        } else if answered {
            return None;
        } else if state.counts.tool_calls > limits.tool_calls {
            let (asked, limit) = (state.counts.tool_calls, limits.tool_calls);
            format!("{asked} tool calls were asked for, the limit is {limit}")
        } else if repeated >= limits.identical_failing_calls {
            format!("the same call failed {repeated} times in a row")
        } else if state.counts.model_calls >= limits.model_calls {
            format!(
                "{} model calls were made, the limit is {}",
                state.counts.model_calls, limits.model_calls
            )
        } else {
            return None;
        };
        Some(format!("[limit.exceeded] LimitExceededError: {text}"))
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
        let reserved = match self.reservation() {
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
    fn reservation(&self) -> Result<Money, Outcome> {
        let (plan, state) = (&self.machine.plan, self.state());
        let items = state.history.len() + plan.tools.len() as u64;
        let bytes = plan.fixed_bytes.saturating_add(state.history.bytes());
        let reservation = Reservation::counted(items, bytes, plan.max_output_tokens, plan.price);
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
                _ => None,
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

    /// Pauses whose time is over end, and so do the calls that wait for them.
    pub(super) fn expire(&mut self) {
        let now = self.context.now;
        let over: Vec<(u32, PauseSubject, std::time::Duration)> = self
            .state()
            .open_pauses()
            .filter_map(|pause| {
                let expires_at = pause.opened.expires_at.filter(|at| *at <= now)?;
                let open_for = expires_at.since(pause.opened_at);
                Some((pause.opened.number, pause.opened.subject.clone(), open_for))
            })
            .collect();
        for (number, subject, open_for) in over {
            self.close_pause(number, Resolution::Expired);
            if let PauseSubject::Approval { call_id, .. } = subject {
                self.finish_unrun(call_id, FinishKind::Expired, &texts::expired(open_for));
            }
        }
    }

    fn close_pause(&mut self, number: u32, resolution: Resolution) {
        self.record(Record::PauseResolved(Box::new(PauseResolved {
            number,
            resolution,
            answered_by: None,
            letter: None,
        })));
    }

    /// Ends a stopped execution once nothing of it runs any more.
    fn wind_down(&mut self, stop: &Stop) {
        let state = self.state();
        let runs = matches!(state.model, ModelState::InFlight { .. })
            || state
                .calls
                .iter()
                .any(|call| call.state == CallState::Running)
            || state.pauses.values().any(|pause| {
                matches!(pause.state, PauseState::Open)
                    && matches!(pause.send, SendState::InFlight { .. })
            });
        if runs {
            return;
        }
        match stop {
            Stop::Cancel { by, reason } => {
                self.finish_all(&AbortReason::Cancelled { by: by.id.clone() });
                self.end(Outcome::Cancelled {
                    by: by.id.clone(),
                    reason: reason.clone(),
                });
            }
            Stop::Fatal { error } => {
                self.finish_all(&AbortReason::Stopped(
                    "a tool ended the execution".to_owned(),
                ));
                self.end(Outcome::Failed {
                    error: error.clone(),
                });
            }
        }
    }

    /// The end: open pauses close with it.
    pub(super) fn end(&mut self, outcome: Outcome) {
        let open: Vec<u32> = self
            .state()
            .open_pauses()
            .map(|pause| pause.opened.number)
            .collect();
        for number in open {
            self.close_pause(number, Resolution::Cancelled);
        }
        let ledger = &self.state().ledger;
        let (settled, possible, tokens) = (ledger.settled(), ledger.possible(), ledger.tokens());
        self.record(Record::Ended(Box::new(Ended {
            outcome,
            settled,
            possible,
            tokens,
        })));
    }
}
