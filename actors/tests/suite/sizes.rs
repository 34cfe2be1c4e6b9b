//! Large results, many calls, many trees: everything fits its frame, and everything ends.

use std::sync::atomic::Ordering;

use leasehold_execution::Record;
use leasehold_execution::machine::DecisionReply;
use leasehold_execution::record::Outcome;
use leasehold_journal::FRAME_BYTES_MAX;
use leasehold_models::Turn;
use leasehold_types::{Effect, TreeState};
use serde_json::json;

use crate::support::tools::Hand;
use crate::support::{
    TestTool, WAIT, World, answers, approve, asleep, call, completed, first_pause, person, request,
    stats, tool, wake,
};

fn large(name: &'static str, bytes: usize) -> TestTool {
    tool(name, Effect::Read, move |_| {
        Box::pin(async move { Ok(json!({"text": "x".repeat(bytes)})) })
    })
}

fn fits(world: &World) {
    let largest = world.memory.largest.load(Ordering::SeqCst);
    assert!(largest <= FRAME_BYTES_MAX, "{largest}");
}

// CONTRACT R4
// RELIABILITY D20
#[tokio::test]
async fn large_results_and_answers_leave_their_frames_and_are_replayed_whole() {
    let answer = "y".repeat(300_000);
    let said = call("large-tool").saying("z".repeat(300_000));
    let script = [said, call("pay-tool"), Turn::say(answer.clone())];
    let tools = vec![large("large-tool", 300_000), answers("pay-tool")];
    let world = World::approving(script, tools, &["pay-tool"]);
    let world = world.planned(|plan| plan.limits.reply_bytes = 1 << 20);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    world.at_rest(&first, execution).await;
    world.crash(&first).await;
    let second = world.instance().await;
    assert_eq!(
        approve(&second, first_pause(execution)).await,
        DecisionReply::Counted
    );
    assert_eq!(world.outcome(&second, execution).await, completed(&answer));
    fits(&world);
    let whole = |record: &Record| matches!(record, Record::CallFinished(call) if call.whole_bytes > Some(300_000));
    assert_eq!(
        world.count(execution, whole).await,
        1,
        "its whole size is known"
    );
}

// CONTRACT A2
// RELIABILITY D20
#[tokio::test]
async fn the_outcomes_of_many_parallel_calls_share_frames_that_stay_under_the_limit() {
    let turn = Turn::together((0..200).map(|_| call("large-tool")));
    let world = World::new(
        [turn, Turn::say("Done.")],
        vec![large("large-tool", 20_000)],
    );
    let world = world.planned(|plan| plan.limits.parallel_calls = 200);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    fits(&world);
    let store: &dyn leasehold_journal::Store = &*world.store;
    let loaded = leasehold_actors::load(store, execution.tree())
        .await
        .unwrap();
    assert!(loaded.frames.len() < 100, "{} frames", loaded.frames.len());
    let finished = |record: &Record| matches!(record, Record::CallFinished(_));
    assert_eq!(world.count(execution, finished).await, 200);
}

// CONTRACT P8, A9
// RELIABILITY D20
#[tokio::test]
async fn a_thousand_questions_at_once_are_opened_and_closed_by_one_cancel() {
    let turn = Turn::together((0..1_000).map(|_| call("pay-tool")));
    let world = World::approving([turn], vec![answers("pay-tool")], &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    assert_eq!(world.machine(execution).await.questions().count(), 1_000);
    let cancel = node.cancel(execution.tree(), person("dana"), String::new(), WAIT);
    assert_eq!(cancel.await.unwrap(), DecisionReply::Counted);
    let outcome = world.outcome(&node, execution).await;
    assert!(matches!(outcome, Outcome::Cancelled { .. }));
    fits(&world);
    assert_eq!(node.stats().await.restarts, 0);
}

// RELIABILITY D20
#[tokio::test]
async fn only_so_many_trees_are_awake_and_the_others_wait_in_order() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let mut world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    world.config.awake_max = 2;
    let node = world.instance().await;
    let mut started = vec![];
    for _ in 0..10 {
        started.push(node.start(request("go")).await.unwrap());
        wake(&node, started[0].tree());
    }
    let full = stats(&node, |stats| stats.awake == 2 && stats.queued == 8).await;
    assert_eq!(full.suspects, 0);
    for (position, execution) in started.iter().enumerate() {
        assert!(hand.runs() <= 2 + u32::try_from(position).unwrap());
        hand.let_go(1);
        assert_eq!(world.outcome(&node, *execution).await, completed("Done."));
    }
    asleep(&node).await;
    assert_eq!((hand.runs(), node.stats().await.queued), (10, 0));
}

#[tokio::test]
async fn ten_thousand_executions_at_once_start_and_end() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    let mut started = vec![];
    for _ in 0..10_000 {
        started.push(node.start(request("go")).await.unwrap());
    }
    for execution in &started {
        world.until(&node, *execution, TreeState::Ended).await;
    }
    asleep(&node).await;
    let stats = node.stats().await;
    assert_eq!((stats.queued, stats.restarts, stats.waiters), (0, 0, 0));
    assert!(stats.unable.is_empty());
}
