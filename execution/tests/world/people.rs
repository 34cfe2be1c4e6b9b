//! The people: they answer what is open, tell the truth about what they look up, and cancel.

use leasehold_execution::Machine;
use leasehold_execution::Record;
use leasehold_execution::machine::{Decision, PauseKey, QuestionView, Verdict};
use leasehold_execution::record::PauseSubject;
use leasehold_types::{Principal, PrincipalKind};

use super::World;
use super::scenario::Answer;

/// What somebody sends to a tree at rest.
#[derive(Debug, Clone)]
pub(crate) enum Letter {
    Decide(Decision),
    Cancel,
}

pub(crate) fn boss() -> Principal {
    Principal::new("boss", PrincipalKind::Person)
}

fn reject(reason: &str) -> Verdict {
    let reason = reason.to_owned();
    Verdict::Reject { reason }
}

const APPROVE: Verdict = Verdict::Approve {
    override_arguments: None,
};

impl World {
    /// What somebody does about one of the open questions; nothing where nobody will answer any of them.
    pub(crate) fn letter(&self, machine: &Machine) -> Option<Letter> {
        let answered: Vec<(QuestionView, Option<Verdict>)> = machine
            .questions()
            .filter(|question| !self.is_ignored(question))
            .map(|question| {
                let verdict = self.verdict(machine, &question);
                (question, verdict)
            })
            .collect();
        if answered.is_empty() {
            return None;
        }
        let (question, verdict) = answered[self.pick(answered.len())].clone();
        let Some(verdict) = verdict else {
            return Some(Letter::Cancel);
        };
        let by = match question.subject {
            PauseSubject::Input => Principal::new("dana", PrincipalKind::Person),
            PauseSubject::Approval { .. } | PauseSubject::Uncertain { .. } => boss(),
        };
        Some(Letter::Decide(Decision {
            pause: PauseKey::Number(question.reference.number),
            by,
            verdict,
            shown: Some(question.digest),
            letter: None,
        }))
    }

    fn is_ignored(&self, question: &QuestionView) -> bool {
        match &question.subject {
            PauseSubject::Approval { call_id, .. } => {
                self.scenario.answer(call_id) == Answer::Ignore
            }
            PauseSubject::Uncertain { .. } | PauseSubject::Input => false,
        }
    }

    /// What is said to a question; nothing where the person has had enough.
    fn verdict(&self, machine: &Machine, question: &QuestionView) -> Option<Verdict> {
        let verdict = match &question.subject {
            PauseSubject::Approval { call_id, .. } => match self.scenario.answer(call_id) {
                Answer::Approve | Answer::Ignore => APPROVE,
                Answer::Edit => Verdict::Approve {
                    override_arguments: Some("{ \"edited\": true }".to_owned()),
                },
                Answer::Reject => reject("no"),
            },
            // The person looks up whether the effect is there, and tells the truth.
            PauseSubject::Uncertain { call_id } => {
                let key = machine.call(call_id).unwrap().key.to_string();
                if self.writes.contains_key(&key) {
                    reject("it is there")
                } else {
                    APPROVE
                }
            }
            PauseSubject::Input => {
                let said = self.count(|record| matches!(record, Record::MessageReceived(_)));
                if said >= self.scenario.messages.unwrap_or(0) {
                    return None;
                }
                Verdict::Message {
                    text: format!("and {said}?"),
                }
            }
        };
        Some(verdict)
    }
}
