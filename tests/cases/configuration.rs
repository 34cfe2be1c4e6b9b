//! What started under a configuration goes on under it, or stands still and says so.

use std::sync::Arc;
use std::time::Duration;

use leasehold::{PauseTarget, Runtime, Scripted, StartRequest, Turn, Verdict};
use leasehold_actors::{Node, SystemClock};
use leasehold_cluster::{Backends, Config, Seams};
use leasehold_execution::machine::DecisionReply;
use leasehold_journal::{MemoryStore, Store};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_testkit::principal;
use leasehold_types::{ExecutionId, Owner, PauseRef, Tenant, TreeState, TreeSummary};

use crate::note::{app, writer};

/// The longest wait for a decision's outcome; it comes at once.
const WAIT: Duration = Duration::from_secs(30);

/// The application under these instructions, as one process after the other over one store.
async fn runtime(store: &Arc<dyn Store>, instructions: &str) -> Runtime {
    let script = Scripted::new([
        Turn::call("write-note-tool", &serde_json::json!({"text": "hello"})),
        Turn::say("Done."),
    ]);
    let app = app(writer(instructions)).model("scripted/writer", script.named("scripted/writer"));
    let backends = Backends {
        store: Arc::clone(store),
        leases: Arc::new(LocalLeaseStore::new(Arc::new(SystemClock), Expiry::Never)),
    };
    let config = Config::at("unused").unwrap();
    let running = Runtime::over(&app, &config, backends, Seams::default());
    running.await.unwrap()
}

fn request() -> StartRequest {
    StartRequest {
        agent: "writer".to_owned(),
        input: "Write.".to_owned(),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        thread: None,
        started_by: principal("dana"),
        idempotency_key: None,
    }
}

async fn approve(node: &Node, execution: ExecutionId) -> DecisionReply {
    let pause = PauseTarget::Reference(PauseRef {
        execution,
        number: 1,
    });
    let verdict = Verdict::Approve {
        override_arguments: None,
    };
    let decided = node.decide(pause, principal("erin"), verdict, None, WAIT);
    decided.await.unwrap()
}

async fn reaches(node: &Node, execution: ExecutionId, state: TreeState) -> TreeSummary {
    let reached = node.wait_for(execution.tree(), |summary| summary.state == state);
    reached.await.unwrap()
}

// CONTRACT A12
// CASE 12
// BAD INPUT 74
#[tokio::test]
async fn an_approval_under_another_configuration_changes_nothing_and_counts_under_the_old_one() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = runtime(&store, "Write.").await;
    let execution = first.node().start(request()).await.unwrap();
    reaches(first.node(), execution, TreeState::Resting).await;
    first.close().await;
    let before = store.tail(execution.tree()).await.unwrap();

    let second = runtime(&store, "Write something else.").await;
    let reply = approve(second.node(), execution).await;
    let DecisionReply::Invalid(why) = reply else {
        unreachable!("the other configuration answered {reply:?}");
    };
    assert!(why.starts_with("[execution.config-changed]"), "{why}");
    second.close().await;
    assert_eq!(store.tail(execution.tree()).await.unwrap(), before);

    let third = runtime(&store, "Write.").await;
    approve(third.node(), execution).await;
    reaches(third.node(), execution, TreeState::Ended).await;
    third.close().await;
}
