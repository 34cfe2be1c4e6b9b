//! Drains: what runs ends, each tree is given back, the next instance goes on, and nothing runs twice.

use std::time::Duration;

use leasehold_actors::{Fault, StartError};
use leasehold_execution::Record;
use leasehold_execution::record::ClaimCause;
use leasehold_models::Turn;
use leasehold_types::{Effect, TreeState};

use crate::support::tools::Hand;
use crate::support::{World, answers, approve, call, completed, first_pause, request, wake};

/// Less than a tool's timeout.
const GRACE: Duration = Duration::from_secs(5);

fn released(record: &Record) -> bool {
    matches!(record, Record::Released(_))
}

fn answered(record: &Record) -> bool {
    matches!(record, Record::ModelAnswered(_))
}

// CONTRACT R5
// CASE 45, 49
#[tokio::test]
async fn a_draining_instance_lets_a_tool_end_and_the_next_one_goes_on_from_its_outcome() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Write)]);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    hand.running().await;
    let lets_go = async {
        world.clock.asleep_for(GRACE).await;
        hand.let_go(1);
    };
    tokio::join!(first.drain(GRACE), lets_go);
    assert_eq!(world.count(execution, released).await, 1);
    assert_eq!(
        world.count(execution, answered).await,
        1,
        "no model is asked while it drains"
    );
    let second = world.instance().await;
    wake(&second, execution.tree());
    assert_eq!(world.outcome(&second, execution).await, completed("Done."));
    assert_eq!(
        (hand.runs(), world.count(execution, answered).await),
        (1, 2)
    );
}

/// Drains an instance, and lets two tools end some turns of the runtime before or after that.
async fn drain_around(before: u32, after: u32) {
    let hand = Hand::new();
    let script = [
        Turn::together([call("held-tool"), call("held-tool")]),
        Turn::say("Done."),
    ];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    while hand.runs() < 2 {
        tokio::task::yield_now().await;
    }
    let drains = async {
        turns(before).await;
        first.drain(GRACE).await;
    };
    let lets_go = async {
        turns(after).await;
        hand.let_go(2);
    };
    tokio::join!(drains, lets_go);
    let second = world.instance().await;
    wake(&second, execution.tree());
    assert_eq!(world.outcome(&second, execution).await, completed("Done."));
    assert_eq!(hand.runs(), 2, "{before} turns before, {after} after");
}

async fn turns(count: u32) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

// CONTRACT R4, R5
#[tokio::test]
async fn a_report_that_is_in_the_mailbox_when_a_drain_comes_is_journaled_and_nothing_runs_twice() {
    for count in 0..40 {
        drain_around(count, 0).await;
        drain_around(0, count).await;
    }
}

// CONTRACT R5
// RELIABILITY D9
#[tokio::test]
async fn what_still_runs_after_the_grace_is_cut_off_released_and_is_no_death_of_its_tree() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let mut node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    for round in 1..=4 {
        hand.running().await;
        tokio::join!(node.drain(GRACE), world.clock.pass(GRACE));
        hand.gone(round).await;
        assert_eq!(world.count(execution, released).await, round as usize);
        assert_eq!(world.machine(execution).await.deaths(), 0);
        node = world.instance().await;
        wake(&node, execution.tree());
    }
    hand.let_go(1);
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    let keys = hand.keys.lock().unwrap().clone();
    assert!(
        keys.iter().all(|key| *key == keys[0]),
        "the same call, under the same key"
    );
}

#[tokio::test]
async fn a_draining_instance_starts_nothing_and_stops_when_nothing_is_awake() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    node.drain(GRACE).await;
    let refused = node.start(request("go")).await.unwrap_err();
    assert!(matches!(refused, StartError::Draining), "{refused}");
    node.ended().await;
}

// CONTRACT R5, R11
#[tokio::test]
async fn a_tree_whose_actors_fail_while_it_drains_is_left_to_the_next_instance() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    hand.running().await;
    let fails = async {
        world.clock.asleep_for(GRACE).await;
        first.fault(execution.tree(), Fault::Execution);
    };
    tokio::join!(first.drain(GRACE), fails);
    assert_eq!(hand.runs(), 1, "it is not started again here");
    hand.let_go(2);
    let second = world.instance().await;
    wake(&second, execution.tree());
    assert_eq!(world.outcome(&second, execution).await, completed("Done."));
    let epochs = world.epochs(execution).await;
    assert_eq!(epochs, [(1, ClaimCause::Start), (2, ClaimCause::Takeover)]);
}

// CONTRACT P6, R5
#[tokio::test]
async fn a_resting_tree_is_not_touched_by_a_drain_and_a_decision_then_waits_for_the_next_instance()
{
    let script = [call("pay-tool"), Turn::say("Paid.")];
    let world = World::approving(script, vec![answers("pay-tool")], &["pay-tool"]);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    world.at_rest(&first, execution).await;
    first.drain(GRACE).await;
    world.until(&first, execution, TreeState::Resting).await;
    assert_eq!(world.epochs(execution).await.len(), 1);
    let second = world.instance().await;
    approve(&second, first_pause(execution)).await;
    assert_eq!(world.outcome(&second, execution).await, completed("Paid."));
}
