//! Executions that wait for a decision: decided here, decided after a restart, decided while nobody was there.

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{Decision, DecisionReply, PauseKey, Verdict};
use leasehold_execution::record::Outcome;
use leasehold_journal::{Letter, LetterId};
use leasehold_types::TreeState;

use crate::support::Tools;
use crate::world::{
    APPROVE, completed, decide, done, effect, is_claim, person, reaches, request, worlds,
};

// CONTRACT P1, P6, P7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approved_call_runs_once_and_the_execution_goes_on() {
    for world in worlds(&[effect(), done()], Tools::ASKED) {
        let instance = world.open().await;
        let node = instance.node();
        let execution = node.start(request("go")).await.unwrap();
        let summary = reaches(node, execution, TreeState::Resting).await;
        assert_eq!(summary.pauses[0].role, "boss-channel");
        assert_eq!(
            world.app.outside.keys(),
            Vec::<String>::new(),
            "nothing ran"
        );
        assert_eq!(world.app.channel.0.lock().unwrap().len(), 1);
        assert_eq!(
            decide(&instance, execution, APPROVE).await,
            DecisionReply::Counted
        );
        assert_eq!(world.outcome(&instance, execution).await, completed());
        assert_eq!(world.app.outside.keys().len(), 1);
        assert_eq!(
            decide(&instance, execution, APPROVE).await,
            DecisionReply::CountedBefore
        );
        instance.close().await;
    }
}

// CONTRACT P6, P7, R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_after_a_restart_reaches_the_execution_that_waits() {
    for world in worlds(&[effect(), done()], Tools::ASKED) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        reaches(first.node(), execution, TreeState::Resting).await;
        first.close().await;
        let second = world.open().await;
        assert_eq!(
            decide(&second, execution, APPROVE).await,
            DecisionReply::Counted
        );
        assert_eq!(world.outcome(&second, execution).await, completed());
        assert_eq!(world.app.outside.keys().len(), 1);
        assert_eq!(world.count(&second, execution, is_claim).await, 2);
        second.close().await;
    }
}

// CONTRACT P6
// CASE 35
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_came_while_no_instance_was_there_is_applied_at_the_next_start() {
    for world in worlds(&[effect(), done()], Tools::ASKED) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        reaches(first.node(), execution, TreeState::Resting).await;
        first.close().await;
        let decision = Decision {
            pause: PauseKey::Number(1),
            by: person("boss"),
            verdict: APPROVE,
            shown: None,
            letter: None,
        };
        let store = world.store().await;
        let letter = Letter {
            id: LetterId(7),
            tree: execution.tree(),
            body: LetterBody::Decide(decision).write().unwrap(),
        };
        store.put(letter).await.unwrap();
        drop(store);
        let second = world.open().await;
        assert_eq!(world.outcome(&second, execution).await, completed());
        assert_eq!(world.app.outside.keys().len(), 1);
        second.close().await;
    }
}

// CONTRACT P7
// CASE 9
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_call_never_runs_also_after_a_restart() {
    for world in worlds(&[effect(), done()], Tools::ASKED) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        reaches(first.node(), execution, TreeState::Resting).await;
        let reject = Verdict::Reject {
            reason: "too much".to_owned(),
        };
        assert_eq!(
            decide(&first, execution, reject).await,
            DecisionReply::Counted
        );
        first.close().await;
        let second = world.open().await;
        let outcome = world.outcome(&second, execution).await;
        assert!(matches!(outcome, Outcome::Completed { .. }), "{outcome:?}");
        assert_eq!(world.app.outside.keys(), Vec::<String>::new());
        let late = decide(&second, execution, APPROVE).await;
        assert!(
            matches!(late, DecisionReply::AlreadyDecided { .. }),
            "{late:?}"
        );
        second.close().await;
    }
}
