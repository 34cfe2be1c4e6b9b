//! Starts: the same key gives the same execution, and a thread belongs to somebody.

use leasehold_actors::{StartError, StartRequest};
use leasehold_execution::Record;
use leasehold_types::{Tenant, TreeState};

use crate::support::Tools;
use crate::world::{APPROVE, completed, decide, done, effect, on_thread, reaches, request, worlds};

fn keyed(key: &str, input: &str) -> StartRequest {
    StartRequest {
        idempotency_key: Some(key.to_owned()),
        ..request(input)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_gives_the_same_execution_also_after_a_restart_and_another_request_is_a_conflict() {
    for world in worlds(&[done()], Tools::PLAIN) {
        let first = world.open().await;
        let execution = first.node().start(keyed("k", "go")).await.unwrap();
        assert_eq!(
            first.node().start(keyed("k", "go")).await.unwrap(),
            execution
        );
        let other = first.node().start(keyed("l", "go")).await.unwrap();
        assert_ne!(other, execution);
        first.close().await;
        let second = world.open().await;
        assert_eq!(
            second.node().start(keyed("k", "go")).await.unwrap(),
            execution
        );
        let conflict = second.node().start(keyed("k", "stop")).await;
        assert!(
            matches!(conflict, Err(StartError::KeyConflict { execution: before }) if before == execution),
            "{conflict:?}"
        );
        assert_eq!(world.outcome(&second, execution).await, completed());
        second.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn starts_with_one_key_at_the_same_time_make_one_execution() {
    for world in worlds(&[done()], Tools::PLAIN) {
        let instance = world.open().await;
        let node = instance.node();
        let start = || node.start(keyed("k", "go"));
        let (a, b, c, d) = tokio::join!(start(), start(), start(), start());
        let execution = a.unwrap();
        for other in [b, c, d] {
            assert_eq!(other.unwrap(), execution);
        }
        assert_eq!(world.outcome(&instance, execution).await, completed());
        let started = |record: &Record| matches!(record, Record::Started(_));
        assert_eq!(world.count(&instance, execution, started).await, 1);
        let heads = instance.store().scan(None, 10).await.unwrap();
        assert_eq!(heads.len(), 1);
        instance.close().await;
    }
}

// CONTRACT A10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_elses_thread_is_refused_and_another_tenants_is_another_thread() {
    for world in worlds(&[effect(), done()], Tools::ASKED) {
        let instance = world.open().await;
        let node = instance.node();
        let mine = node.start(on_thread("t", "dana")).await.unwrap();
        let stranger = node.start(on_thread("t", "eve")).await;
        assert!(
            matches!(&stranger, Err(StartError::ThreadRefused { thread }) if thread == "t"),
            "{stranger:?}"
        );
        let told = stranger.unwrap_err().to_string();
        assert!(
            !told.contains("dana") && !told.contains(&mine.to_string()),
            "{told}"
        );
        let elsewhere = StartRequest {
            tenant: Tenant::new("other"),
            ..on_thread("t", "eve")
        };
        assert!(node.start(elsewhere).await.is_ok());
        instance.close().await;
    }
}

// CONTRACT A10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thread_has_one_execution_at_a_time_and_is_free_once_that_has_ended() {
    for world in worlds(&[effect(), done()], Tools::ASKED) {
        let instance = world.open().await;
        let node = instance.node();
        let first = node.start(on_thread("t", "dana")).await.unwrap();
        reaches(node, first, TreeState::Resting).await;
        let second = node.start(on_thread("t", "dana")).await;
        assert!(
            matches!(second, Err(StartError::ThreadBusy { execution, .. }) if execution == first),
            "{second:?}"
        );
        decide(&instance, first, APPROVE).await;
        assert_eq!(world.outcome(&instance, first).await, completed());
        assert!(node.start(on_thread("t", "dana")).await.is_ok());
        instance.close().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_the_application_has_not_is_refused_with_those_it_has() {
    for world in worlds(&[done()], Tools::PLAIN) {
        let instance = world.open().await;
        let nobody = StartRequest {
            agent: "nobody".to_owned(),
            ..request("go")
        };
        let told = instance.node().start(nobody).await.unwrap_err().to_string();
        assert_eq!(
            told,
            "[start.unknown-agent] there is no agent \"nobody\": the application has helper"
        );
        assert_eq!(instance.store().scan(None, 10).await.unwrap(), []);
        instance.close().await;
    }
}
