//! Decisions: who may answer what, which answer counts, and what follows from it.
//!
//! - DECIDE-1: a pause is resolved once; the first decision wins, a repeat is told the same, another one who decided.
//! - DECIDE-2: a secret opens nothing: the principal must be one that may answer.
//! - DECIDE-3: a decision is bound to the digest of what was asked; a mismatch changes nothing.

use leasehold_types::{CallId, Digest, PauseId, Principal, Timestamp};

use super::state::Call;
use super::{CallState, Context, Deciding, Machine, Output};
use crate::record::{
    FinishKind, MessageReceived, PauseOpened, PauseResolved, PauseSubject, Record, Resolution,
};
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
}

impl Deciding<'_> {
    fn decision(&mut self, decision: Decision) -> DecisionReply {
        if let Err(reply) = self.machine.judge(self.context.now, &decision) {
            if reply == DecisionReply::Expired {
                self.advance();
            }
            return reply;
        }
        let pause = self.machine.find(&decision.pause);
        let Some(pause) = pause.map(|pause| pause.opened.clone()) else {
            return DecisionReply::Unknown;
        };
        let reply = match pause.subject.clone() {
            PauseSubject::Approval { call_id, .. } => {
                self.about_call(&pause, &call_id, decision, FinishKind::Rejected)
            }
            PauseSubject::Uncertain { call_id } => {
                self.about_call(&pause, &call_id, decision, FinishKind::Uncertain)
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
        pause: &PauseOpened,
        call_id: &CallId,
        decision: Decision,
        refusal: FinishKind,
    ) -> DecisionReply {
        let Some(call) = self.state().call(call_id) else {
            return DecisionReply::Closed;
        };
        let Decision {
            by,
            verdict,
            letter,
            ..
        } = decision;
        match verdict {
            Verdict::Approve { override_arguments } => {
                match self.approval(pause, call, override_arguments) {
                    Ok(resolution) => self.resolve(pause.number, resolution, by, letter),
                    Err(reply) => return reply,
                }
            }
            Verdict::Reject { reason } => {
                let message = refusal_text(refusal, &by, &reason);
                self.resolve(pause.number, Resolution::Rejected { reason }, by, letter);
                self.finish_unrun(call_id.clone(), refusal, &message);
            }
            Verdict::Message { .. } => {
                return invalid("the pause is about a call: approve or reject it");
            }
        }
        DecisionReply::Counted
    }

    /// EXEC-4: the tool must still be the one that was asked about, and changed arguments are checked like the model's.
    ///
    /// A call that may have run keeps its arguments: its key stands for them on the other side.
    fn approval(
        &self,
        pause: &PauseOpened,
        call: &Call,
        changed: Option<String>,
    ) -> Result<Resolution, DecisionReply> {
        let bound = call.binding.as_ref().ok_or(DecisionReply::Closed)?;
        let tool = self.machine.plan.tools.get(&call.tool);
        let tool = tool.ok_or(DecisionReply::Mismatch)?;
        if tool.definition != bound.definition || self.digest_of(bound) != pause.digest {
            return Err(DecisionReply::Mismatch);
        }
        let Some(changed) = changed else {
            return Ok(Resolution::Approved {
                override_arguments: None,
                arguments_digest: bound.arguments,
            });
        };
        if call.state == CallState::Uncertain {
            return Err(invalid(
                "the call may have run with its arguments: approve it as it is, or reject it",
            ));
        }
        let reviewed = tool.review.review(&changed);
        let reviewed = reviewed.map_err(DecisionReply::Invalid)?;
        Ok(Resolution::Approved {
            arguments_digest: reviewed.digest,
            override_arguments: (reviewed.digest != bound.arguments).then_some(reviewed.canonical),
        })
    }

    fn about_input(&mut self, number: u32, decision: Decision) -> DecisionReply {
        let Verdict::Message { text } = decision.verdict else {
            return invalid("the execution waits for a message, not for a decision");
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

/// What the model reads of a call that a person refused, or of whose repetition.
fn refusal_text(refusal: FinishKind, by: &Principal, reason: &str) -> String {
    if refusal == FinishKind::Uncertain {
        texts::uncertain(by, reason)
    } else {
        texts::rejected(by, reason)
    }
}

fn invalid(why: &str) -> DecisionReply {
    DecisionReply::Invalid(format!("[pause.answer-kind] {why}"))
}
