//! The node and its timers fail; trees fail in ways that a restart does not help.

use std::sync::atomic::Ordering;

use leasehold_actors::Fault;
use leasehold_execution::record::ClaimCause;
use leasehold_journal::Journal as _;
use leasehold_models::Turn;
use leasehold_types::{AbortReason, Effect, LeaseLostReason};

use crate::support::tools::Hand;
use crate::support::{World, call, completed, request, stats, wake};

fn held(hand: &std::sync::Arc<Hand>) -> World {
    let script = [call("held-tool"), Turn::say("Done.")];
    World::new(script, vec![hand.tool("held-tool", Effect::Read)])
}

// CONTRACT R11
// CASE 79, 83
#[tokio::test]
async fn a_killed_node_leaves_nothing_that_acts_and_a_new_instance_goes_on() {
    let hand = Hand::new();
    let world = held(&hand);
    let first = world.instance().await;
    let mut started = vec![];
    for _ in 0..3 {
        started.push(first.start(request("go")).await.unwrap());
        hand.running().await;
    }
    world.crash(&first).await;
    first.ended().await;
    hand.gone(3).await;
    for run in 0..3 {
        let reason = hand.reason(run);
        let Some(AbortReason::LeaseLost(lost)) = reason else {
            panic!("what a tool has beside its future hears of it: {reason:?}");
        };
        assert_eq!(lost.reason, LeaseLostReason::Released);
    }
    let before = world.memory.scan(None, 10).await.unwrap();
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        world.memory.scan(None, 10).await.unwrap(),
        before,
        "nothing is appended any more"
    );
    assert_eq!((hand.runs(), first.stats().await.awake), (3, 0));
    let second = world.instance().await;
    hand.let_go(3);
    for execution in started {
        wake(&second, execution.tree());
        assert_eq!(world.outcome(&second, execution).await, completed("Done."));
        let epochs = world.epochs(execution).await;
        assert_eq!(epochs, [(1, ClaimCause::Start), (2, ClaimCause::Takeover)]);
    }
}

// CONTRACT R11
// CASE 83
#[tokio::test]
async fn a_killed_tree_or_call_tells_what_its_tool_has_beside_its_future() {
    for fault in [Fault::Tree, Fault::Execution, Fault::Call(0)] {
        let hand = Hand::new();
        let world = held(&hand);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        hand.running().await;
        node.fault(execution.tree(), fault);
        hand.gone(1).await;
        while hand.reason(0).is_none() {
            tokio::task::yield_now().await;
        }
        hand.let_go(1);
        assert_eq!(
            world.outcome(&node, execution).await,
            completed("Done."),
            "{fault:?}"
        );
    }
}

// CONTRACT R11
#[tokio::test]
async fn a_tree_that_cannot_even_be_quarantined_is_left_alone_and_its_neighbours_are_not() {
    let hand = Hand::new();
    let world = held(&hand);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    // Finding its agent panics, for ever as far as it is concerned.
    world.panics.store(5, Ordering::SeqCst);
    let stopped = stats(&node, |stats| stats.unable.contains_key(&execution.tree())).await;
    assert_eq!((stopped.awake, stopped.restarts), (0, 5));
    assert_eq!(world.epochs(execution).await.len(), 0);
    hand.let_go(2);
    let neighbour = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, neighbour).await, completed("Done."));
    wake(&node, execution.tree());
    assert_eq!(
        world.outcome(&node, execution).await,
        completed("Done."),
        "its key was given back"
    );
}
