//! Supervision, written out: each kind of actor is killed or made to fail, and its parent, children and siblings are looked at.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::{
    TestTool, World, answers, approve, call, completed, first_pause, person, request, tool, wake,
};
use leasehold_actors::Fault;
use leasehold_execution::Record;
use leasehold_execution::record::{CallFinished, ClaimCause, FinishKind, Outcome};
use leasehold_models::Turn;
use leasehold_tools::{CallContext, ToolCall};
use leasehold_types::{Effect, ExecutionId, TreeState};
use serde_json::json;
use tokio::sync::Notify;

fn finished<'a>(record: &'a Record, tool_call: &str) -> Option<&'a CallFinished> {
    let Record::CallFinished(body) = record else {
        return None;
    };
    body.call_id.as_str().ends_with(tool_call).then_some(body)
}

// CONTRACT A1, A2
#[tokio::test]
async fn an_execution_runs_its_tools_and_ends_with_the_models_answer() {
    let world = World::new(
        [
            Turn::together([call("one-tool"), call("two-tool")]),
            Turn::say("Done."),
        ],
        vec![answers("one-tool"), answers("two-tool")],
    );
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    assert_eq!(world.epochs(execution).await, [(1, ClaimCause::Start)]);
}

// CONTRACT A2, R11
// CASE 80, 85
// RELIABILITY C5
#[tokio::test]
async fn a_call_that_panics_is_an_error_result_and_its_sibling_and_its_execution_go_on() {
    let world = World::new(
        [
            Turn::together([call("bad-tool"), call("good-tool")]),
            Turn::say("Done."),
        ],
        vec![
            tool("bad-tool", Effect::Read, |_| {
                Box::pin(async { panic!("no") })
            }),
            answers("good-tool"),
        ],
    );
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    let entries = world.entries(execution).await;
    let kind = |call: &str| {
        entries
            .iter()
            .find_map(|entry| finished(&entry.record, call))
            .unwrap()
            .kind
    };
    assert_eq!(
        (kind(":0"), kind(":1")),
        (FinishKind::Panicked, FinishKind::Ok)
    );
    assert_eq!(
        world.epochs(execution).await.len(),
        1,
        "the execution actor lived on"
    );
}

