//! Channels that fail, panic, hang, are not there, or answer by a rule: the pause stays answerable in every case.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold_actors::{Ask, Channel, ChannelError, Node, Sent};
use leasehold_execution::Record;
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::record::{PauseResolved, SendOutcome};
use leasehold_models::Turn;
use leasehold_types::{Answerer, BoxFuture, ExecutionId, PrincipalKind};

use crate::support::{
    World, answers, approval, approve, call, completed, decide, first_pause, pause, request,
};

/// What a channel does with one ask.
#[derive(Debug, Clone)]
enum Does {
    Sends,
    Fails,
    Panics,
    Hangs,
    Decides(Verdict),
}

/// Does one thing after another, and the last one for ever.
#[derive(Debug)]
struct Acts {
    does: Vec<Does>,
    asks: Mutex<Vec<Ask>>,
}

impl Channel for Acts {
    fn name(&self) -> &'static str {
        "acts"
    }
    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        let mut asks = self
            .asks
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        asks.push(ask);
        let position = asks.len().min(self.does.len()) - 1;
        drop(asks);
        let result = match self.does[position].clone() {
            Does::Sends => Ok(Sent::AwaitReply),
            Does::Fails => Err(ChannelError("nobody listens".to_owned())),
            Does::Panics => panic!("by plan"),
            Does::Hangs => return Box::pin(std::future::pending()),
            Does::Decides(verdict) => Ok(Sent::Decided(verdict)),
        };
        Box::pin(std::future::ready(result))
    }
}

fn world(does: impl Into<Vec<Does>>) -> (World, Arc<Acts>) {
    let acts = Arc::new(Acts {
        does: does.into(),
        asks: Mutex::default(),
    });
    let script = [call("pay-tool"), Turn::say("Paid.")];
    let world = World::approving(script, vec![answers("pay-tool")], &["pay-tool"]);
    (world.on_channel(Some(acts.clone())), acts)
}

impl Acts {
    fn count(&self) -> usize {
        self.asks.lock().unwrap().len()
    }
}

async fn rests(world: &World, node: &Node) -> ExecutionId {
    let execution = node.start(request("go")).await.unwrap();
    world.clock.flowing(world.at_rest(node, execution)).await;
    execution
}

/// The tries of all sends are over in vain, and yet the question can be answered.
async fn is_undeliverable_and_answerable(world: &World, node: &Node, execution: ExecutionId) {
    let question = world.machine(execution).await.question(1).unwrap();
    assert!(question.undeliverable);
    assert_eq!(
        approve(node, first_pause(execution)).await,
        DecisionReply::Counted
    );
    assert_eq!(world.outcome(node, execution).await, completed("Paid."));
}

/// Rests, and is woken for each try that is due in more than a moment.
async fn until_undeliverable(world: &World, node: &Node, execution: ExecutionId) {
    let given_up = |record: &Record| matches!(record, Record::PauseSent(sent) if matches!(sent.outcome, SendOutcome::Undeliverable { .. }));
    while world.count(execution, given_up).await == 0 {
        world.clock.flowing(crate::support::asleep(node)).await;
        world.clock.advance(Duration::from_secs(5));
        crate::support::wake(node, execution.tree());
        for _ in 0..200 {
            tokio::task::yield_now().await;
        }
    }
    world.at_rest(node, execution).await;
}

// CONTRACT P3, P4
// RELIABILITY AP13
#[tokio::test]
async fn a_send_that_fails_and_then_works_is_repeated_with_the_same_pause_id() {
    for first in [Does::Fails, Does::Panics] {
        let (world, acts) = world([first, Does::Fails, Does::Sends]);
        let node = world.instance().await;
        let execution = rests(&world, &node).await;
        let asks = acts.asks.lock().unwrap().clone();
        let attempts: Vec<u32> = asks.iter().map(|ask| ask.attempt).collect();
        assert_eq!(attempts, [1, 2, 3]);
        assert!(asks.iter().all(|ask| ask.pause_id == asks[0].pause_id));
        assert_eq!(
            approve(&node, first_pause(execution)).await,
            DecisionReply::Counted
        );
        assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
        assert_eq!(acts.count(), 3);
    }
}

// CONTRACT P3
// CASE 90
// RELIABILITY AP13
#[tokio::test]
async fn a_send_that_never_works_leaves_the_pause_undeliverable_and_answerable() {
    for does in [Does::Fails, Does::Panics] {
        let (world, acts) = world([does]);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        until_undeliverable(&world, &node, execution).await;
        assert_eq!(acts.count(), 5);
        is_undeliverable_and_answerable(&world, &node, execution).await;
    }
}

// CONTRACT P3
// CASE 31
#[tokio::test]
async fn a_role_without_a_channel_here_is_undeliverable_and_its_execution_is_not_stuck() {
    let (world, _) = world([Does::Sends]);
    let world = world.on_channel(None);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    until_undeliverable(&world, &node, execution).await;
    is_undeliverable_and_answerable(&world, &node, execution).await;
}

// CONTRACT P3
// RELIABILITY AP13
#[tokio::test]
async fn a_send_that_hangs_is_given_up_after_its_time_and_repeated() {
    let (world, acts) = world([Does::Hangs, Does::Sends]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.clock.pass(Duration::from_secs(30)).await;
    world.clock.flowing(world.at_rest(&node, execution)).await;
    assert_eq!(acts.count(), 2);
    assert_eq!(
        approve(&node, first_pause(execution)).await,
        DecisionReply::Counted
    );
}

fn resolution(record: &Record) -> Option<&PauseResolved> {
    if let Record::PauseResolved(resolved) = record {
        return Some(resolved);
    }
    None
}

// CONTRACT P3
#[tokio::test]
async fn a_rule_decides_at_once_and_its_record_names_it() {
    let (world, acts) = world([Does::Decides(approval())]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    let entries = world.entries(execution).await;
    let resolved = entries
        .iter()
        .find_map(|entry| resolution(&entry.record))
        .unwrap();
    let by = resolved.answered_by.clone().unwrap();
    assert_eq!((by.id.as_str(), by.kind), ("acts", PrincipalKind::Rule));
    assert_eq!(
        (acts.count(), world.epochs(execution).await.len()),
        (1, 1),
        "it never rested"
    );
}

// CONTRACT P3
#[tokio::test]
async fn a_rules_invalid_decision_is_a_send_that_failed() {
    let text = "yes".to_owned();
    let (world, acts) = world([Does::Decides(Verdict::Message { text })]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    until_undeliverable(&world, &node, execution).await;
    assert_eq!(acts.count(), 5);
    is_undeliverable_and_answerable(&world, &node, execution).await;
}

// CONTRACT P3, P5
#[tokio::test]
async fn a_rule_cannot_answer_for_the_owner_of_the_thread() {
    let (world, acts) = world([Does::Decides(approval())]);
    let world = world.planned(|plan| {
        for tool in plan.tools.values_mut() {
            tool.approval.as_mut().unwrap().answerer = Answerer::ThreadOwner;
        }
    });
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    until_undeliverable(&world, &node, execution).await;
    assert_eq!(acts.count(), 5);
    let boss = decide(&node, pause(execution, 1), "boss", approval()).await;
    assert_eq!(boss, DecisionReply::NotAllowed);
    let owner = decide(&node, pause(execution, 1), "dana", approval()).await;
    assert_eq!(owner, DecisionReply::Counted);
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
}
