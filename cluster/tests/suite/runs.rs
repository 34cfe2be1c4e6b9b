//! Executions that nothing disturbs, one and many at once.

use leasehold_execution::record::ClaimCause;
use leasehold_models::Turn;

use crate::support::Tools;
use crate::world::{completed, done, effect, is_claim, read, request, worlds};

// CONTRACT A1, A16, R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_runs_its_tools_and_ends_with_the_models_answer() {
    for world in worlds(&[Turn::together([read(), effect()]), done()], Tools::PLAIN) {
        let instance = world.open().await;
        let execution = instance.node().start(request("go")).await.unwrap();
        assert_eq!(world.outcome(&instance, execution).await, completed());
        assert_eq!(world.app.outside.keys().len(), 2);
        assert_eq!(world.count(&instance, execution, is_claim).await, 1);
        instance.close().await;
    }
}

// CONTRACT A16, R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_executions_run_at_the_same_time_and_each_to_its_own_end() {
    for world in worlds(&[read(), effect(), done()], Tools::PLAIN) {
        let instance = world.open().await;
        let mut executions = Vec::new();
        for number in 0..50 {
            let input = format!("go {number}");
            executions.push(instance.node().start(request(&input)).await.unwrap());
        }
        for execution in &executions {
            assert_eq!(world.outcome(&instance, *execution).await, completed());
        }
        let mut keys = world.app.outside.keys();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), 100, "two effects each, no key twice");
        instance.close().await;
    }
}

// CONTRACT R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_execution_is_not_claimed_again_after_a_restart() {
    for world in worlds(&[done()], Tools::PLAIN) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        assert_eq!(world.outcome(&first, execution).await, completed());
        first.close().await;
        let second = world.open().await;
        let later = second.node().start(request("go")).await.unwrap();
        assert_eq!(world.outcome(&second, later).await, completed());
        assert_eq!(world.count(&second, execution, is_claim).await, 1);
        let is_start = |record: &leasehold_execution::Record| matches!(record, leasehold_execution::Record::Claimed(claimed) if claimed.cause == ClaimCause::Start);
        assert_eq!(world.count(&second, execution, is_start).await, 1);
        second.close().await;
    }
}
