//! Appends whose outcome is unknown, refused or impossible: nothing is guessed, nothing is written twice, nothing is lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use leasehold_actors::StartError;
use leasehold_execution::Record;
use leasehold_execution::record::ClaimCause;
use leasehold_journal::faulty::{AppendFault, AppendFaults, FaultyStore};
use leasehold_models::Turn;
use leasehold_types::Effect;
use serde_json::json;

use crate::support::store::foreign_claim;
use crate::support::tools::Hand;
use crate::support::{World, answers, asleep, call, completed, request, stats, tool, wake};

const FAULTS: [AppendFault; 7] = [
    AppendFault::AckLost,
    AppendFault::Lost,
    AppendFault::LandsLate { reads: 1 },
    AppendFault::LandsLate { reads: 2 },
    AppendFault::LandsLate { reads: 3 },
    AppendFault::OwnWriteRefused,
    AppendFault::Undecided,
];

async fn completes_with(faults: AppendFaults, what: &str) {
    let hand = Hand::new();
    let script = [
        Turn::together([call("held-tool"), call("other-tool")]),
        Turn::say("Done."),
    ];
    let tools = vec![hand.tool("held-tool", Effect::Write), answers("other-tool")];
    let mut world = World::new(script, tools);
    world.store = Arc::new(FaultyStore::new(world.memory.clone(), faults));
    hand.let_go(1);
    let node = world.instance().await;
    let run = async {
        let execution = node.start(request("go")).await.unwrap();
        (execution, world.outcome(&node, execution).await)
    };
    let (execution, outcome) = world.clock.flowing(run).await;
    assert_eq!(outcome, completed("Done."), "{what}");
    let count = async |is: fn(&Record) -> bool| world.count(execution, is).await;
    assert_eq!(
        count(|record| matches!(record, Record::Claimed(_))).await,
        1,
        "{what}"
    );
    assert_eq!(
        count(|record| matches!(record, Record::ModelAnswered(_))).await,
        2,
        "{what}"
    );
    assert_eq!(
        count(|record| matches!(record, Record::CallFinished(_))).await,
        2,
        "{what}"
    );
    assert_eq!(hand.runs(), 1, "{what}");
}

// CONTRACT R3, R4
// RELIABILITY D11
#[tokio::test]
async fn an_append_whose_outcome_is_unclear_is_read_back_and_each_record_is_there_once() {
    for fault in FAULTS {
        for append in 1..=6 {
            let what = format!("{fault:?} at append {append}");
            completes_with(AppendFaults::at([(append, fault)]), &what).await;
        }
    }
}

// RELIABILITY D11
#[tokio::test]
async fn a_failed_second_attempt_says_nothing_of_an_unknown_first_one() {
    let late = AppendFault::LandsLate { reads: 3 };
    let failed = AppendFault::Failed;
    for append in 2..=5 {
        let faults = AppendFaults::at([(append, late), (append + 1, failed)]);
        completes_with(faults, &format!("at append {append}")).await;
    }
}

// RELIABILITY D11
#[tokio::test]
async fn a_full_store_makes_the_tree_wait_and_it_completes_once_there_is_space() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    hand.running().await;
    world.memory.full.store(true, Ordering::SeqCst);
    hand.let_go(2);
    for _ in 0..8 {
        asleep(&node).await;
        world.clock.pass(Duration::from_secs(1)).await;
    }
    world.memory.full.store(false, Ordering::SeqCst);
    let outcome = world.clock.flowing(world.outcome(&node, execution)).await;
    assert_eq!(outcome, completed("Done."));
    let stats = node.stats().await;
    assert_eq!((stats.restarts, stats.unable.len()), (0, 0));
}

// CONTRACT R11
#[tokio::test]
async fn a_store_without_space_for_blobs_quarantines_nothing() {
    let large = tool("large-tool", Effect::Read, |_| {
        Box::pin(async { Ok(json!({"text": "x".repeat(60_000)})) })
    });
    let world = World::new([call("large-tool"), Turn::say("Done.")], vec![large]);
    world.memory.blobs_full.store(true, Ordering::SeqCst);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    for _ in 0..8 {
        world.clock.pass(Duration::from_secs(1)).await;
        asleep(&node).await;
    }
    assert_eq!(node.stats().await.restarts, 0, "no actor failed");
    world.memory.blobs_full.store(false, Ordering::SeqCst);
    let outcome = world.clock.flowing(world.outcome(&node, execution)).await;
    assert_eq!(outcome, completed("Done."));
}

// CONTRACT R3
// RELIABILITY D1
#[tokio::test]
async fn a_claim_that_another_claimant_was_faster_than_is_made_anew_and_nothing_is_called_corrupt()
{
    let world = World::new([Turn::say("Done.")], vec![]);
    let (memory, mut left) = (world.memory.memory.clone(), 1);
    world.memory.before_append(move |frame| {
        if frame.epoch.get() == 1 && left > 0 {
            left -= 1;
            foreign_claim(&*memory, frame.tree, &leasehold_actors::OsRandom);
        }
    });
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.clock.pass(Duration::from_secs(1)).await;
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    assert!(node.stats().await.unable.is_empty());
    assert_eq!(world.epochs(execution).await[1], (2, ClaimCause::Takeover));
}

// CONTRACT A16
#[tokio::test]
async fn a_start_that_nobody_can_vouch_for_says_so_and_is_looked_at_all_the_same() {
    let mut world = World::new([Turn::say("Done.")], vec![]);
    let faults = AppendFaults::at((1..40).map(|append| (append, AppendFault::Lost)));
    let faulty = Arc::new(FaultyStore::new(world.memory.clone(), faults));
    world.store = faulty.clone();
    let node = world.instance().await;
    let mut keyed = request("go");
    keyed.idempotency_key = Some("k".to_owned());
    let start = node.start(keyed.clone());
    let error = async {
        tokio::select! {
            refused = start => refused.unwrap_err(),
            () = async { loop { world.clock.advance(Duration::from_millis(100)); tokio::task::yield_now().await; } } => unreachable!(),
        }
    };
    let StartError::Unknown { execution } = error.await else {
        panic!("its outcome is unknown");
    };
    faulty.set_faults(AppendFaults::none());
    let again = node.start(keyed).await.unwrap();
    assert_eq!(again, execution);
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
}

// CONTRACT R11
#[tokio::test]
async fn a_killed_timer_rings_at_once_and_no_tree_is_forgotten() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.memory.full.store(true, Ordering::SeqCst);
    world.clock.asleep_for(Duration::from_secs(1)).await;
    world.memory.full.store(false, Ordering::SeqCst);
    node.fault(execution.tree(), leasehold_actors::Fault::Timers);
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
}

// CONTRACT R2
#[tokio::test]
async fn a_key_that_an_unknown_claim_of_the_own_session_left_behind_does_not_shut_its_instance_out()
{
    use leasehold_lease::{Claim, ClaimToken, claim_one};
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    hand.running().await;
    world.crash(&first).await;
    let node = world.instance().await;
    let (tree, token) = (execution.tree(), ClaimToken::from_u128(7));
    let landed = claim_one(&*world.leases, &node.deps().session, Claim { tree, token }).await;
    assert!(matches!(
        landed,
        leasehold_lease::ClaimOutcome::Claimed { .. }
    ));
    hand.let_go(2);
    wake(&node, tree);
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    stats(&node, |stats| stats.awake == 0).await;
}
