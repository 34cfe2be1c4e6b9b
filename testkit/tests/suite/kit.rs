//! The kit itself: what it replaces, and how it fails a test that is wrong.

use std::panic::catch_unwind;
use std::sync::Arc;

use leasehold_testkit::{SLICE_CALL_ID, TestApp, after_effect_of, call, principal, run, say};
use serde_json::json;

use crate::bank::{Bank, PaymentApproval, app, cents, pay, settle, wire};

// CONTRACT T20
#[leasehold_testkit::test]
async fn a_tool_of_an_application_runs_with_its_services_in_an_execution_of_its_own() {
    let app = TestApp::without_scripts(app()).await;
    let ran = app.tool(settle).invoke(r#"{"cents": 3}"#).await.unwrap();
    assert_eq!(ran.output, json!({"text": "paid 3"}));
    app.tool(settle).run(cents(4)).await.unwrap();
    let bank = app.dep::<Bank>();
    assert_eq!(bank.requests(), [3, 4]);
    let keys = bank.keys();
    assert_ne!(keys[0], keys[1], "two executions");
    for key in &keys {
        assert!(key.ends_with(&format!(":{SLICE_CALL_ID}")), "{key}");
    }
    let other = Arc::new(Bank::default());
    app.replace(Arc::clone(&other)).await;
    app.tool(settle).run(cents(5)).await.unwrap();
    assert_eq!((bank.requests().len(), other.requests()), (2, vec![5]));
}

#[leasehold_testkit::test]
async fn a_replaced_service_is_the_one_that_executions_use() {
    let script = [call(pay, &cents(1)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Pay.").await;
    let pause = execution.paused::<PaymentApproval>().await;
    let (before, after) = (app.dep::<Bank>(), Arc::new(Bank::default()));
    app.replace(Arc::clone(&after)).await;
    pause.approve(&principal("dana")).await;
    execution.completed("Done.").await;
    assert_eq!((before.requests(), after.requests()), (vec![], vec![1]));
    assert!(Arc::ptr_eq(&after, &app.dep::<Bank>()));
}

#[leasehold_testkit::test]
async fn an_agent_without_a_script_reaches_no_model() {
    let app = TestApp::without_scripts(app()).await;
    let ending = app.execute("teller", "Hello.").await.failed().await;
    assert!(
        ending.text().contains("[model.script-ended]"),
        "{}",
        ending.text()
    );
}

#[leasehold_testkit::test]
async fn executions_of_one_application_are_told_apart() {
    let script = [call(settle, &cents(1)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let first = app.execute("teller", "One.").await;
    let second = app.execute("teller", "Two.").await;
    first.completed("Done.").await;
    second.completed("Done.").await;
    assert_ne!(first.id(), second.id());
    assert_eq!(app.dep::<Bank>().keys().len(), 2);
    let timelines = app.timelines();
    assert!(timelines.contains("\"One.\"") && timelines.contains("\"Two.\""));
}

/// What the test says when it fails.
#[track_caller]
fn failure_of<F: Future<Output = ()> + 'static>(test: fn() -> F) -> String {
    let panic = catch_unwind(|| run(test)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[test]
fn a_wait_that_cannot_end_fails_at_once_and_says_where_and_what_happened() {
    let said = failure_of(|| async {
        let script = [call(pay, &cents(1)), say("Done.")];
        let app = TestApp::start(app(), [("teller", script)]).await;
        let execution = app.execute("teller", "Pay.").await;
        execution.completed("Done.").await;
    });
    assert!(said.starts_with("[testkit.rests] "), "{said}");
    assert!(
        said.contains("asked for at testkit/tests/suite/kit.rs:"),
        "{said}"
    );
    assert!(said.contains("pause 1 sent"), "{said}");
    let said = failure_of(|| async {
        let app = TestApp::start(app(), [("teller", [say("Done.")])]).await;
        let execution = app.execute("teller", "Pay.").await;
        execution.paused::<PaymentApproval>().await;
    });
    assert!(said.starts_with("[testkit.over] "), "{said}");
}

#[test]
fn another_end_than_the_wanted_one_fails_with_both() {
    let said = failure_of(|| async {
        let app = TestApp::start(app(), [("teller", [say("Done.")])]).await;
        app.execute("teller", "Hi.").await.completed("Bye.").await;
    });
    assert!(said.starts_with("[testkit.other-end] "), "{said}");
    assert!(said.contains("wanted completed: \"Bye.\""), "{said}");
    assert!(said.contains("ended  completed: \"Done.\""), "{said}");
    let said = failure_of(|| async {
        let app = TestApp::start(app(), [("teller", [say("Done.")])]).await;
        let ending = app.execute("teller", "Hi.").await.completed("Done.").await;
        ending.spent(leasehold_types::usd(0.002));
    });
    assert!(
        said.starts_with("spent 0.00 USD, wanted 0.002 USD"),
        "{said}"
    );
}

#[test]
fn a_fault_whose_point_is_not_reached_fails_the_test() {
    let said = failure_of(|| async {
        let app = TestApp::start(app(), [("teller", [say("Done.")])]).await;
        app.crash_once(after_effect_of(wire));
        app.execute("teller", "Hi.").await.completed("Done.").await;
    });
    assert!(said.starts_with("[testkit.fault-not-reached] "), "{said}");
    assert!(said.contains("after the effect of wire-tool"), "{said}");
}

#[test]
fn a_script_for_nobody_and_an_application_that_is_not_sound_fail_at_the_start() {
    let said = failure_of(|| async {
        let _app = TestApp::start(app(), [("clerk", [say("Done.")])]).await;
    });
    assert!(
        said.contains("\"clerk\"") && said.contains("teller"),
        "{said}"
    );
    let said = failure_of(|| async {
        let bare = leasehold::App::new("bank").agent(leasehold::Agent::new("teller").tool(settle));
        let _app = TestApp::without_scripts(bare).await;
    });
    assert!(said.contains("[di.missing-service]"), "{said}");
}
