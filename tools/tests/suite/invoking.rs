//! The four steps of a call, and every way it ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leasehold_macros::{dto, tool};
use leasehold_tools::{
    CallContext, CallEnd, Dep, Input, OnError, PlainText, Services, Spend, Tool, ToolError,
    ToolOutcome, ToolResult, bind, review,
};
use leasehold_types::{
    AbortReason, Effect, Epoch, ExecutionLeaseLostError, LeaseLostReason, Signal, TreeId,
    milliseconds, seconds, usd,
};
use serde_json::json;

use crate::support::{Running, bound, facts, text_of};

/// What a body did, seen from outside.
#[derive(Default)]
struct Trace {
    started: AtomicUsize,
    dropped: AtomicUsize,
    signal: std::sync::OnceLock<Signal>,
}

impl Trace {
    fn started(&self) -> usize {
        self.started.load(Ordering::Relaxed)
    }
    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Counts when a body is dropped before its end.
struct Guard(Dep<Trace>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

/// A mail.
#[dto]
struct Mail {
    /// To whom.
    #[dto(length = 1..=40)]
    to: String,
    /// How often.
    #[dto(range = 1..=3)]
    times: u32,
}

/// Waits for ever.
#[tool(effect = read, timeout = seconds(10))]
async fn wait(trace: Dep<Trace>, call: CallContext, spend: Spend) -> ToolResult<PlainText> {
    trace.started.fetch_add(1, Ordering::Relaxed);
    let _guard = Guard(trace.clone());
    let _first = trace.signal.set(call.signal().clone());
    spend.record("mail", usd(0.01))?;
    std::future::pending().await
}

/// Sends a mail.
#[tool(effect = write)]
async fn send(Input(mail): Input<Mail>, trace: Dep<Trace>) -> ToolResult<Mail> {
    trace.started.fetch_add(1, Ordering::Relaxed);
    match mail.to.as_str() {
        "panic" => panic!("secret"),
        "nobody" => Err(ToolError::new("no such customer")),
        "many" => Ok(Mail { times: 9, ..mail }),
        _ => Ok(mail),
    }
}

fn with_trace(tool: impl Tool) -> (leasehold_tools::BoundTool, Arc<Trace>) {
    let trace = Arc::new(Trace::default());
    let services = Services::new().provide_shared(trace.clone());
    (bind(Arc::new(tool), &services).unwrap(), trace)
}

// CONTRACT T4
#[test]
fn a_call_that_fits_runs_and_its_output_is_compact_json_in_declared_order() {
    let (tool, trace) = with_trace(send);
    let outcome = Running::new(&tool, r#"{"times": 2, "to": "dana"}"#).ended();
    assert_eq!(outcome.end.text(), r#"{"to":"dana","times":2}"#);
    let value = json!({"to": "dana", "times": 2});
    assert_eq!(outcome.end.into_outcome(), ToolOutcome::Ok { value });
    assert_eq!(trace.started(), 1);
}

// CONTRACT T4
// BAD INPUT 5
#[test]
fn every_problem_of_the_input_is_listed_and_the_tool_is_not_called() {
    let (tool, trace) = with_trace(send);
    let outcome = Running::new(&tool, r#"{"to": "", "times": 9, "cc": "x"}"#).ended();
    let message = "invalid input: cc: unknown field; times: must be at most 3; to: must have at least 1 characters";
    assert_eq!(outcome.end.text(), format!("Tool error: {message}"));
    assert!(!outcome.end.is_started());
    let message = message.to_owned();
    assert_eq!(outcome.end.into_outcome(), ToolOutcome::Error { message });
    assert_eq!(trace.started(), 0);
}

// CONTRACT T4
#[test]
fn nothing_starts_once_the_signal_is_aborted_and_the_reason_is_the_error() {
    let (tool, trace) = with_trace(send);
    let mut call = Running::new(&tool, r#"{"to": "dana", "times": 1}"#);
    call.signal.abort(AbortReason::Cancelled {
        by: "lee".to_owned(),
    });
    let outcome = call.ended();
    assert_eq!(outcome.end.text(), "Tool error: cancelled by lee");
    assert!(!outcome.end.is_started());
    assert_eq!(trace.started(), 0);
}

// CONTRACT T4, T9
#[test]
fn a_body_that_takes_too_long_is_dropped_and_the_error_says_after_how_long() {
    for (timeout, text) in [
        (seconds(10), "Tool error: timed out after 10 s"),
        (milliseconds(250), "Tool error: timed out after 250 ms"),
    ] {
        let (tool, trace) = with_trace(wait);
        let tool = tool.with_timeout(timeout);
        let mut call = Running::new(&tool, "{}");
        call.is_pending();
        call.clock.advance(timeout - milliseconds(1));
        call.is_pending();
        assert_eq!(trace.dropped(), 0);
        call.clock.advance(milliseconds(1));
        let outcome = call.ended();
        assert_eq!(outcome.end.text(), text);
        assert_eq!(trace.dropped(), 1, "the body's future is dropped");
        let reason = trace.signal.get().unwrap().reason();
        assert_eq!(
            reason,
            Some(AbortReason::TimedOut { after: timeout }),
            "what it started beside is told"
        );
        assert!(!call.signal.is_aborted(), "the execution goes on");
    }
}

// CONTRACT T9
#[test]
fn the_timer_starts_with_the_body_and_anew_for_each_attempt() {
    let (tool, trace) = with_trace(wait);
    let mut first = Running::new(&tool, "{}");
    first.clock.advance(seconds(60));
    first.is_pending();
    first.clock.advance(seconds(9));
    first.is_pending();
    let mut second = Running::new(&tool, "{}");
    second.is_pending();
    second.clock.advance(seconds(9));
    second.is_pending();
    assert_eq!(trace.started(), 2);
}

// CONTRACT T5
// CASE 86
#[test]
fn cancel_and_lease_loss_drop_the_body_and_it_is_not_polled_again() {
    let lost = ExecutionLeaseLostError {
        reason: LeaseLostReason::Taken,
        tree: TreeId::from_u128(7),
        epoch: Epoch::new(1),
    };
    for reason in [
        AbortReason::Cancelled {
            by: "lee".to_owned(),
        },
        AbortReason::LeaseLost(lost),
    ] {
        let (tool, trace) = with_trace(wait);
        let mut call = Running::new(&tool, "{}");
        call.is_pending();
        call.signal.abort(reason.clone());
        let outcome = call.ended();
        assert!(matches!(&outcome.end, CallEnd::Aborted(told) if *told == reason));
        assert!(
            !outcome.end.is_thrown(OnError::Throw),
            "stopping is not the tool's failure"
        );
        assert_eq!(trace.dropped(), 1);
    }
}

/// Never ends and counts how often it is polled.
struct Polled(Arc<AtomicUsize>);

impl Tool for Polled {
    fn spec(&self) -> leasehold_tools::ToolSpec {
        leasehold_tools::ToolSpec::new("polled-tool", "Counts.", Effect::Pure)
    }

    fn call(&self, _call: leasehold_tools::ToolCall) -> leasehold_tools::ToolFuture {
        let count = self.0.clone();
        Box::pin(std::future::poll_fn(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
            std::task::Poll::Pending
        }))
    }
}

// CONTRACT T5
#[test]
fn no_code_of_the_tool_runs_after_the_abort() {
    let polls = Arc::new(AtomicUsize::new(0));
    let tool = bound(Polled(polls.clone()));
    let mut call = Running::new(&tool, "{}");
    call.is_pending();
    let before = polls.load(Ordering::Relaxed);
    assert_eq!(call.wakes(), 0);
    call.signal.abort(AbortReason::Stopped("limit".to_owned()));
    assert!(call.wakes() > 0, "the abort wakes the call");
    assert_eq!(call.ended().end.text(), "Tool error: stopped: limit");
    assert_eq!(polls.load(Ordering::Relaxed), before, "INVOKE-1");
}

// CONTRACT T4, T5
// CASE 85
#[test]
fn a_panic_is_an_error_and_its_text_is_for_operators() {
    let (tool, _trace) = with_trace(send);
    let outcome = Running::new(&tool, r#"{"to": "panic", "times": 1}"#).ended();
    assert_eq!(outcome.end.text(), "Tool error: the tool panicked");
    assert!(matches!(&outcome.end, CallEnd::Panicked(text) if text == "secret"));
    assert!(outcome.end.is_thrown(OnError::Throw));
}

// CONTRACT T4
// BAD INPUT 23
#[test]
fn an_output_that_breaks_the_contract_is_an_error_for_the_model() {
    let (tool, _trace) = with_trace(send);
    let outcome = Running::new(&tool, r#"{"to": "many", "times": 1}"#).ended();
    assert_eq!(
        outcome.end.text(),
        "Tool error: invalid output: times: must be at most 3"
    );
    assert!(matches!(outcome.end, CallEnd::InvalidOutput(_)));
}

// CONTRACT T5, T6
#[test]
fn a_tools_own_error_is_a_value_the_model_reads_and_thrown_only_where_declared() {
    let (tool, _trace) = with_trace(send);
    let outcome = Running::new(&tool, r#"{"to": "nobody", "times": 1}"#).ended();
    assert_eq!(outcome.end.text(), "Tool error: no such customer");
    assert!(!outcome.end.is_thrown(OnError::Tell));
    assert!(outcome.end.is_thrown(OnError::Throw));
    let invalid = Running::new(&tool, "{}").ended();
    assert!(
        !invalid.end.is_thrown(OnError::Throw),
        "invalid input stays repairable"
    );
}

// CONTRACT S2
#[test]
fn what_a_tool_spent_is_told_whatever_its_end_was() {
    let (tool, _trace) = with_trace(wait);
    let mut call = Running::new(&tool, "{}");
    call.is_pending();
    call.clock.advance(seconds(10));
    let outcome = call.ended();
    let spend: Vec<String> = outcome.spend.iter().map(ToString::to_string).collect();
    assert_eq!(spend, ["tool:wait-tool mail 0.01 USD"]);
}

/// Spends what no money is.
#[tool(effect = write)]
async fn overspend(spend: Spend) -> ToolResult<PlainText> {
    spend.record("card-network", usd(0.1 + 0.2))?;
    Ok("paid".into())
}

// CONTRACT S2
#[test]
fn an_amount_that_is_not_exact_fails_the_tool_that_recorded_it() {
    let text = text_of(&bound(overspend), "{}");
    assert!(
        text.starts_with("Tool error: [money.invalid] 0.30000000000000004 is not an amount"),
        "{text}"
    );
}

/// Says which call it is.
#[tool(effect = read, timeout = seconds(5))]
async fn which(call: CallContext) -> ToolResult<PlainText> {
    let text = format!(
        "{} {} {} {} {} {} {} {} {} {:?}",
        call.execution_id(),
        call.thread_id(),
        call.owner(),
        call.tenant(),
        call.workflow(),
        call.agent(),
        call.call_id(),
        call.idempotency_key(),
        call.attempt(),
        call.deadline(),
    );
    Ok(text.into())
}

// CONTRACT T2
#[test]
fn the_context_tells_which_call_it_is() {
    let tool = bound(which);
    let mut call = Running::new(&tool, "{}");
    call.clock.advance(seconds(3));
    let id = facts().execution_id;
    let right = format!(
        "{id} thread-1 dana default shop support call-1 {id}:support:1:call-1 1 Timestamp(8000000)"
    );
    assert_eq!(call.ended().end.text(), json!({"text": right}).to_string());
}

#[test]
fn reviewed_arguments_are_what_the_call_is_made_with() {
    let (tool, _trace) = with_trace(send);
    let reviewed = review(&tool, r#"{ "times":1, "to":"dana" }"#).unwrap();
    assert_eq!(
        reviewed.text(),
        r#"{"times":1,"to":"dana"}"#,
        "canonical: sorted, no space"
    );
    let text = Running::new(&tool, reviewed).ended().end.text();
    assert_eq!(text, r#"{"to":"dana","times":1}"#);
}

#[test]
fn arguments_reviewed_for_another_definition_are_reviewed_again() {
    let (sender, _trace) = with_trace(send);
    let (waiter, trace) = with_trace(wait);
    let reviewed = review(&sender, r#"{"times":1,"to":"dana"}"#).unwrap();
    let text = Running::new(&waiter, reviewed).ended().end.text();
    assert_eq!(
        text,
        "Tool error: invalid input: times: unknown field; to: unknown field"
    );
    assert_eq!(trace.started(), 0);
}

/// Panics before there is a future.
struct Hasty;

impl Tool for Hasty {
    fn spec(&self) -> leasehold_tools::ToolSpec {
        leasehold_tools::ToolSpec::new("hasty-tool", "Panics.", Effect::Pure)
    }

    fn call(&self, _call: leasehold_tools::ToolCall) -> leasehold_tools::ToolFuture {
        panic!("at once")
    }
}

// CONTRACT T4
#[test]
fn a_panic_before_the_first_poll_is_an_error_too() {
    let outcome = Running::new(&bound(Hasty), "{}").ended();
    assert!(matches!(&outcome.end, CallEnd::Panicked(text) if text == "at once"));
}

/// The same tool in trait form.
struct SendByHand;

impl Tool for SendByHand {
    fn spec(&self) -> leasehold_tools::ToolSpec {
        let description = "Sends a mail.";
        leasehold_tools::ToolSpec::new("send-tool", description, Effect::Write)
            .takes::<Input<Mail>>()
            .takes::<Dep<Trace>>()
            .returns::<Mail>()
    }

    fn call(&self, call: leasehold_tools::ToolCall) -> leasehold_tools::ToolFuture {
        Box::pin(async move {
            let mail = send::call(call.take()?, call.take()?).await?;
            Ok(serde_json::to_value(mail)?)
        })
    }
}

// CONTRACT T1
#[test]
fn function_form_and_trait_form_give_the_same_tool() {
    let ((by_macro, _), (by_hand, _)) = (with_trace(send), with_trace(SendByHand));
    assert_eq!(by_macro.definition(), by_hand.definition());
    assert_eq!(by_macro.definition_hash(), by_hand.definition_hash());
    for arguments in [
        "{}",
        "[",
        r#"{"to":"dana","times":1}"#,
        r#"{"to":"many","times":1}"#,
    ] {
        assert_eq!(text_of(&by_macro, arguments), text_of(&by_hand, arguments));
    }
}

/// What a search looks for.
#[dto]
struct Search {
    /// The words.
    words: Vec<String>,
    /// The most results.
    #[dto(default = 10)]
    most: u32,
    /// How good they are.
    score: Option<f32>,
    /// By whom.
    author: Option<Mail>,
}

/// Searches.
#[tool(effect = read)]
async fn search(Input(search): Input<Search>) -> ToolResult<Search> {
    Ok(search)
}

// CONTRACT P9
#[test]
fn the_canonical_form_is_its_own_canonical_form() {
    let tool = bound(search);
    for text in [
        r#"{"words":[]}"#,
        r#"{"words":["a","b"],"most":3,"score":0.1,"author":null}"#,
        r#"{"author":{"to":"x","times":2},"words":["\u00e9"]}"#,
    ] {
        let once = review(&tool, text).unwrap();
        let twice = review(&tool, once.text()).unwrap();
        assert_eq!(once.text(), twice.text());
        assert_eq!(once.digest(), twice.digest());
    }
}
