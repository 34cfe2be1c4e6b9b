//! Time: it passes by itself only where nothing else can happen.

use std::sync::atomic::Ordering;

use leasehold_models::ModelError;
use leasehold_testkit::{TestApp, call, fails, principal, say, together};
use leasehold_types::{Clock as _, days, seconds};
use serde_json::json;
use tokio::join;

use crate::bank::{
    Bank, Gate, Luck, PaymentApproval, app, app_of, block, break_down, cents, hang, pay, settle,
    teller,
};

/// Executions one after the other: enough that the clock would jump in one of them.
const A_FEW: usize = 50;
/// Turns of a test's thread in which the clock is looked at many times.
const A_WHILE: u32 = 50_000;

// CONTRACT T9
#[leasehold_testkit::test]
async fn advancing_the_clock_times_one_tool_out_and_the_execution_goes_on() {
    let script = [call(hang, &json!({})), say("It hangs.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Wait.").await;
    execution.running(hang).await;
    app.clock().advance(seconds(10));
    let ending = execution.completed("It hangs.").await;
    let timeline = ending.timeline().to_string();
    let right = "TimedOut): \"Tool error: timed out after 10 s\"";
    assert!(timeline.contains(right), "{timeline}");
}

// CONTRACT T9
#[leasehold_testkit::test]
async fn the_timer_counts_no_wait_for_an_approval() {
    let script = [call(pay, &cents(1)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Pay.").await;
    let pause = execution.paused::<PaymentApproval>().await;
    app.clock().advance(days(30));
    pause.approve(&principal("dana")).await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [1]);
}

#[leasehold_testkit::test]
async fn an_approval_expires_where_the_test_waits_for_what_comes_after() {
    let app = app_of(teller().approvals_expire_after(seconds(30)));
    let script = [call(pay, &cents(1)), say("Nobody answered.")];
    let app = TestApp::start(app, [("teller", script)]).await;
    let before = app.clock().now();
    let execution = app.execute("teller", "Pay.").await;
    let ending = execution.completed("Nobody answered.").await;
    let timeline = ending.timeline().to_string();
    assert!(timeline.contains("pause 1 expired by nobody"), "{timeline}");
    assert_eq!(app.clock().now().since(before), seconds(30));
    assert_eq!(app.dep::<Bank>().requests(), [0; 0]);
}

#[leasehold_testkit::test]
async fn an_approval_does_not_expire_before_the_test_that_waits_for_it_has_looked() {
    let app = app_of(teller().approvals_expire_after(seconds(1)));
    let script = [call(pay, &cents(1)), say("Done.")];
    let app = TestApp::start(app, [("teller", script)]).await;
    for paid in 1..=A_FEW {
        let execution = app.execute("teller", "Pay.").await;
        let pause = execution.paused::<PaymentApproval>().await;
        pause.approve(&principal("dana")).await;
        execution.completed("Done.").await;
        assert_eq!(app.dep::<Bank>().requests().len(), paid);
    }
}

#[leasehold_testkit::test]
async fn waits_between_attempts_pass_by_themselves() {
    let script = [call(settle, &cents(1)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.dep::<Luck>().0.store(2, Ordering::SeqCst);
    let before = app.clock().now();
    let execution = app.execute("teller", "Settle.").await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [1, 1, 1]);
    assert!(app.clock().now() > before, "time has passed");
}

#[leasehold_testkit::test]
async fn a_model_that_fails_is_asked_again_without_a_wait_and_at_last_the_execution_fails() {
    let down = || fails(ModelError::Server { status: 503 });
    let app = TestApp::start(app(), [("teller", [down()])]).await;
    let ending = app.execute("teller", "Hello.").await.failed().await;
    assert!(ending.text().contains("503"), "{}", ending.text());
    let timeline = ending.timeline().to_string();
    assert_eq!(timeline.matches("asks the model").count(), 4, "{timeline}");
}

#[leasehold_testkit::test]
async fn time_stands_still_while_a_tool_works_however_long_that_takes() {
    let both = together([call(block, &json!({})), call(settle, &cents(1))]);
    let app = TestApp::start(app(), [("teller", [both, say("Open.")])]).await;
    app.dep::<Luck>().0.store(1, Ordering::SeqCst);
    let gate = app.dep::<Gate>();
    let closed = gate.closed();
    let execution = app.execute("teller", "Wait.").await;
    execution.running(block).await;
    let before = app.clock().now();
    let (ending, ()) = join!(execution.completed("Open."), async {
        // The other call waits for its second attempt, too. A while passes, in which the time must not.
        app.clock().until_sleeping(2).await;
        for _ in 0..A_WHILE {
            tokio::task::yield_now().await;
        }
        assert_eq!(app.clock().now(), before);
        closed.open();
    });
    let timeline = ending.timeline().to_string();
    assert!(!timeline.contains("timed out"), "{timeline}");
    assert!(
        timeline.contains("{\\\"text\\\":\\\"open\\\"}"),
        "{timeline}"
    );
    assert!(app.clock().now() > before, "then it has");
}

// CASE 85
#[leasehold_testkit::test]
async fn a_panic_in_a_tool_is_an_error_result_without_its_text() {
    let both = together([call(break_down, &json!({})), call(settle, &cents(1))]);
    let app = TestApp::start(app(), [("teller", [both, say("Half.")])]).await;
    let ending = app.execute("teller", "Go.").await.completed("Half.").await;
    let timeline = ending.timeline().to_string();
    let right = "Panicked): \"Tool error: the tool panicked\"";
    assert!(timeline.contains(right), "{timeline}");
    assert!(!timeline.contains("secret of the house"), "{timeline}");
    assert_eq!(app.dep::<Bank>().requests(), [1], "its sibling ran");
    let claims = timeline.matches("claimed by").count();
    assert_eq!(claims, 1, "nothing above the call failed: {timeline}");
}
