//! Lost is final: whatever is in flight is dropped, nothing of it is journaled, and the instance goes on.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold_actors::{Channel, ChannelError, Closed, Fault, Node, Sent};
use leasehold_execution::Record;
use leasehold_execution::record::{ClaimCause, FinishKind};
use leasehold_models::{ModelError, Scripted, Turn};
use leasehold_tools::ToolError;
use leasehold_types::{AbortReason, BoxFuture, Effect, ExecutionId, LeaseLostReason, PauseId};
use serde_json::json;

use crate::support::store::foreign_claim;
use crate::support::tools::Hand;
use crate::support::{
    World, answers, approve, asleep, call, completed, first_pause, request, stats, tool, wake,
};

const REASONS: [LeaseLostReason; 4] = [
    LeaseLostReason::Taken,
    LeaseLostReason::StoreSilent,
    LeaseLostReason::Fenced,
    LeaseLostReason::Released,
];

/// Takes the tree away and waits until nothing of it is awake.
async fn lose(node: &Node, execution: ExecutionId, reason: LeaseLostReason) {
    node.lose(execution.tree(), reason);
    asleep(node).await;
}

/// The instance runs something new, and the tree that it lost once somebody wants it again.
async fn goes_on(world: &World, node: &Node, lost: ExecutionId, answer: &str) {
    wake(node, lost.tree());
    assert_eq!(world.outcome(node, lost).await, completed(answer));
    let epochs = world.epochs(lost).await;
    assert_eq!(epochs[1..], [(2, ClaimCause::Takeover)]);
}

fn is_finished(record: &Record) -> bool {
    matches!(record, Record::CallFinished(_))
}

fn is_answered(record: &Record) -> bool {
    matches!(record, Record::ModelAnswered(_) | Record::ModelFailed(_))
}

// CONTRACT R2
// CASE 63
// RELIABILITY D7
#[tokio::test]
async fn a_running_tool_call_hears_why_the_lease_is_lost_and_nothing_of_it_is_journaled() {
    for reason in REASONS {
        let hand = Hand::new();
        let script = [
            Turn::together([call("held-tool"), call("held-tool")]),
            Turn::say("Done."),
        ];
        let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        hand.running().await;
        hand.running().await;
        lose(&node, execution, reason).await;
        hand.gone(2).await;
        let Some(AbortReason::LeaseLost(lost)) = hand.reason(1) else {
            panic!("the signal tells of the loss: {:?}", hand.reason(1));
        };
        assert_eq!((lost.reason, lost.tree), (reason, execution.tree()));
        assert_eq!((lost.epoch.get(), hand.runs()), (1, 2));
        assert_eq!(world.count(execution, is_finished).await, 0, "{reason:?}");
        let counted = stats(&node, |stats| stats.outcomes_dropped == 2).await;
        assert_eq!((counted.awake, counted.restarts), (0, 0));
        hand.let_go(4);
        let other = node.start(request("something new")).await.unwrap();
        assert_eq!(world.outcome(&node, other).await, completed("Done."));
        goes_on(&world, &node, execution, "Done.").await;
    }
}

// CONTRACT R2
// RELIABILITY D7
#[tokio::test]
async fn a_model_that_is_being_asked_is_dropped_and_asked_again_by_the_next_owner() {
    for reason in REASONS {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let model = Scripted::from_fn(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Turn::hang(),
            _ => Turn::say("Done."),
        });
        let world = World::with_model(Arc::new(model), vec![], &[]);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        world.clock.asleep_for(world.config.model_timeout).await;
        lose(&node, execution, reason).await;
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        assert_eq!(world.count(execution, is_answered).await, 0, "{reason:?}");
        goes_on(&world, &node, execution, "Done.").await;
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }
}

/// Hangs at the first ask.
#[derive(Debug, Default)]
struct HangsOnce(Mutex<Vec<PauseId>>);

impl Channel for HangsOnce {
    fn name(&self) -> &'static str {
        "hangs-once"
    }
    fn send(&self, ask: leasehold_actors::Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        let mut asks = self.0.lock().unwrap();
        asks.push(ask.pause_id);
        if asks.len() == 1 {
            return Box::pin(std::future::pending());
        }
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

// CONTRACT R2, P4
// RELIABILITY D7
#[tokio::test]
async fn a_question_that_is_being_sent_is_sent_by_the_next_owner_under_the_same_secret() {
    for reason in REASONS {
        let channel = Arc::new(HangsOnce::default());
        let script = [call("pay-tool"), Turn::say("Paid.")];
        let world = World::approving(script, vec![answers("pay-tool")], &["pay-tool"]);
        let world = world.on_channel(Some(channel.clone()));
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        world.clock.asleep_for(world.config.send_timeout).await;
        lose(&node, execution, reason).await;
        let sent = |record: &Record| matches!(record, Record::PauseSent(_));
        assert_eq!(world.count(execution, sent).await, 0, "{reason:?}");
        wake(&node, execution.tree());
        world.at_rest(&node, execution).await;
        let asks = channel.0.lock().unwrap().clone();
        assert_eq!(asks.len(), 2);
        assert_eq!(asks[0], asks[1]);
        approve(&node, first_pause(execution)).await;
        assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    }
}

// CONTRACT R2
// RELIABILITY D5, D7
#[tokio::test]
async fn an_attempt_that_waits_for_its_time_never_begins_once_the_lease_is_lost() {
    for reason in REASONS {
        let runs = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&runs);
        let fails_once = tool("flaky-tool", Effect::Read, move |_| {
            let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
            Box::pin(async move {
                if first {
                    return Err(ToolError::new("busy").retryable());
                }
                Ok(json!({}))
            })
        });
        let world = World::new([call("flaky-tool"), Turn::say("Done.")], vec![fails_once]);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        world.clock.asleep_for(Duration::from_millis(500)).await;
        lose(&node, execution, reason).await;
        world.clock.advance(Duration::from_millis(900));
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(runs.load(Ordering::SeqCst), 1, "{reason:?}");
        goes_on(&world, &node, execution, "Done.").await;
        assert_eq!(runs.load(Ordering::SeqCst), 2);
    }
}

