//! The person at a worker: approves what is asked, and looks outside before a call of unknown outcome is repeated.

use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::{Agents, Node, PauseTarget, load};
use leasehold_execution::Machine;
use leasehold_execution::machine::{DecisionReply, QuestionView, Verdict};
use leasehold_execution::record::PauseSubject;
use leasehold_types::{ExecutionId, Principal, PrincipalKind};

use crate::agent::Parts;
use crate::outside::Outside;
use crate::worker::or_end;

/// How long an answer may take to be applied, on the fast clock.
const WAIT: Duration = Duration::from_secs(1_200);

pub(crate) fn principal(name: &str) -> Principal {
    Principal::new(name, PrincipalKind::Person)
}

/// Somebody who answers the questions of one execution.
pub(crate) struct Desk<'a> {
    pub(crate) node: &'a Node,
    pub(crate) parts: &'a Parts,
    pub(crate) outside: &'a Arc<Outside>,
    pub(crate) execution: ExecutionId,
    pub(crate) agent: &'a str,
}

impl Desk<'_> {
    /// Answers every question that is open now.
    pub(crate) async fn answer_all(&self) {
        let machine = self.machine().await;
        for question in machine.questions() {
            let verdict = self.verdict(&machine, &question);
            let target = PauseTarget::Reference(question.reference);
            let shown = Some(question.digest);
            let decided = self
                .node
                .decide(target, principal("boss"), verdict, shown, WAIT)
                .await;
            let reply = or_end(decided).await;
            let is_over = matches!(
                reply,
                DecisionReply::Counted
                    | DecisionReply::CountedBefore
                    | DecisionReply::AlreadyDecided { .. }
                    | DecisionReply::Closed
            );
            assert!(is_over, "{}: {reply:?}", question.reference);
        }
    }

    async fn machine(&self) -> Machine {
        let agent = self.parts.agent(self.agent, self.agent).unwrap();
        let tree = self.execution.tree();
        let loaded = or_end(load(&*self.node.deps().store, tree).await).await;
        let mut machine = Machine::new(tree, Arc::clone(&agent.plan));
        for frame in &loaded.frames {
            machine.replay(&frame.entries).unwrap();
        }
        machine
    }

    /// A call of unknown outcome runs again only where its effect is not there.
    fn verdict(&self, machine: &Machine, question: &QuestionView) -> Verdict {
        let approve = Verdict::Approve {
            override_arguments: None,
        };
        let PauseSubject::Uncertain { call_id } = &question.subject else {
            return approve;
        };
        let key = machine.call(call_id).unwrap().key;
        let effects = self.outside.effects();
        if effects.iter().any(|effect| effect.key == key.as_str()) {
            let reason = "it is there".to_owned();
            return Verdict::Reject { reason };
        }
        approve
    }
}
