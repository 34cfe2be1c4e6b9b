//! A tool by itself: the frame of a real call, without an application.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold::prelude::*;
use leasehold_testkit::{TestClock, principal, test_tool};
use leasehold_tools::{CallEnd, InvalidInput};
use leasehold_types::{AbortReason, Signal};
use serde_json::json;
use tokio::join;

/// An order.
#[dto]
struct Order {
    /// Its number.
    #[dto(pattern = "^A-[0-9]+$")]
    number: String,
}

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("no order {0}")]
struct NoOrder(String);

/// Notes what a call said of itself.
#[derive(Debug, Default)]
struct Notes(Mutex<Vec<String>>);

/// Orders something.
#[tool(effect = idempotent(days(7)))]
async fn order(
    Input(order): Input<Order>,
    notes: Dep<Notes>,
    call: CallContext,
    spend: Spend,
) -> ToolResult<PlainText> {
    let line = format!(
        "{} {} {}",
        call.call_id(),
        call.attempt(),
        call.idempotency_key()
    );
    notes.0.lock().unwrap().push(line);
    spend.record("post", usd(0.5))?;
    if order.number == "A-1" {
        Err(NoOrder(order.number))?;
    }
    Ok("x".repeat(300_000).into())
}

/// Never ends.
#[tool(effect = read, timeout = seconds(10))]
async fn hang() -> ToolResult<PlainText> {
    pending().await
}

/// Blocks its thread for as long as it is told.
#[tool(effect = read, timeout = seconds(10))]
fn block(gate: Dep<Mutex<()>>) -> ToolResult<PlainText> {
    drop(gate.lock().unwrap());
    Ok("open".into())
}

/// Panics.
#[tool(effect = pure)]
async fn break_down() -> ToolResult<PlainText> {
    panic!("secret")
}

// CONTRACT T20
#[leasehold_testkit::test]
async fn a_tool_runs_without_an_application_and_gives_its_whole_output_and_spend() {
    let tool = test_tool(order).provide(Notes::default());
    let ran = tool.run(json!({"number": "A-2"})).await.unwrap();
    assert_eq!(ran.read::<PlainText>().text.len(), 300_000, "SLICE-2");
    assert_eq!(ran.spend[0].to_string(), "tool:order-tool post 0.50 USD");
    assert_eq!(ran.spent(), cents(50));
}

// CONTRACT T20
#[leasehold_testkit::test]
async fn a_tool_fails_with_its_own_error_and_what_it_spent() {
    let tool = test_tool(order).provide(Notes::default());
    let error = tool.run(json!({"number": "A-1"})).await.unwrap_err();
    assert_eq!(error.to_string(), "no order A-1");
    assert_eq!(
        error.downcast_ref::<NoOrder>(),
        Some(&NoOrder("A-1".to_owned()))
    );
    assert_eq!(error.spent(), cents(50));
}

// CONTRACT T20
#[leasehold_testkit::test]
async fn arguments_are_validated_and_the_tool_is_not_called() {
    let notes = Arc::new(Notes::default());
    let tool = test_tool(order).provide_shared(Arc::clone(&notes));
    let error = tool.run(json!({"number": 1, "more": 2})).await.unwrap_err();
    assert!(
        matches!(&error.end, CallEnd::InvalidInput(InvalidInput::Issues(_))),
        "{error}"
    );
    let error = tool.invoke("{\"number\": ").await.unwrap_err();
    assert!(error.to_string().starts_with("invalid input: "), "{error}");
    assert_eq!(notes.0.lock().unwrap().len(), 0);
}

// CONTRACT T20
#[leasehold_testkit::test]
async fn a_call_has_the_ids_of_a_slice_and_an_execution_of_its_own() {
    let notes = Arc::new(Notes::default());
    let tool = test_tool(order).provide_shared(Arc::clone(&notes));
    tool.run(json!({"number": "A-2"})).await.unwrap();
    let [first, second] = tool.run_again_after_a_crash(json!({"number": "A-2"})).await;
    assert_eq!(first.unwrap(), second.unwrap());
    let notes = notes.0.lock().unwrap();
    let keys: Vec<&str> = notes
        .iter()
        .map(|line| line.rsplit(' ').next().unwrap())
        .collect();
    assert!(notes[0].starts_with("tool-slice 1 "), "{notes:?}");
    assert!(notes[2].starts_with("tool-slice 2 "), "{notes:?}");
    assert_ne!(keys[0], keys[1], "two calls");
    assert_eq!(keys[1], keys[2], "one call, twice");
}

// CONTRACT T9, T20
#[leasehold_testkit::test]
async fn advancing_the_clock_times_a_tool_out() {
    let clock = TestClock::new();
    let tool = test_tool(hang).clock(clock.clone());
    let (ended, ()) = join!(tool.run(json!({})), async {
        clock.until_sleeping(1).await;
        clock.advance(seconds(10));
    });
    assert_eq!(ended.unwrap_err().to_string(), "timed out after 10 s");
}

// CONTRACT T9, T20
#[leasehold_testkit::test]
async fn a_timeout_can_be_overridden_and_does_not_come_early() {
    let clock = TestClock::new();
    let tool = test_tool(hang)
        .clock(clock.clone())
        .timeout(Duration::from_millis(250));
    let mut call = Box::pin(tool.run(json!({})));
    assert!(futures_util::poll!(&mut call).is_pending());
    clock.advance(Duration::from_millis(249));
    assert!(futures_util::poll!(&mut call).is_pending());
    clock.advance(Duration::from_millis(1));
    assert_eq!(
        call.await.unwrap_err().to_string(),
        "timed out after 250 ms"
    );
}

// CONTRACT T20
#[leasehold_testkit::test]
async fn an_aborted_signal_starts_nothing_and_ends_what_runs() {
    let signal = Signal::root();
    let tool = test_tool(hang).signal(signal.clone());
    let reason = AbortReason::Cancelled {
        by: principal("dana").id,
    };
    let (ended, ()) = join!(tool.run(json!({})), async {
        signal.abort(reason.clone());
    });
    assert_eq!(ended.unwrap_err().aborted(), Some(&reason));
    let error = tool.run(json!({})).await.unwrap_err();
    assert!(matches!(error.end, CallEnd::NotStarted(_)), "{error}");
}

// CASE 88
#[leasehold_testkit::test]
async fn a_blocking_body_is_given_up_at_its_timeout_and_its_result_goes_nowhere() {
    let clock = TestClock::new();
    let gate = Arc::new(Mutex::new(()));
    let closed = gate.lock().unwrap();
    let tool = test_tool(block)
        .clock(clock.clone())
        .provide_shared(Arc::clone(&gate));
    // The call runs elsewhere: this thread holds the gate closed and must not await under it.
    let called = tokio::runtime::Handle::current();
    let (sender, ended) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let ended = called.block_on(tool.run(json!({})));
        sender.send(ended.unwrap_err().to_string()).unwrap();
    });
    while clock.sleepers() == 0 {
        std::thread::yield_now();
    }
    clock.advance(seconds(10));
    assert_eq!(ended.recv().unwrap(), "timed out after 10 s");
    drop(closed);
    thread.join().unwrap();
}

#[leasehold_testkit::test]
async fn a_panic_is_an_error_that_tells_nobody_its_text() {
    let error = test_tool(break_down).run(json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "the tool panicked");
}

#[test]
#[should_panic(expected = "[di.missing-service]")]
fn a_service_that_was_not_given_fails_the_test_by_its_code() {
    leasehold_testkit::run(|| async {
        let _never = test_tool(order).run(json!({"number": "A-2"})).await;
    });
}
