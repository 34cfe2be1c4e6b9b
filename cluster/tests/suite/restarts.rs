//! Instances that end, cleanly or not, and the next one that goes on.

use std::sync::Arc;
use std::time::Duration;

use leasehold_cluster::{Application, Instance, OpenError, Seams};
use leasehold_execution::Record;
use leasehold_execution::record::ClaimCause;
use leasehold_journal::embedded::StoreOpenError;

use crate::support::{Run, Tools};
use crate::world::{completed, done, effect, request, worlds};

const WAITS: Tools = Tools {
    run: Run::Waits,
    ..Tools::PLAIN
};

// CONTRACT R4, R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_cut_off_by_the_end_of_its_instance_runs_again_with_its_key() {
    for world in worlds(&[effect(), done()], WAITS) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        world.app.outside.begun.notified().await;
        first.close().await;
        assert_eq!(world.app.outside.keys(), Vec::<String>::new());
        let second = world.open().await;
        assert_eq!(world.outcome(&second, execution).await, completed());
        let key = format!("{execution}:helper:1:");
        let keys = world.app.outside.keys();
        assert!(keys.len() == 1 && keys[0].starts_with(&key), "{keys:?}");
        let causes = |cause: ClaimCause| move |record: &Record| matches!(record, Record::Claimed(claimed) if claimed.cause == cause);
        assert_eq!(
            world
                .count(&second, execution, causes(ClaimCause::Start))
                .await,
            1
        );
        assert_eq!(
            world
                .count(&second, execution, causes(ClaimCause::Takeover))
                .await,
            1
        );
        second.close().await;
    }
}

// CONTRACT R5
// CASE 45
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drained_instance_lets_its_calls_end_and_fails_nothing() {
    for world in worlds(&[effect(), done()], WAITS) {
        let first = world.open().await;
        let execution = first.node().start(request("go")).await.unwrap();
        world.app.outside.begun.notified().await;
        let gate = Arc::clone(&world.app.outside);
        let drain = first.drain(Duration::from_secs(60));
        let open = async { gate.gate.notify_one() };
        tokio::join!(drain, open);
        assert_eq!(
            world.app.outside.keys().len(),
            1,
            "the call ended within the grace"
        );
        first.close().await;
        let second = world.open().await;
        assert_eq!(world.outcome(&second, execution).await, completed());
        assert_eq!(world.app.outside.keys().len(), 1, "and ran once");
        second.close().await;
    }
}

// CONTRACT R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_open_is_not_opened_twice_and_is_free_once_it_is_closed() {
    let [_, world] = worlds(&[done()], Tools::PLAIN);
    let first = world.open().await;
    let application = || Application {
        agents: Arc::clone(&world.app) as _,
        channels: Arc::clone(&world.app) as _,
    };
    let refused = Instance::open(&world.config(), application(), Seams::default()).await;
    assert!(
        matches!(
            refused,
            Err(OpenError::Store(StoreOpenError::Locked { .. }))
        ),
        "{refused:?}"
    );
    let execution = first.node().start(request("go")).await.unwrap();
    assert_eq!(
        world.outcome(&first, execution).await,
        completed(),
        "the first is unharmed"
    );
    first.close().await;
    let second = world.open().await;
    assert_eq!(second.warnings(), Vec::<String>::new());
    second.close().await;
}