// CONTRACT A2, R11
// CASE 80, 83
#[tokio::test]
async fn a_killed_call_actor_is_an_error_result_and_drops_its_work() {
    struct Dropped(Arc<AtomicU32>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let (dropped, running) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let (guard, told) = (Arc::clone(&dropped), Arc::clone(&running));
    let hangs = tool("hanging-tool", Effect::Read, move |_| {
        let (guard, told) = (Dropped(Arc::clone(&guard)), Arc::clone(&told));
        Box::pin(async move {
            let _guard = guard;
            told.notify_one();
            std::future::pending().await
        })
    });
    let script = [
        Turn::together([call("hanging-tool"), call("good-tool")]),
        Turn::say("Done."),
    ];
    let world = World::new(script, vec![hangs, answers("good-tool")]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    running.notified().await;
    node.fault(execution.tree(), Fault::Call(0));
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        1,
        "the work is gone with its actor"
    );
    let died = |record: &Record| {
        finished(record, ":0").is_some_and(|call| call.kind == FinishKind::Panicked)
    };
    assert_eq!(world.count(execution, died).await, 1);
}

/// A tool whose first call waits until the test has killed somebody, and whose later calls answer.
fn stuck_once(runs: &Arc<AtomicU32>, running: &Arc<Notify>) -> TestTool {
    let (runs, running) = (Arc::clone(runs), Arc::clone(running));
    tool("stuck-tool", Effect::Read, move |_| {
        let first = runs.fetch_add(1, Ordering::SeqCst) == 0;
        let running = Arc::clone(&running);
        Box::pin(async move {
            if first {
                running.notify_one();
                std::future::pending::<()>().await;
            }
            Ok(json!({"done": true}))
        })
    })
}

// CONTRACT R11, R4
// CASE 79
#[tokio::test]
async fn a_killed_execution_actor_is_started_again_under_a_new_epoch_and_other_trees_notice_nothing()
 {
    for kill_tree in [false, true] {
        let (runs, running) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
        let script = [call("stuck-tool"), Turn::say("Done.")];
        let world = World::new(script, vec![stuck_once(&runs, &running)]);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        running.notified().await;
        let neighbour = node.start(request("go too")).await.unwrap();
        if kill_tree {
            node.fault(execution.tree(), Fault::Tree);
        } else {
            node.fault(execution.tree(), Fault::Execution);
        }
        assert_eq!(world.outcome(&node, execution).await, completed("Done."));
        assert_eq!(world.outcome(&node, neighbour).await, completed("Done."));
        let epochs = world.epochs(execution).await;
        assert_eq!(
            epochs,
            [(1, ClaimCause::Start), (2, ClaimCause::Restart)],
            "tree killed: {kill_tree}"
        );
        assert_eq!(world.epochs(neighbour).await.len(), 1);
        let answers = world
            .count(execution, |record| {
                matches!(record, Record::ModelAnswered(_))
            })
            .await;
        assert_eq!(answers, 2, "no finished step ran again");
        assert_eq!(node.stats().await.restarts, 1);
    }
}

// CONTRACT R11, R6
#[tokio::test]
async fn a_tree_whose_actors_fail_again_and_again_is_quarantined_and_an_operator_lets_it_go_on() {
    let (runs, running) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let (counted, told) = (Arc::clone(&runs), Arc::clone(&running));
    let stuck = tool("stuck-tool", Effect::Read, move |_| {
        let fifth = counted.fetch_add(1, Ordering::SeqCst) == 4;
        let told = Arc::clone(&told);
        Box::pin(async move {
            told.notify_one();
            if !fifth {
                std::future::pending::<()>().await;
            }
            Ok(json!({}))
        })
    });
    let world = World::new([call("stuck-tool"), Turn::say("Done.")], vec![stuck]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    for _ in 0..4 {
        running.notified().await;
        node.fault(execution.tree(), Fault::Execution);
    }
    let blocked = |summary: &leasehold_types::TreeSummary| summary.state == TreeState::Blocked;
    node.wait_for(execution.tree(), blocked).await.unwrap();
    assert!(
        world
            .machine(execution)
            .await
            .quarantined()
            .unwrap()
            .contains("stuck-tool")
    );
    let wait = std::time::Duration::from_secs(20);
    node.retry(execution.tree(), person("op"), wait)
        .await
        .unwrap();
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
}

// CONTRACT R4, R10
#[tokio::test]
async fn an_instance_that_is_killed_leaves_its_trees_to_the_next_one() {
    let (runs, running) = (Arc::new(AtomicU32::new(0)), Arc::new(Notify::new()));
    let world = World::new(
        [call("stuck-tool"), Turn::say("Done.")],
        vec![stuck_once(&runs, &running)],
    );
    let first = world.instance().await;
    let execution = first.start(request("go")).await.unwrap();
    running.notified().await;
    world.crash(&first).await;
    let second = world.instance().await;
    wake(&second, execution.tree());
    assert_eq!(world.outcome(&second, execution).await, completed("Done."));
    let epochs = world.epochs(execution).await;
    assert_eq!(epochs, [(1, ClaimCause::Start), (2, ClaimCause::Takeover)]);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

// CONTRACT P6, A9
// CASE 86
#[tokio::test]
async fn a_paused_tree_has_no_actor_and_a_decision_wakes_it() {
    let model = Arc::new(leasehold_models::Scripted::new([
        call("pay-tool"),
        Turn::say("Paid."),
    ]));
    let world = World::with_model(model, vec![answers("pay-tool")], &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("pay")).await.unwrap();
    let resting = |summary: &leasehold_types::TreeSummary| summary.state == TreeState::Resting;
    let summary = node.wait_for(execution.tree(), resting).await.unwrap();
    assert_eq!(summary.pauses.len(), 1);
    let mut stats = node.stats().await;
    while stats.awake > 0 {
        tokio::task::yield_now().await;
        stats = node.stats().await;
    }
    assert_eq!(
        approve(&node, first_pause(execution)).await,
        leasehold_execution::machine::DecisionReply::Counted
    );
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    assert_eq!(world.channel.asks.lock().unwrap().len(), 1, "asked once");
}

// CONTRACT A9
// CASE 63, 86
#[tokio::test]
async fn a_cancel_reaches_every_running_call_and_ends_as_cancelled() {
    let running = Arc::new(Notify::new());
    let told = Arc::clone(&running);
    let hangs = tool("hanging-tool", Effect::Read, move |_| {
        let told = Arc::clone(&told);
        Box::pin(async move {
            told.notify_one();
            std::future::pending().await
        })
    });
    let script = [
        Turn::together([call("hanging-tool"), call("hanging-tool")]),
        Turn::say("Done."),
    ];
    let world = World::new(script, vec![hangs]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    running.notified().await;
    let wait = std::time::Duration::from_secs(20);
    node.cancel(execution.tree(), person("dana"), "enough".to_owned(), wait)
        .await
        .unwrap();
    let outcome = world.outcome(&node, execution).await;
    assert_eq!(
        outcome,
        Outcome::Cancelled {
            by: "dana".to_owned(),
            reason: "enough".to_owned()
        }
    );
    let cancelled = |record: &Record| matches!(record, Record::CallFinished(body) if body.kind == FinishKind::Cancelled);
    assert_eq!(world.count(execution, cancelled).await, 2);
    let asked = |record: &Record| matches!(record, Record::ModelIntended(_));
    assert_eq!(
        world.count(execution, asked).await,
        1,
        "no model call afterwards"
    );
}

// CONTRACT R6
// CASE 46
#[tokio::test]
async fn a_suspect_waits_until_what_runs_beside_it_has_got_somewhere() {
    let runs = Arc::new(Mutex::new(Vec::<ExecutionId>::new()));
    let (running, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (counted, told, opened) = (Arc::clone(&runs), Arc::clone(&running), Arc::clone(&gate));
    let stuck = tool("stuck-tool", Effect::Read, move |call: ToolCall| {
        let context: CallContext = call.take().unwrap();
        let mut runs = counted.lock().unwrap();
        runs.push(context.execution_id());
        let suspect = runs[0];
        let run = runs
            .iter()
            .filter(|id| **id == context.execution_id())
            .count();
        let (told, opened) = (Arc::clone(&told), Arc::clone(&opened));
        let is_suspect = context.execution_id() == suspect;
        Box::pin(async move {
            told.notify_one();
            match (is_suspect, run) {
                (true, 1..=3) | (false, 1) => std::future::pending::<()>().await,
                (true, _) => {}
                (false, _) => opened.notified().await,
            }
            Ok(json!({}))
        })
    });
    let world = World::new([call("stuck-tool"), Turn::say("Done.")], vec![stuck]);
    let mut node = world.instance().await;
    let suspect = node.start(request("go")).await.unwrap();
    for _ in 0..2 {
        running.notified().await;
        world.crash(&node).await;
        node = world.instance().await;
        wake(&node, suspect.tree());
    }
    running.notified().await;
    let other = node.start(request("go too")).await.unwrap();
    running.notified().await;
    world.crash(&node).await;
    // The suspect has died twice without anything, the other one has got its answer: both run again.
    let node = world.instance().await;
    wake(&node, other.tree());
    running.notified().await;
    wake(&node, suspect.tree());
    while node.stats().await.suspects == 0 {
        let claims = world.epochs(suspect).await.len();
        assert_eq!(claims, 3, "it is not claimed beside the other");
        tokio::task::yield_now().await;
    }
    gate.notify_one();
    assert_eq!(world.outcome(&node, suspect).await, completed("Done."));
    assert_eq!(world.outcome(&node, other).await, completed("Done."));
}
