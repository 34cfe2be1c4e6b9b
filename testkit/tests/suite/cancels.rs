//! Cancelling: what it reaches, and how the execution ends.

use std::sync::atomic::Ordering;

use leasehold_models::{Price, Scripted};
use leasehold_testkit::{Script, TestApp, call, hangs, principal, say, together};
use leasehold_types::{Clock as _, Money};
use serde_json::json;

use crate::bank::{Gate, PaymentApproval, Seen, app, block, cents, hang, pay};

// CASE 86
// CONTRACT A9
#[leasehold_testkit::test]
async fn cancelling_reaches_what_a_tool_started_and_ends_as_cancelled() {
    let both = together([call(hang, &json!({})), call(pay, &cents(1))]);
    let app = TestApp::start(app(), [("teller", [both, say("Never said.")])]).await;
    let execution = app.execute("teller", "Wait.").await;
    execution.running(hang).await;
    let pause = execution.paused::<PaymentApproval>().await;
    let seen = app.dep::<Seen>();
    let signal = seen.signal.lock().unwrap().clone().unwrap();
    // What a tool started, and what that started in turn.
    let deep = signal.child().child();
    let before = app.clock().now();
    execution.cancel(&principal("dana"), "not needed").await;
    let ending = execution.cancelled().await;
    assert_eq!(ending.text(), "not needed");
    assert_eq!(app.clock().now(), before, "no timer was waited for");
    deep.aborted().await;
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 1);
    let timeline = ending.timeline().to_string();
    assert_eq!(timeline.matches("asks the model").count(), 1, "{timeline}");
    assert!(timeline.contains("pause 1 closed by nobody"), "{timeline}");
    let open = execution.timeline().await;
    assert_eq!(&open, ending.timeline(), "nothing comes after the end");
    let approve = leasehold::Verdict::Approve {
        override_arguments: None,
    };
    let reply = pause.decide(&principal("dana"), approve).await;
    assert_eq!(reply, leasehold::DecisionReply::Closed);
}

// CASE 87
// CONTRACT A9
#[leasehold_testkit::test]
async fn cancelling_ends_a_model_call_and_keeps_what_it_may_have_cost() {
    let price = Price::per_million(3_000_000, 300_000, 15_000_000);
    let script = Script::from(Scripted::new([hangs()]).priced(Some(price)));
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Think.").await;
    execution.thinking().await;
    execution.cancel(&principal("dana"), "too slow").await;
    let ending = execution.cancelled().await.spent(Money::ZERO);
    assert!(ending.possible() > Money::ZERO, "{}", ending.timeline());
}

// CASE 88
// CONTRACT A9
#[leasehold_testkit::test]
async fn cancelling_does_not_wait_for_a_blocking_body_and_its_result_goes_nowhere() {
    let script = [call(block, &json!({})), say("Never said.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let gate = app.dep::<Gate>();
    let closed = gate.closed();
    let execution = app.execute("teller", "Wait.").await;
    execution.running(block).await;
    execution.cancel(&principal("dana"), "too slow").await;
    let ending = execution.cancelled().await;
    let seen = app.dep::<Seen>();
    assert_eq!(seen.dropped.load(Ordering::SeqCst), 0, "it still blocks");
    closed.open();
    app.until(|| seen.dropped.load(Ordering::SeqCst) == 1).await;
    let after = execution.timeline().await;
    assert_eq!(&after, ending.timeline());
}
