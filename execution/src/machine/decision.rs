//! Decisions: who may answer what, which answer counts, and what follows from it.
//!
//! - DECIDE-1: a pause is resolved once; the first decision wins, a repeat is told the same, another one who decided.
//! - DECIDE-2: a secret opens nothing: the principal must be one that may answer.
//! - DECIDE-3: a decision is bound to the digest of what was asked; a mismatch changes nothing.

use leasehold_types::{Answerer, Digest, PauseId, Principal, Timestamp};

use super::state::{Call, Pause, PauseState};
use super::{Context, Deciding, Machine, Output};
use crate::record::{FinishKind, MessageReceived, PauseResolved, PauseSubject, Record, Resolution};
use crate::texts;

/// Which pause is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseKey {
    /// By its public number.
    Number(u32),
    /// By its secret.
    Secret(PauseId),
}

/// What somebody says to a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The call may run, with these arguments if any.
    Approve {
        /// Arguments as JSON text, in place of the model's.
        override_arguments: Option<String>,
    },
    /// The call may not run.
    Reject {
        /// What the model reads.
        reason: String,
    },
    /// What the person says next.
    Message {
        /// The text.
        text: String,
    },
}

/// A decision as it arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The pause.
    pub pause: PauseKey,
    /// Who decides, as authentication established it.
    pub by: Principal,
    /// What they decide.
    pub verdict: Verdict,
    /// The digest of what they were shown, where they tell it.
    pub shown: Option<Digest>,
    /// The letter that brought it.
    pub letter: Option<String>,
}

/// What the one who decided is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecisionReply {
    /// It counts.
    Counted,
    /// The same decision counted before.
    CountedBefore,
    /// Another decision counted before.
    AlreadyDecided {
        /// Who decided; nobody where it expired or was cancelled.
        by: Option<String>,
        /// When.
        at: Timestamp,
        /// What.
        what: String,
    },
    /// Its time is over.
    Expired,
    /// The execution is over.
    Closed,
    /// There is no such pause, or it is not for this principal's tenant.
    Unknown,
    /// The principal may not answer it.
    NotAllowed,
    /// What was shown is not what would run.
    Mismatch,
    /// The decision does not fit the pause; nothing changed.
    Invalid(String),
}

impl Machine {
    /// Applies a decision. The reply may be told once the output's entries are durable.
    pub fn decide_pause(
        &mut self,
        context: Context<'_>,
        decision: Decision,
    ) -> (DecisionReply, Output) {
        let mut deciding = self.decide(context);
        let reply = deciding.decision(decision);
        (reply, deciding.output)
    }

    /// What a decision would be told, without applying it: a look before the tree is claimed for it.
    #[must_use]
    pub fn judge(&self, now: Timestamp, decision: &Decision) -> Result<(), DecisionReply> {
        let pause = self.find(&decision.pause).ok_or(DecisionReply::Unknown)?;
        if !self.may_answer(pause, &decision.by) {
            return Err(DecisionReply::NotAllowed);
        }
        if let PauseState::Resolved { resolved, at } = &pause.state {
            return Err(already(
                resolved,
                *at,
                &decision.verdict,
                self.state.ended.is_some(),
            ));
        }
        if pause
            .opened
            .expires_at
            .is_some_and(|expires_at| expires_at <= now)
        {
            return Err(DecisionReply::Expired);
        }
        if decision
            .shown
            .is_some_and(|shown| shown != pause.opened.digest)
        {
            return Err(DecisionReply::Mismatch);
        }
        Ok(())
    }

    fn find(&self, key: &PauseKey) -> Option<&Pause> {
        match key {
            PauseKey::Number(number) => self.state.pauses.get(number),
            PauseKey::Secret(secret) => self
                .state
                .pauses
                .values()
                .find(|pause| pause.opened.pause_id == *secret),
        }
    }

    fn may_answer(&self, pause: &Pause, by: &Principal) -> bool {
        let Some(started) = &self.state.started else {
            return false;
        };
        match Answerer::from(pause.opened.answerer) {
            Answerer::ThreadOwner => started.owner.as_str() == by.id,
            Answerer::Channel => true,
        }
    }
}

/// What is told about a pause that has its decision.
fn already(
    resolved: &PauseResolved,
    at: Timestamp,
    verdict: &Verdict,
    ended: bool,
) -> DecisionReply {
    let same = match (&resolved.resolution, verdict) {
        (
            Resolution::Approved {
                override_arguments, ..
            },
            Verdict::Approve {
                override_arguments: now,
            },
        ) => now.is_none() || now == override_arguments,
        (Resolution::Rejected { .. }, Verdict::Reject { .. }) => true,
        (Resolution::Answered { answer }, Verdict::Message { text }) => {
            answer.as_str() == Some(text)
        }
        _ => false,
    };
    match &resolved.resolution {
        _ if same => DecisionReply::CountedBefore,
        Resolution::Expired => DecisionReply::Expired,
        Resolution::Cancelled if ended => DecisionReply::Closed,
        other => DecisionReply::AlreadyDecided {
            by: resolved.answered_by.as_ref().map(|by| by.id.clone()),
            at,
            what: word(other).to_owned(),
        },
    }
}

