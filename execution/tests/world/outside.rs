//! What is outside: a model and tools that bill, remember keys, and see what reaches them.

use std::sync::Arc;

use leasehold_execution::machine::{CallReport, CallView, ModelFailure, ModelReport};
use leasehold_execution::record::{FinishKind, PauseSubject, Resolution};
use leasehold_execution::{Event, Machine, Record, Step};
use leasehold_models::{Message, ModelAnswer, ModelCall, ModelRequest, Retry, StopReason};
use leasehold_types::{CallId, Digest, Effect, Money, PriceSource, SpendEntry, TokenUsage};

use super::scenario::{CallSpec, ToolSpec, tool_name};
use super::{Crash, World};

impl World {
    /// Carries out a step, and says what came of it.
    pub(super) fn carry_out(
        &mut self,
        machine: &Machine,
        step: &Step,
    ) -> Result<Option<Event>, Crash> {
        self.act()?; // before the effect
        let aborted = self.count(|record| matches!(record, Record::CancelRequested(_))) > 0;
        let event = match step {
            Step::AskModel { turn, attempt } if aborted => Some(given_up(*turn, *attempt)),
            Step::AskModel { turn, attempt } => Some(self.model(machine, *turn, *attempt)),
            Step::RunCall {
                call_id, attempt, ..
            } if aborted => Some(not_made(call_id, *attempt)),
            Step::RunCall {
                call_id, attempt, ..
            } => Some(self.tool(machine, call_id, *attempt)),
            Step::SendQuestion { number, attempt } => Some(Event::Sent {
                number: *number,
                attempt: *attempt,
                error: None,
            }),
            Step::Abort(_) => None,
        };
        self.act()?; // after the effect, before its outcome is journaled
        Ok(event)
    }

    fn model(&mut self, machine: &Machine, turn: u32, attempt: u32) -> Event {
        let (messages, _) = machine.conversation();
        let mut request = ModelRequest::new("", vec![]);
        request.messages = messages;
        if let Err(error) = request.check_history() {
            self.violations.push(format!("EXEC-3: {error}"));
        }
        let answered =
            |record: &Record| matches!(record, Record::ModelAnswered(body) if body.turn == turn);
        if self.count(answered) > 0 {
            self.violations
                .push(format!("EXEC-2: turn {turn} was asked again"));
        }
        let asked = self.model_calls.entry(turn).or_default();
        *asked += 1;
        self.billed += 5;
        let result = if *asked <= self.scenario.model_hiccups {
            Err(busy(true))
        } else {
            let answer = self.answer(turn, &request.messages);
            Ok((answer, spend("agent:agent", "scripted/script", 5)))
        };
        Event::Model(ModelReport {
            turn,
            attempt,
            result,
        })
    }

    fn answer(&self, turn: u32, messages: &[Message]) -> ModelAnswer {
        let turns = &self.scenario.turns;
        let calls = turns.get(turn as usize - 1).cloned().unwrap_or_default();
        let text = if calls.is_empty() {
            let results = messages.iter().filter_map(|message| match message {
                Message::ToolResult { call_id, text, .. } => Some(format!("{call_id}={text};")),
                Message::User { .. } | Message::Assistant { .. } => None,
            });
            format!("done {}", results.collect::<String>())
        } else {
            String::new()
        };
        ModelAnswer {
            text: text.into(),
            calls: calls.into_iter().map(call).collect(),
            stop: StopReason::Finished,
            usage: None,
            cost: None,
            echo: None,
        }
    }

    fn tool(&mut self, machine: &Machine, call_id: &CallId, attempt: u32) -> Event {
        let view = machine
            .call(call_id)
            .expect("a step's call is one of the turn's");
        self.watch(&view);
        let index: usize = view.tool[1..view.tool.len() - 5].parse().unwrap();
        let spec = self.scenario.tools[index].clone();
        let arrivals = self.arrivals.entry(call_id.clone()).or_default();
        *arrivals += 1;
        let hiccup = *arrivals <= spec.hiccups;
        let cost = if hiccup {
            0
        } else {
            self.affect(&spec, view.key.to_string())
        };
        self.billed += cost;
        let (kind, text) = match (hiccup, spec.fails) {
            (true, _) => (FinishKind::Error, "Tool error: try again".to_owned()),
            (false, true) => (FinishKind::Error, "Tool error: no".to_owned()),
            (false, false) => (FinishKind::Ok, format!("ok {}", view.arguments)),
        };
        let spent = (cost > 0).then(|| spend("tool:t", "service", cost));
        Event::Call(CallReport {
            spend: spent.into_iter().collect(),
            retryable: hiccup,
            ..report(call_id, attempt, kind, text)
        })
    }

