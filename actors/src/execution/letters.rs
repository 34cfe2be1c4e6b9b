//! What others say to the execution: letters from its inbox, and rules that answer its questions.

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{Decision, DecisionReply, PauseKey, Verdict};
use leasehold_execution::{Context, Event, Machine, Output};
use leasehold_types::{Principal, PrincipalKind, Tenant};

use super::{Arrived, Handled, Settled, State};
use crate::call::Decided;

impl State {
    pub(super) fn letter(&mut self, arrived: Arrived) -> Handled {
        if self.is_over()? {
            // The tree's inbox is read again once its actors are gone.
            return Ok(());
        }
        let context = Context {
            now: self.deps.clock.now(),
            random: &*self.deps.random,
        };
        let Arrived { seq, id, body } = arrived;
        let (reply, output) = apply_letter(&mut self.machine, context, body, &self.tenant);
        self.commit(output, vec![Settled { seq, id, reply }])
    }

    /// A question was sent, was decided by a rule, or failed.
    pub(super) fn sent(
        &mut self,
        number: u32,
        attempt: u32,
        error: Option<String>,
        decided: Decided,
    ) -> Handled {
        if self.is_over()? {
            return Ok(());
        }
        let (mut output, mut error) = (Output::default(), error);
        if let Some((rule, verdict)) = decided {
            let refused;
            (refused, output) = self.decided(number, rule, verdict);
            error = error.or(refused);
        }
        let context = Context {
            now: self.deps.clock.now(),
            random: &*self.deps.random,
        };
        let event = Event::Sent {
            number,
            attempt,
            error,
        };
        let reported = self.machine.on(context, event);
        output.entries.extend(reported.entries);
        output.steps.extend(reported.steps);
        self.commit(output, vec![])
    }

    /// Applies a rule's decision like anybody's. One that does not count is a send that failed.
    fn decided(&mut self, number: u32, rule: String, verdict: Verdict) -> (Option<String>, Output) {
        let question = self.machine.question(number);
        let decision = Decision {
            pause: PauseKey::Number(number),
            by: Principal {
                id: rule,
                kind: PrincipalKind::Rule,
                tenant: self.tenant.clone(),
            },
            verdict,
            shown: question.map(|question| question.digest),
            letter: None,
        };
        let context = Context {
            now: self.deps.clock.now(),
            random: &*self.deps.random,
        };
        let (reply, output) = self.machine.decide_pause(context, decision);
        let refused = match reply {
            DecisionReply::Invalid(why) => {
                Some(format!("the channel's decision is invalid: {why}"))
            }
            DecisionReply::NotAllowed => {
                Some("the channel's rule may not answer this question".to_owned())
            }
            DecisionReply::Mismatch => {
                Some("what the channel's rule decided is not what would run".to_owned())
            }
            // Somebody or the time was faster: the question needs no answer any more.
            DecisionReply::Counted
            | DecisionReply::CountedBefore
            | DecisionReply::AlreadyDecided { .. }
            | DecisionReply::Expired
            | DecisionReply::Closed
            | DecisionReply::Unknown => None,
        };
        (refused, output)
    }
}

/// Applies a letter to a machine, and says what its sender is told once the output is durable.
pub(crate) fn apply_letter(
    machine: &mut Machine,
    context: Context<'_>,
    body: LetterBody,
    tenant: &Tenant,
) -> (DecisionReply, Output) {
    let ended = machine.ended().is_some();
    match body {
        // Another tenant learns nothing, not even that there is such a pause.
        LetterBody::Decide(decision) if decision.by.tenant != *tenant => {
            (DecisionReply::Unknown, Output::default())
        }
        LetterBody::Decide(decision) => machine.decide_pause(context, decision),
        LetterBody::Cancel { by, .. } | LetterBody::Retry { by } if by.tenant != *tenant => {
            (DecisionReply::Unknown, Output::default())
        }
        LetterBody::Cancel { .. } | LetterBody::Retry { .. } if ended => {
            (DecisionReply::Closed, Output::default())
        }
        LetterBody::Cancel { by, reason } => {
            let output = machine.on(context, Event::Cancel { by, reason });
            (DecisionReply::Counted, output)
        }
        LetterBody::Retry { by } => {
            let output = machine.on(context, Event::Retry { by });
            (DecisionReply::Counted, output)
        }
    }
}
