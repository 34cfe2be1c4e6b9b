//! Starts: once per key, one at a time per thread, and a thread belongs to one owner.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use leasehold_actors::{Node, StartError, StartRequest};
use leasehold_journal::Journal as _;
use leasehold_models::Turn;
use leasehold_types::{Effect, ExecutionId, Owner, Tenant, ThreadId};

use crate::support::tools::Hand;
use crate::support::{World, call, completed, request};

fn keyed(input: &str, key: &str) -> StartRequest {
    StartRequest {
        idempotency_key: Some(key.to_owned()),
        ..request(input)
    }
}

fn in_thread(owner: &str) -> StartRequest {
    StartRequest {
        thread: Some(ThreadId::new("t1")),
        owner: Owner::new(owner),
        ..request("go")
    }
}

async fn trees(world: &World) -> usize {
    world.memory.scan(None, 100).await.unwrap().len()
}

// CONTRACT A16
#[tokio::test]
async fn the_same_key_starts_one_execution_and_another_request_under_it_is_refused() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    let first = node.start(keyed("go", "k")).await.unwrap();
    assert_eq!(node.start(keyed("go", "k")).await.unwrap(), first);
    assert_eq!(world.outcome(&node, first).await, completed("Done."));
    assert_eq!(
        node.start(keyed("go", "k")).await.unwrap(),
        first,
        "after its end too"
    );
    let other = node.start(keyed("stop", "k")).await.unwrap_err();
    assert!(matches!(other, StartError::KeyConflict { execution } if execution == first));
    let foreign = StartRequest {
        tenant: Tenant::new("others"),
        ..keyed("go", "k")
    };
    assert_ne!(
        node.start(foreign).await.unwrap(),
        first,
        "a key is its tenant's"
    );
    assert_eq!(trees(&world).await, 2);
}

// CONTRACT A16
// CASE 37
#[tokio::test]
async fn a_start_that_broke_off_between_its_key_and_its_record_is_made_by_the_next_try() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    world.memory.full.store(true, Ordering::SeqCst);
    let refused = node.start(keyed("go", "k")).await.unwrap_err();
    assert!(matches!(refused, StartError::Store(_)), "{refused}");
    node.kill();
    world.memory.full.store(false, Ordering::SeqCst);
    let node = world.instance().await;
    let execution = node.start(keyed("go", "k")).await.unwrap();
    assert_eq!(node.start(keyed("go", "k")).await.unwrap(), execution);
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    assert_eq!(trees(&world).await, 1);
}

// CONTRACT A10
#[tokio::test]
async fn a_thread_belongs_to_its_first_owner_within_its_tenant() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    let first = node.start(in_thread("dana")).await.unwrap();
    world.outcome(&node, first).await;
    let stolen = node.start(in_thread("eve")).await.unwrap_err();
    assert!(
        matches!(stolen, StartError::ThreadRefused { .. }),
        "{stolen}"
    );
    let elsewhere = StartRequest {
        tenant: Tenant::new("others"),
        ..in_thread("eve")
    };
    node.start(elsewhere).await.unwrap();
    node.start(in_thread("dana")).await.unwrap();
}

// CONTRACT A10
#[tokio::test]
async fn a_thread_whose_execution_goes_on_is_busy_until_it_ends() {
    let hand = Hand::new();
    let script = [call("held-tool"), Turn::say("Done.")];
    let world = World::new(script, vec![hand.tool("held-tool", Effect::Read)]);
    let node = world.instance().await;
    let first = node.start(in_thread("dana")).await.unwrap();
    let busy = node.start(in_thread("dana")).await.unwrap_err();
    assert!(matches!(busy, StartError::ThreadBusy { execution, .. } if execution == first));
    hand.let_go(2);
    world.outcome(&node, first).await;
    let second = node.start(in_thread("dana")).await.unwrap();
    assert_eq!(world.outcome(&node, second).await, completed("Done."));
}

type Inner = Arc<Mutex<Option<Result<ExecutionId, StartError>>>>;

/// Starts another execution of the thread at the moment when the first one's record is about to be appended.
fn start_between(world: &World, node: &Node) -> Inner {
    let inner = Inner::default();
    let (told, node, mut left) = (Arc::clone(&inner), node.clone(), 1);
    world.memory.before_append(move |_| {
        if left > 0 {
            left -= 1;
            let started = node.start(in_thread("dana")).now_or_never().unwrap();
            *told.lock().unwrap() = Some(started);
        }
    });
    inner
}

// CONTRACT A10
#[tokio::test]
async fn of_two_starts_at_once_on_one_thread_one_is_refused() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    let inner = start_between(&world, &node);
    let first = node.start(in_thread("dana")).await.unwrap();
    let second = inner.lock().unwrap().take().unwrap().unwrap_err();
    assert!(matches!(second, StartError::ThreadBusy { execution, .. } if execution == first));
    assert_eq!(trees(&world).await, 1);
}

// CONTRACT A10
#[tokio::test]
async fn a_start_that_the_store_refused_leaves_its_thread_as_it_was() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    world.memory.full.store(true, Ordering::SeqCst);
    node.start(in_thread("dana")).await.unwrap_err();
    world.memory.full.store(false, Ordering::SeqCst);
    let first = node.start(in_thread("dana")).await.unwrap();
    world.outcome(&node, first).await;
    world.memory.full.store(true, Ordering::SeqCst);
    node.start(in_thread("dana")).await.unwrap_err();
    world.memory.full.store(false, Ordering::SeqCst);
    let stolen = node.start(in_thread("eve")).await.unwrap_err();
    assert!(
        matches!(stolen, StartError::ThreadRefused { .. }),
        "it keeps its owner"
    );
    node.start(in_thread("dana")).await.unwrap();
}

// CONTRACT A10
#[tokio::test]
async fn a_thread_that_a_dead_start_has_taken_is_free_again_after_its_time() {
    let world = World::new([Turn::say("Done.")], vec![]);
    let node = world.instance().await;
    // The first start waits for an append whose outcome nobody tells, and its caller goes away.
    let faults = leasehold_journal::faulty::AppendFaults::at([(
        1,
        leasehold_journal::faulty::AppendFault::Lost,
    )]);
    let lossy = leasehold_journal::faulty::FaultyStore::new(world.memory.clone(), faults);
    let mut dying = World::new([Turn::say("Done.")], vec![]);
    dying.store = Arc::new(lossy);
    let other = dying.instance().await;
    assert!(other.start(in_thread("dana")).now_or_never().is_none());
    let busy = node.start(in_thread("dana")).await.unwrap_err();
    assert!(matches!(busy, StartError::ThreadBusy { .. }), "{busy}");
    world.clock.advance(Duration::from_secs(10));
    node.start(in_thread("dana")).await.unwrap();
}