    /// What must hold of every call that reaches a tool.
    fn watch(&mut self, view: &CallView) {
        let call_id = &view.call_id;
        let finished = |record: &Record| matches!(record, Record::CallFinished(body) if body.call_id == *call_id);
        if self.count(finished) > 0 {
            self.violations
                .push(format!("EXEC-2: call {call_id} ran again"));
        }
        if Digest::of(view.arguments.as_bytes()) != view.arguments_digest {
            self.violations
                .push(format!("EXEC-4: call {call_id} has other arguments"));
        }
        if self
            .approved(call_id)
            .is_some_and(|approved| approved != Some(view.arguments_digest))
        {
            self.violations
                .push(format!("EXEC-4: call {call_id} is not what was approved"));
        }
    }

    /// The digest that was approved for a call that had to be asked about.
    fn approved(&self, call_id: &CallId) -> Option<Option<Digest>> {
        let asked = self.entries.iter().find_map(|entry| match &entry.record {
            Record::PauseOpened(body) => match &body.subject {
                PauseSubject::Approval { call_id: asked, .. } if asked == call_id => {
                    Some(body.number)
                }
                _ => None,
            },
            _ => None,
        })?;
        Some(self.entries.iter().find_map(|entry| match &entry.record {
            Record::PauseResolved(body) if body.number == asked => match &body.resolution {
                Resolution::Approved {
                    arguments_digest, ..
                } => Some(*arguments_digest),
                _ => None,
            },
            _ => None,
        }))
    }

    /// The effect outside, and what it costs.
    fn affect(&mut self, spec: &ToolSpec, key: String) -> u64 {
        let is_new = match spec.effect {
            Effect::Pure | Effect::Read => false,
            Effect::Idempotent { .. } => self.applied.insert(key, 1).is_none(),
            Effect::Write => {
                *self.writes.entry(key).or_default() += 1;
                true
            }
        };
        if is_new { 7 } else { 0 }
    }
}

fn call(spec: CallSpec) -> ModelCall {
    ModelCall {
        provider_id: spec.provider_id.map(Arc::from),
        name: tool_name(spec.tool).into(),
        arguments: if spec.malformed {
            "{\"n\":".into()
        } else {
            format!("{{\"n\":{}}}", spec.argument).into()
        },
    }
}

fn busy(may_be_billed: bool) -> ModelFailure {
    ModelFailure {
        error: "[model.server] busy".to_owned(),
        retry: Retry::After(None),
        may_be_billed,
    }
}

/// A model call whose signal was aborted before it left.
fn given_up(turn: u32, attempt: u32) -> Event {
    let result = Err(busy(false));
    Event::Model(ModelReport {
        turn,
        attempt,
        result,
    })
}

/// A call whose signal was aborted before it began.
fn not_made(call_id: &CallId, attempt: u32) -> Event {
    let text = "Tool error: cancelled".to_owned();
    Event::Call(report(call_id, attempt, FinishKind::Cancelled, text))
}

fn report(call_id: &CallId, attempt: u32, kind: FinishKind, text: String) -> CallReport {
    CallReport {
        call_id: call_id.clone(),
        attempt,
        kind,
        text,
        whole_bytes: None,
        spend: vec![],
        retryable: false,
        outcome_unknown: false,
        fatal: false,
    }
}

fn spend(caller: &str, service: &str, micros: u64) -> SpendEntry {
    SpendEntry {
        caller: caller.to_owned(),
        service: service.to_owned(),
        tokens: TokenUsage::default(),
        money: Money::from_micros(micros),
        source: PriceSource::Declared,
    }
}
