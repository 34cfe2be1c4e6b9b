//! Timers: they stand in the journal alone, and fire once, in time or at the next start.

use std::time::Duration;

use leasehold_execution::Record;
use leasehold_execution::machine::DecisionReply;
use leasehold_execution::record::Resolution;
use leasehold_types::{ExecutionId, TreeState};

use crate::support::Tools;
use crate::world::{APPROVE, World, completed, decide, done, effect, reaches, request, worlds};

const HOUR: Duration = Duration::from_secs(3_600);
const EXPIRES: Tools = Tools {
    expires_after: Some(HOUR),
    ..Tools::ASKED
};

fn is_expiry(record: &Record) -> bool {
    matches!(record, Record::PauseResolved(resolved) if resolved.resolution == Resolution::Expired)
}

async fn expired_once(
    world: &World,
    instance: &leasehold_cluster::Instance,
    execution: ExecutionId,
) {
    assert_eq!(world.outcome(instance, execution).await, completed());
    assert_eq!(world.count(instance, execution, is_expiry).await, 1);
    assert_eq!(world.app.outside.keys(), Vec::<String>::new());
}

// CONTRACT P10
// CASE 24
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_that_nobody_gives_expires_when_its_time_has_come() {
    for world in worlds(&[effect(), done()], EXPIRES) {
        let instance = world.open().await;
        let execution = instance.node().start(request("go")).await.unwrap();
        reaches(instance.node(), execution, TreeState::Resting).await;
        while instance.timers().await == 0 {
            tokio::task::yield_now().await;
        }
        world.clock.advance(HOUR - Duration::from_secs(1));
        assert_eq!(instance.timers().await, 1);
        world.clock.advance(Duration::from_secs(1));
        expired_once(&world, &instance, execution).await;
        // The keeper hears of the end a little after it is durable.
        while instance.timers().await != 0 {
            tokio::task::yield_now().await;
        }
        instance.close().await;
    }
}

// CONTRACT P10, R10
// CASE 92, 93
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_approval_that_expired_while_no_instance_was_there_expires_once_at_the_next_start() {
    for world in worlds(&[effect(), done()], EXPIRES) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        reaches(first.node(), execution, TreeState::Resting).await;
        first.close().await;
        world.clock.advance(2 * HOUR);
        let second = world.open().await;
        expired_once(&world, &second, execution).await;
        let late = decide(&second, execution, APPROVE).await;
        assert_eq!(late, DecisionReply::Expired);
        second.close().await;
        let third = world.open().await;
        expired_once(&world, &third, execution).await;
        third.close().await;
    }
}

// CONTRACT P10, R10
// CASE 93
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timer_that_was_running_at_the_end_of_its_instance_is_held_by_the_next() {
    for world in worlds(&[effect(), done()], EXPIRES) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        reaches(first.node(), execution, TreeState::Resting).await;
        first.close().await;
        let second = world.open().await;
        while second.timers().await == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.count(&second, execution, is_expiry).await, 0);
        world.clock.advance(HOUR);
        expired_once(&world, &second, execution).await;
        second.close().await;
    }
}
