//! Cancels: wherever the execution stands, everything of it ends, and it ends as cancelled.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;

use leasehold_actors::Node;
use leasehold_execution::Record;
use leasehold_execution::machine::DecisionReply;
use leasehold_execution::record::{FinishKind, Outcome};
use leasehold_models::{Model, ModelAnswer, ModelError, ModelRequest, Price, Turn};
use leasehold_tools::Body;
use leasehold_types::{BoxFuture, Effect, ExecutionId, Permit, Signal};
use serde_json::json;
use tokio::sync::Notify;

use crate::support::tools::Hand;
use crate::support::{WAIT, World, answers, asleep, call, person, request, stats, tool};

async fn cancel(world: &World, node: &Node, execution: ExecutionId) {
    let cancel = node.cancel(execution.tree(), person("dana"), "enough".to_owned(), WAIT);
    assert_eq!(cancel.await.unwrap(), DecisionReply::Counted);
    let expected = Outcome::Cancelled {
        by: "dana".to_owned(),
        reason: "enough".to_owned(),
    };
    assert_eq!(world.outcome(node, execution).await, expected);
    asleep(node).await;
}

// CONTRACT A9
// CASE 86
#[tokio::test]
async fn a_resting_execution_is_cancelled_and_its_pauses_close() {
    let script = [Turn::together([call("pay-tool"), call("pay-tool")])];
    let world = World::approving(script, vec![answers("pay-tool")], &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    cancel(&world, &node, execution).await;
    assert_eq!(world.machine(execution).await.questions().count(), 0);
    let ran = |record: &Record| matches!(record, Record::CallFinished(call) if call.kind == FinishKind::Ok);
    assert_eq!(world.count(execution, ran).await, 0);
}

/// Hangs, and counts the connections that were dropped.
#[derive(Debug, Default)]
struct Connected {
    dropped: AtomicU32,
    asked: Notify,
}

struct Connection<'a>(&'a Connected);

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Model for Connected {
    fn name(&self) -> &str {
        "test/connected"
    }
    fn price(&self) -> Option<Price> {
        Some(Price::FREE)
    }
    fn chat<'a>(
        &'a self,
        _: Permit,
        _: &'a ModelRequest,
        _: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let _connection = Connection(self);
            self.asked.notify_one();
            // It does not even look at its signal.
            std::future::pending().await
        })
    }
}

// CONTRACT A9
// CASE 87
#[tokio::test]
async fn a_model_that_hangs_has_its_connection_dropped() {
    let model = Arc::new(Connected::default());
    let world = World::with_model(model.clone(), vec![], &[]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    model.asked.notified().await;
    cancel(&world, &node, execution).await;
    assert_eq!(model.dropped.load(Ordering::SeqCst), 1);
}

// CONTRACT A9
// CASE 88
// RELIABILITY D9
#[tokio::test]
async fn a_blocking_tool_is_given_up_and_its_late_end_is_counted() {
    let (release, blocked) = mpsc::channel::<()>();
    let (blocked, running) = (std::sync::Mutex::new(blocked), Arc::new(Notify::new()));
    let told = Arc::clone(&running);
    let mut blocks = tool("blocking-tool", Effect::Read, move |_| {
        told.notify_one();
        let _released = blocked.lock().unwrap().recv();
        Box::pin(std::future::ready(Ok(json!({}))))
    });
    blocks.spec.body = Body::Blocking;
    let world = World::new([call("blocking-tool"), Turn::say("Done.")], vec![blocks]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    running.notified().await;
    cancel(&world, &node, execution).await;
    assert_eq!(
        node.stats().await.late_results,
        0,
        "it still blocks its thread"
    );
    release.send(()).unwrap();
    stats(&node, |stats| stats.late_results == 1).await;
    let finished = |record: &Record| matches!(record, Record::CallFinished(call) if call.kind != FinishKind::Cancelled);
    assert_eq!(world.count(execution, finished).await, 0);
}

// CONTRACT A3, A9
// CASE 28, 86
#[tokio::test]
async fn every_call_of_a_turn_hears_of_the_cancel_and_is_cancelled_and_not_failed() {
    let hand = Hand::new();
    let turn = Turn::together((0..8).map(|_| call("held-tool")));
    let world = World::new(
        [turn, Turn::say("Done.")],
        vec![hand.tool("held-tool", Effect::Write)],
    );
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    while hand.runs() < 8 {
        hand.running().await;
    }
    cancel(&world, &node, execution).await;
    hand.gone(8).await;
    let cancelled = |record: &Record| matches!(record, Record::CallFinished(call) if call.kind == FinishKind::Cancelled);
    assert_eq!(world.count(execution, cancelled).await, 8);
    let asked = |record: &Record| matches!(record, Record::ModelIntended(_));
    assert_eq!(world.count(execution, asked).await, 1);
}

// CONTRACT A9
// CASE 28
#[tokio::test]
async fn a_call_that_was_cancelled_before_it_began_is_cancelled_and_not_called_dead() {
    let hand = Hand::new();
    let turn = Turn::together([call("held-tool"), call("held-tool")]);
    let tools = vec![hand.tool("held-tool", Effect::Read)];
    let world = World::new([turn, Turn::say("Done.")], tools)
        .planned(|plan| plan.limits.parallel_calls = 1);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    cancel(&world, &node, execution).await;
    let cancelled = |record: &Record| matches!(record, Record::CallFinished(call) if call.kind == FinishKind::Cancelled);
    assert_eq!(world.count(execution, cancelled).await, 2);
    assert_eq!(hand.runs(), 1);
}
