//! Letters: whatever comes when, each is applied once, answered once, and never lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_actors::{DecideError, Node};
use leasehold_execution::Record;
use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{Decision, DecisionReply, PauseKey};
use leasehold_execution::record::Outcome;
use leasehold_journal::{Inbox as _, Letter, LetterId};
use leasehold_models::Turn;
use leasehold_types::{Effect, ExecutionId, Tenant, TreeState};

use crate::support::tools::Hand;
use crate::support::{
    TestTool, WAIT, World, answers, approval, approve, asleep, call, completed, decide,
    first_pause, pause, person, rejection, request, stats,
};

fn paying() -> World {
    let script = [call("pay-tool"), Turn::say("Paid.")];
    World::approving(script, vec![answers("pay-tool")], &["pay-tool"])
}

fn held(hand: &Arc<Hand>) -> World {
    let script = [call("held-tool"), Turn::say("Done.")];
    World::new(script, vec![hand.tool("held-tool", Effect::Read)])
}

async fn paused(world: &World, node: &Node) -> ExecutionId {
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(node, execution).await;
    execution
}

/// Whether the tree's letters are over within a bounded number of turns of the runtime.
async fn settles(world: &World, execution: ExecutionId) -> bool {
    for _ in 0..10_000 {
        if world.letters(execution).await == 0 {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

fn resolved(record: &Record) -> bool {
    matches!(record, Record::PauseResolved(_))
}

fn approves(number: u32, by: &str) -> Vec<u8> {
    let decision = Decision {
        pause: PauseKey::Number(number),
        by: person(by),
        verdict: approval(),
        shown: None,
        letter: None,
    };
    LetterBody::Decide(decision).write().unwrap()
}

// CONTRACT P6
// CASE 32
// RELIABILITY AP3
#[tokio::test]
async fn a_decision_before_its_pause_is_told_so_and_decides_nothing_else() {
    let hand = Hand::new();
    let script = [
        call("held-tool"),
        Turn::together([call("pay-tool"), call("pay-tool")]),
        Turn::say("Paid."),
    ];
    let tools: Vec<TestTool> = vec![hand.tool("held-tool", Effect::Read), answers("pay-tool")];
    let world = World::approving(script, tools, &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    let early = decide(&node, pause(execution, 2), "boss", approval()).await;
    assert_eq!(early, DecisionReply::Unknown);
    hand.let_go(1);
    world.at_rest(&node, execution).await;
    assert_eq!(world.count(execution, resolved).await, 0);
    for number in [2, 1] {
        let reply = decide(&node, pause(execution, number), "boss", approval()).await;
        assert_eq!(reply, DecisionReply::Counted);
    }
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
}

// CONTRACT P6
// RELIABILITY AP2, D15
#[tokio::test]
async fn a_decision_repeated_a_hundred_times_counts_once() {
    let world = paying();
    let node = world.instance().await;
    let execution = paused(&world, &node).await;
    let one = || decide(&node, pause(execution, 1), "boss", approval());
    let replies = join_all((0..100).map(|_| one())).await;
    let counted = replies
        .iter()
        .filter(|reply| **reply == DecisionReply::Counted);
    assert_eq!(counted.count(), 1);
    let before = replies
        .iter()
        .filter(|reply| **reply == DecisionReply::CountedBefore);
    assert_eq!(before.count(), 99);
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    assert_eq!(world.count(execution, resolved).await, 1);
    assert_eq!(
        one().await,
        DecisionReply::CountedBefore,
        "after the end too"
    );
}

// CONTRACT P6
// RELIABILITY AP1
#[tokio::test]
async fn of_two_different_decisions_at_once_one_wins_and_the_other_is_told_who_decided() {
    for first_approves in [true, false] {
        let world = paying();
        let node = world.instance().await;
        let execution = paused(&world, &node).await;
        let (ana, ben) = if first_approves {
            (approval(), rejection("no"))
        } else {
            (rejection("no"), approval())
        };
        let (ana, ben) = tokio::join!(
            decide(&node, pause(execution, 1), "ana", ana),
            decide(&node, pause(execution, 1), "ben", ben),
        );
        assert_eq!(ana, DecisionReply::Counted);
        let DecisionReply::AlreadyDecided { by, what, .. } = ben else {
            panic!("the second one is told: {ben:?}");
        };
        let word = if first_approves {
            "approved"
        } else {
            "rejected"
        };
        assert_eq!((by.as_deref(), what.as_str()), (Some("ana"), word));
        world.outcome(&node, execution).await;
        assert_eq!(world.count(execution, resolved).await, 1);
    }
}

// CONTRACT P6
// CASE 31, 32
#[tokio::test]
async fn a_decision_while_the_tree_goes_to_rest_is_never_lost() {
    let world = paying();
    let node = world.instance().await;
    for turns in 0..200 {
        let execution = node.start(request("go")).await.unwrap();
        for _ in 0..turns % 50 {
            tokio::task::yield_now().await;
        }
        let mut reply = approve(&node, first_pause(execution)).await;
        while reply == DecisionReply::Unknown {
            reply = approve(&node, first_pause(execution)).await;
        }
        assert_eq!(reply, DecisionReply::Counted, "after {turns} turns");
        assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
        assert_eq!(world.count(execution, resolved).await, 1);
    }
}

/// Has a letter put into the inbox at the moment when the first frame with this state is appended.
fn post_at(world: &World, state: TreeState, body: Vec<u8>) {
    let (memory, mut body) = (world.memory.memory.clone(), Some(body));
    world.memory.before_append(move |frame| {
        let header = leasehold_journal::Frame::read(&frame.bytes).unwrap().header;
        if header.summary.state == state
            && let Some(body) = body.take()
        {
            let letter = Letter {
                id: LetterId(7),
                tree: frame.tree,
                body,
            };
            drop(memory.put(letter));
        }
    });
}

// CONTRACT P6
// CASE 31
#[tokio::test]
async fn a_letter_at_the_very_moment_of_rest_wakes_the_tree_again() {
    let world = paying();
    post_at(&world, TreeState::Resting, approves(1, "boss"));
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    assert!(settles(&world, execution).await);
}

// CONTRACT A9
// CASE 31
// RELIABILITY AP6
#[tokio::test]
async fn a_letter_at_the_very_moment_of_the_end_is_answered() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let by = person("dana");
    let cancel = LetterBody::Cancel {
        by,
        reason: String::new(),
    };
    post_at(&world, TreeState::Ended, cancel.write().unwrap());
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    assert!(settles(&world, execution).await, "the letter is over");
}

// RELIABILITY AP6
#[tokio::test]
async fn letters_to_what_is_over_or_is_not_there_are_told_so() {
    let world = paying();
    let node = world.instance().await;
    let execution = paused(&world, &node).await;
    let unknown = decide(&node, pause(execution, 9), "boss", approval()).await;
    assert_eq!(unknown, DecisionReply::Unknown);
    let cancel = node.cancel(execution.tree(), person("dana"), String::new(), WAIT);
    assert_eq!(cancel.await.unwrap(), DecisionReply::Counted);
    let cancelled = world.outcome(&node, execution).await;
    assert!(matches!(cancelled, Outcome::Cancelled { .. }));
    let late = decide(&node, pause(execution, 1), "boss", approval()).await;
    assert_eq!(late, DecisionReply::Closed);
    let again = node.cancel(execution.tree(), person("dana"), String::new(), WAIT);
    assert_eq!(again.await.unwrap(), DecisionReply::Closed);
    assert_eq!(
        world.epochs(execution).await.len(),
        2,
        "no late letter wakes it"
    );
}

// CASE 78
// RELIABILITY AP10
#[tokio::test]
async fn an_undecodable_letter_is_dropped_and_counted_and_wakes_nobody() {
    let world = paying();
    let node = world.instance().await;
    let execution = paused(&world, &node).await;
    world
        .post(execution, 1, b"{\"kind\":\"decide\"".to_vec())
        .await;
    world.post(execution, 2, vec![0xff; 100]).await;
    assert!(settles(&world, execution).await);
    asleep(&node).await;
    assert_eq!(
        stats(&node, |stats| stats.letters_unreadable >= 2)
            .await
            .letters_unreadable,
        2
    );
    assert_eq!(world.epochs(execution).await.len(), 1);
    assert_eq!(
        approve(&node, first_pause(execution)).await,
        DecisionReply::Counted
    );
}

// CASE 78
#[tokio::test]
async fn an_undecodable_letter_to_a_running_tree_is_dropped_and_counted() {
    let hand = Hand::new();
    let world = held(&hand);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    world.post(execution, 1, b"[]".to_vec()).await;
    assert!(settles(&world, execution).await);
    assert_eq!(node.stats().await.letters_unreadable, 1);
    hand.let_go(1);
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
}

// CONTRACT A10, P5
// RELIABILITY AP6, AP10
#[tokio::test]
async fn another_tenants_letter_finds_an_unknown_execution_and_even_in_the_inbox_it_changes_nothing()
 {
    let world = paying();
    let node = world.instance().await;
    let execution = paused(&world, &node).await;
    let mut stranger = person("boss");
    stranger.tenant = Tenant::new("others");
    let decided = node.decide(
        pause(execution, 1),
        stranger.clone(),
        approval(),
        None,
        WAIT,
    );
    let refused = decided.await.unwrap_err().to_string();
    let absent = DecideError::UnknownExecution(execution).to_string();
    assert_eq!(refused, absent);
    let decision = Decision {
        pause: PauseKey::Number(1),
        by: stranger,
        verdict: approval(),
        shown: None,
        letter: None,
    };
    let forged = LetterBody::Decide(decision).write().unwrap();
    world.post(execution, 1, forged).await;
    assert!(settles(&world, execution).await);
    asleep(&node).await;
    assert_eq!(world.count(execution, resolved).await, 0);
    assert_eq!(world.epochs(execution).await.len(), 1, "nobody is woken");
}

#[tokio::test]
async fn an_inbox_that_cannot_be_read_is_read_again() {
    let hand = Hand::new();
    let world = held(&hand);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    world.memory.letters_fail.store(1, Ordering::SeqCst);
    let cancel = node.cancel(execution.tree(), person("dana"), String::new(), WAIT);
    let (reply, ()) = tokio::join!(cancel, world.clock.pass(Duration::from_secs(1)));
    assert_eq!(reply.unwrap(), DecisionReply::Counted);
    world.until(&node, execution, TreeState::Ended).await;
}

#[tokio::test]
async fn a_letter_that_cannot_be_settled_is_tried_again_later_and_not_in_a_loop() {
    let world = paying();
    let node = world.instance().await;
    let execution = paused(&world, &node).await;
    world.memory.settles_fail.store(3, Ordering::SeqCst);
    world.post(execution, 1, vec![]).await;
    for tries in 1..=3 {
        world.clock.asleep_for(Duration::from_secs(1)).await;
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.memory.settles.load(Ordering::SeqCst), tries);
        world.clock.advance(Duration::from_secs(1));
    }
    assert!(settles(&world, execution).await);
}

// CONTRACT A9
// RELIABILITY D20
#[tokio::test]
async fn a_letter_for_a_tree_in_the_queue_starts_it_once() {
    let hand = Hand::new();
    let mut world = held(&hand);
    world.config.awake_max = 1;
    let node = world.instance().await;
    let first = node.start(request("go")).await.unwrap();
    hand.running().await;
    let second = node.start(request("go")).await.unwrap();
    stats(&node, |stats| stats.queued == 1).await;
    world.post(second, 1, approves(1, "boss")).await;
    hand.running().await;
    assert_eq!(node.stats().await.queued, 0, "it has left the queue");
    hand.let_go(1);
    assert_eq!(world.outcome(&node, first).await, completed("Done."));
    stats(&node, |stats| stats.awake == 1).await;
    let cancel = node.cancel(second.tree(), person("dana"), "enough".to_owned(), WAIT);
    assert_eq!(cancel.await.unwrap(), DecisionReply::Counted);
    let outcome = world.outcome(&node, second).await;
    assert!(matches!(outcome, Outcome::Cancelled { .. }));
    assert_eq!(world.epochs(second).await.len(), 1);
}

#[tokio::test]
async fn more_letters_than_one_claim_takes_are_all_answered() {
    let world = paying();
    let first = world.instance().await;
    let execution = paused(&world, &first).await;
    world.crash(&first).await;
    for letter in 0..100 {
        world.post(execution, letter, approves(1, "boss")).await;
    }
    let node = world.instance().await;
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    assert!(settles(&world, execution).await);
    assert_eq!(world.count(execution, resolved).await, 1);
}

// RELIABILITY D20
#[tokio::test]
async fn askers_that_gave_up_are_not_remembered_for_ever() {
    let hand = Hand::new();
    let world = held(&hand);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    // Nothing is journaled, so that nobody is answered, and each gives up at once.
    world.memory.letters_fail.store(u32::MAX, Ordering::SeqCst);
    for _ in 0..1_000 {
        let decided = node.decide(
            pause(execution, 1),
            person("boss"),
            approval(),
            None,
            Duration::ZERO,
        );
        let asked = async {
            loop {
                world.clock.advance(Duration::ZERO);
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            refused = decided => assert!(matches!(refused, Err(DecideError::Pending { .. }))),
            () = asked => unreachable!(),
        }
    }
    assert!(
        node.stats().await.waiters <= 130,
        "they are looked for as they double"
    );
}
