//! The words of a script: what the model, the tools, people and the world do to a bench.
//!
//! Commands, separated by `; `. A call is `id:tool` or `id:tool:json`; `refund` is `refund-tool`.
//!
//! - the model: `calls a:read b:write`, `says some text`, `cut a:read` (length stop), `cut-text`, `empty`, `model-fails`, `model-dies`
//! - a call: `ok a`, `error a`, `timeout a`, `panic a`, `retry a`, `unknown a`, `fatal a`, `late a` (attempt 1 once more)
//! - people: `approve 1`, `edit 1 {"n":2}`, `reject 1 why`, `message 1 text`, `cancel`, `retry-tree`
//! - channels: `sent 1`, `unsent 1`
//! - the world: `wait 5` (seconds, then a tick), `rest`, `crash`, `crash-alone`

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::machine::{CallReport, DecisionReply, ModelFailure, ModelReport, Verdict};
use leasehold_execution::record::FinishKind;
use leasehold_execution::{Context, Event, Record};
use leasehold_models::{ModelAnswer, ModelCall, Retry, StopReason};
use leasehold_types::CallId;

use crate::bench::Bench;
use crate::desk::{person, spend};

impl Bench {
    /// Runs each command; [`Bench::trace`] tells of the last.
    pub(crate) fn run(&mut self, script: &str) {
        for command in script.split("; ").filter(|command| !command.is_empty()) {
            let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
            if !(self.model_command(word, rest)
                || self.call_command(word, rest)
                || self.people_command(word, rest)
                || self.world_command(word, rest))
            {
                panic!("unknown command {command:?}");
            }
        }
    }

    fn model_command(&mut self, word: &str, rest: &str) -> bool {
        let calls: Vec<ModelCall> = match word {
            "calls" | "cut" => rest.split(' ').map(call).collect(),
            _ => vec![],
        };
        let (text, stop) = match word {
            "calls" => ("", StopReason::ToolCalls),
            "cut" => ("", StopReason::Length),
            "says" => (rest, StopReason::Finished),
            "cut-text" => ("half an ans", StopReason::Length),
            "empty" => ("", StopReason::Finished),
            "model-fails" => return self.model_failed(Retry::After(None)),
            "model-dies" => return self.model_failed(Retry::Never),
            _ => return false,
        };
        self.answer(text, calls, stop);
        true
    }

    /// The model call under way ends with an answer.
    pub(crate) fn answer(&mut self, text: &str, calls: Vec<ModelCall>, stop: StopReason) {
        let answer = ModelAnswer {
            text: text.into(),
            calls,
            echo: None,
            stop,
            usage: None,
            cost: None,
        };
        let (turn, attempt) = self.asked();
        let result = Ok((answer, spend(self.costs)));
        self.on(Event::Model(ModelReport {
            turn,
            attempt,
            result,
        }));
    }

    fn model_failed(&mut self, retry: Retry) -> bool {
        let (turn, attempt) = self.asked();
        let error = "[model.server] busy".to_owned();
        let result = Err(ModelFailure {
            error,
            retry,
            may_be_billed: true,
        });
        self.on(Event::Model(ModelReport {
            turn,
            attempt,
            result,
        }));
        true
    }

    /// The turn and the attempt of the last model call that was intended.
    pub(crate) fn asked(&self) -> (u32, u32) {
        let intended = self
            .journal
            .iter()
            .rev()
            .find_map(|entry| match &entry.record {
                Record::ModelIntended(body) => Some((body.turn, body.attempt)),
                _ => None,
            });
        intended.unwrap()
    }

    fn call_command(&mut self, word: &str, rest: &str) -> bool {
        let (kind, text) = match word {
            "ok" | "late" => (FinishKind::Ok, "done"),
            "error" | "retry" | "unknown" | "fatal" => (FinishKind::Error, "Tool error: no"),
            "timeout" => (FinishKind::TimedOut, "Tool error: timed out after 10 s"),
            "panic" => (FinishKind::Panicked, "Tool error: panicked"),
            _ => return false,
        };
        let call_id = CallId::new(rest);
        let attempt = self.machine.call(&call_id).map_or(1, |call| call.attempt);
        self.on(Event::Call(CallReport {
            call_id,
            attempt: if word == "late" { 1 } else { attempt },
            kind,
            text: text.to_owned(),
            whole_bytes: None,
            spend: if self.costs > 0 {
                vec![spend(self.costs)]
            } else {
                vec![]
            },
            retryable: word == "retry",
            outcome_unknown: word == "unknown",
            fatal: word == "fatal",
        }));
        true
    }

    fn people_command(&mut self, word: &str, rest: &str) -> bool {
        let (number, said) = rest.split_once(' ').unwrap_or((rest, ""));
        let verdict = match word {
            "approve" => Verdict::Approve {
                override_arguments: None,
            },
            "edit" => Verdict::Approve {
                override_arguments: Some(said.to_owned()),
            },
            "reject" => Verdict::Reject {
                reason: said.to_owned(),
            },
            "message" => Verdict::Message {
                text: said.to_owned(),
            },
            "cancel" => {
                let reason = "enough".to_owned();
                self.on(Event::Cancel {
                    by: person("dana"),
                    reason,
                });
                return true;
            }
            "retry-tree" => {
                self.on(Event::Retry { by: person("ops") });
                return true;
            }
            _ => return false,
        };
        let reply = self.decide(number.parse().unwrap(), person("dana"), verdict);
        assert_eq!(reply, DecisionReply::Counted, "{word} {rest}");
        true
    }

    fn world_command(&mut self, word: &str, rest: &str) -> bool {
        match word {
            "sent" | "unsent" => {
                let error = (word == "unsent").then(|| "no".to_owned());
                let number = rest.parse().unwrap();
                let attempt = self.sending(number);
                self.on(Event::Sent {
                    number,
                    attempt,
                    error,
                });
            }
            "wait" => {
                self.now = self.now.plus(Duration::from_secs(rest.parse().unwrap()));
                self.on(Event::Tick);
            }
            "rest" => {
                let random = Arc::clone(&self.random);
                let output = self.machine.rest(Context {
                    now: self.now,
                    random: &*random,
                });
                self.absorb(output);
            }
            "crash" => self.crash(false),
            "crash-alone" => self.crash(true),
            _ => return false,
        }
        true
    }

    /// The attempt that is due for a pause: one more than those that failed.
    fn sending(&self, number: u32) -> u32 {
        let failed = self.journal.iter().filter(
            |entry| matches!(&entry.record, Record::PauseSent(body) if body.number == number),
        );
        u32::try_from(failed.count()).unwrap() + 1
    }

    /// An answer to an attempt that was given up.
    pub(crate) fn late_answer(&mut self, turn: u32, attempt: u32, micros: u64) {
        let answer = ModelAnswer {
            text: "late".into(),
            calls: vec![],
            echo: None,
            stop: StopReason::Finished,
            usage: None,
            cost: None,
        };
        let result = Ok((answer, spend(micros)));
        self.on(Event::Model(ModelReport {
            turn,
            attempt,
            result,
        }));
    }
}

/// `id:tool` or `id:tool:json`; an empty id is none.
pub(crate) fn call(written: &str) -> ModelCall {
    let mut parts = written.splitn(3, ':');
    let (id, tool) = (parts.next().unwrap(), parts.next().unwrap());
    ModelCall {
        provider_id: (!id.is_empty()).then(|| id.into()),
        name: format!("{tool}-tool").into(),
        arguments: parts.next().unwrap_or("{}").into(),
    }
}