// CONTRACT R2
// RELIABILITY D7
#[tokio::test]
async fn a_model_whose_retry_is_waited_for_is_not_asked_once_the_lease_is_lost() {
    let asked = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&asked);
    let model = Scripted::from_fn(move |_| match counted.fetch_add(1, Ordering::SeqCst) {
        0 => Turn::fail(ModelError::Server { status: 500 }),
        _ => Turn::say("Done."),
    });
    let world = World::with_model(Arc::new(model), vec![], &[]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.clock.asleep_for(Duration::from_millis(500)).await;
    lose(&node, execution, LeaseLostReason::Taken).await;
    world.clock.advance(Duration::from_millis(900));
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    goes_on(&world, &node, execution, "Done.").await;
}

// CONTRACT R2
// CASE 63
// RELIABILITY D7
#[tokio::test]
async fn a_loss_that_no_mailbox_is_told_of_is_noticed_at_the_next_outcome_and_drops_it() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Write)]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    let taken = Fault::Lease(LeaseLostReason::Taken);
    node.fault(execution.tree(), taken);
    hand.gone(1).await;
    asleep(&node).await;
    assert_eq!(world.count(execution, is_finished).await, 0);
    let uncertain = |record: &Record| matches!(record, Record::CallUncertain(_));
    wake(&node, execution.tree());
    world.at_rest(&node, execution).await;
    assert_eq!(world.count(execution, uncertain).await, 1, "not cancelled");
}

// CONTRACT R2
// RELIABILITY D8
#[tokio::test]
async fn the_end_of_a_session_takes_every_tree_and_leaves_the_instance() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let node = world.instance().await;
    let mut started = vec![];
    for _ in 0..5 {
        started.push(node.start(request("go")).await.unwrap());
        hand.running().await;
    }
    node.lose_all(LeaseLostReason::StoreSilent);
    asleep(&node).await;
    hand.let_go(5);
    // Each is tried again by itself, a second later.
    world.clock.advance(Duration::from_secs(1));
    for execution in started {
        assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    }
}

// CONTRACT R1, R3
// RELIABILITY D7, D11
#[tokio::test]
async fn a_claim_of_a_higher_epoch_fences_the_first_owner_which_drops_everything() {
    let (first, second) = (Hand::new(), Hand::new());
    let script = [
        Turn::together([call("first-tool"), call("second-tool")]),
        Turn::say("Done."),
    ];
    let tools = vec![
        first.tool("first-tool", Effect::Read),
        second.tool("second-tool", Effect::Read),
    ];
    let world = World::new(script, tools);
    let node = world.instance().await;
    let closed = Arc::new(Mutex::new(vec![]));
    let told = Arc::clone(&closed);
    node.on_closed(Arc::new(move |_, how| {
        told.lock().unwrap().push(how.clone())
    }));
    let execution = node.start(request("go")).await.unwrap();
    first.running().await;
    second.running().await;
    foreign_claim(&*world.store, execution.tree(), &leasehold_actors::OsRandom);
    first.let_go(1);
    asleep(&node).await;
    second.gone(1).await;
    let by = leasehold_types::Epoch::new(2);
    assert_eq!(closed.lock().unwrap().as_slice(), [Closed::Fenced { by }]);
    let Some(AbortReason::LeaseLost(lost)) = second.reason(0) else {
        panic!("its sibling hears of it");
    };
    assert_eq!(lost.reason, LeaseLostReason::Fenced);
    assert_eq!(
        world.count(execution, is_finished).await,
        0,
        "the outcome is dropped"
    );
    let other = node.start(request("something new")).await.unwrap();
    first.let_go(1);
    second.let_go(1);
    assert_eq!(world.outcome(&node, other).await, completed("Done."));
}

// CONTRACT R1, R3, R4
#[tokio::test]
async fn two_instances_that_both_believe_in_their_lease_still_journal_each_record_once() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let mut world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    hand.running().await;
    world.split();
    let second = world.instance().await;
    wake(&second, execution.tree());
    hand.running().await;
    hand.let_go(2);
    assert_eq!(world.outcome(&second, execution).await, completed("Done."));
    asleep(&first).await;
    let ok = |record: &Record| matches!(record, Record::CallFinished(call) if call.kind == FinishKind::Ok);
    assert_eq!(world.count(execution, ok).await, 1);
    assert_eq!(world.count(execution, is_answered).await, 2);
    let keys = hand.keys.lock().unwrap().clone();
    assert_eq!(keys[0], keys[1], "the unfinished call keeps its key");
}