const fn word(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Approved { .. } => "approved",
        Resolution::Rejected { .. } => "rejected",
        Resolution::Answered { .. } => "answered",
        Resolution::Expired => "expired",
        Resolution::Cancelled => "cancelled",
    }
}

impl Deciding<'_> {
    fn decision(&mut self, decision: Decision) -> DecisionReply {
        match self.machine.judge(self.context.now, &decision) {
            Ok(()) => {}
            Err(DecisionReply::Expired) => {
                self.advance();
                return DecisionReply::Expired;
            }
            Err(reply) => return reply,
        }
        let Some(pause) = self
            .machine
            .find(&decision.pause)
            .map(|pause| pause.opened.clone())
        else {
            return DecisionReply::Unknown;
        };
        let reply = match pause.subject {
            PauseSubject::Approval { call_id, .. } => {
                self.about_call(pause.number, &call_id, decision, FinishKind::Rejected)
            }
            PauseSubject::Uncertain { call_id } => {
                self.about_call(pause.number, &call_id, decision, FinishKind::Uncertain)
            }
            PauseSubject::Input => self.about_input(pause.number, decision),
        };
        if reply == DecisionReply::Counted {
            self.advance();
        }
        reply
    }

    fn about_call(
        &mut self,
        number: u32,
        call_id: &leasehold_types::CallId,
        decision: Decision,
        refusal: FinishKind,
    ) -> DecisionReply {
        let Some(call) = self.state().call(call_id).cloned() else {
            return DecisionReply::Closed;
        };
        match decision.verdict {
            Verdict::Approve { override_arguments } => {
                let resolution = match self.approval(&call, override_arguments) {
                    Ok(resolution) => resolution,
                    Err(reply) => return reply,
                };
                self.resolve(number, resolution, decision.by, decision.letter);
                DecisionReply::Counted
            }
            Verdict::Reject { reason } => {
                let message = match refusal {
                    FinishKind::Uncertain => texts::uncertain(&decision.by, &reason),
                    _ => texts::rejected(&decision.by, &reason),
                };
                self.resolve(
                    number,
                    Resolution::Rejected { reason },
                    decision.by,
                    decision.letter,
                );
                self.finish_unrun(call_id.clone(), refusal, &message);
                DecisionReply::Counted
            }
            Verdict::Message { .. } => DecisionReply::Invalid(
                "[pause.answer-kind] the pause is about a call: approve or reject it".to_owned(),
            ),
        }
    }

    /// EXEC-4: the tool must still be the one that was asked about, and changed arguments are checked like the model's.
    fn approval(&self, call: &Call, changed: Option<String>) -> Result<Resolution, DecisionReply> {
        let bound = call.binding.as_ref().ok_or(DecisionReply::Closed)?;
        let tool = self
            .machine
            .plan
            .tools
            .get(&call.tool)
            .ok_or(DecisionReply::Mismatch)?;
        if tool.definition != bound.definition {
            return Err(DecisionReply::Mismatch);
        }
        let Some(changed) = changed else {
            let arguments_digest = bound.arguments;
            return Ok(Resolution::Approved {
                override_arguments: None,
                arguments_digest,
            });
        };
        let reviewed = tool
            .review
            .review(&changed)
            .map_err(DecisionReply::Invalid)?;
        Ok(Resolution::Approved {
            arguments_digest: reviewed.digest,
            override_arguments: (reviewed.digest != bound.arguments).then_some(reviewed.canonical),
        })
    }

    fn about_input(&mut self, number: u32, decision: Decision) -> DecisionReply {
        let Verdict::Message { text } = decision.verdict else {
            return DecisionReply::Invalid(
                "[pause.answer-kind] the execution waits for a message, not for a decision"
                    .to_owned(),
            );
        };
        let resolution = Resolution::Answered {
            answer: text.clone().into(),
        };
        self.resolve(number, resolution, decision.by.clone(), decision.letter);
        self.record(Record::MessageReceived(MessageReceived {
            number,
            text,
            by: decision.by,
        }));
        DecisionReply::Counted
    }

    fn resolve(
        &mut self,
        number: u32,
        resolution: Resolution,
        by: Principal,
        letter: Option<String>,
    ) {
        self.record(Record::PauseResolved(Box::new(PauseResolved {
            number,
            resolution,
            answered_by: Some(by),
            letter,
        })));
    }
}
