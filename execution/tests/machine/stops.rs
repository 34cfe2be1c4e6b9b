//! Cancel, and what is told about a tree that was lost and not cancelled.

use leasehold_execution::Record;
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::record::{FinishKind, Outcome};

use crate::bench::{Bench, check};
use crate::desk::{person, plan};

// CONTRACT A5, A9
// CASE 28, 41, 48
#[test]
fn a_cancel_ends_it_as_cancelled_in_every_state_and_closes_its_pauses() {
    let cases = [
        ("the model is asked", "cancel", "cancel_requested, > abort"),
        (
            "its answer comes",
            "cancel; says done",
            "answered 1, ended cancelled",
        ),
        (
            "it answers with calls",
            "cancel; calls a:read",
            "answered 1, ended cancelled",
        ),
        (
            "it fails",
            "cancel; model-fails",
            "model failed 1.1, ended cancelled",
        ),
        (
            "it waits for its next attempt",
            "model-fails; cancel",
            "cancel_requested, ended cancelled, > abort",
        ),
        (
            "a call runs",
            "calls a:read; cancel",
            "cancel_requested, > abort",
        ),
        (
            "the call ends",
            "calls a:read; cancel; ok a",
            "finished a ok, ended cancelled",
        ),
        (
            "it fails retryably",
            "calls a:read; cancel; retry a",
            "finished a error, ended cancelled",
        ),
        (
            "nobody knows what it did",
            "calls a:write; cancel; unknown a",
            "finished a uncertain, ended cancelled",
        ),
        (
            "calls wait",
            "calls a:alone b:read; cancel; ok a",
            "finished a ok, finished b cancelled, ended cancelled",
        ),
        (
            "approvals wait",
            "calls a:refund b:refund; sent 1; sent 2; cancel",
            "cancel_requested, finished a cancelled, finished b cancelled, closed 1, closed 2, ended cancelled, > abort",
        ),
        (
            "a question is being sent",
            "calls a:refund; cancel",
            "cancel_requested, > abort",
        ),
        (
            "it was sent",
            "calls a:refund; cancel; sent 1",
            "sent 1.1, finished a cancelled, closed 1, ended cancelled",
        ),
        (
            "a call is uncertain",
            "calls a:write; crash; cancel",
            "cancel_requested, finished a uncertain, closed 1, ended cancelled, > abort",
        ),
        (
            "a tool is about to end it",
            "calls a:read b:read; fatal a; cancel; ok b",
            "finished b ok, ended cancelled",
        ),
        (
            "it was cancelled before",
            "calls a:read; cancel; cancel",
            "",
        ),
        ("it has ended", "says done; cancel", ""),
        (
            "the owner dies before it could end",
            "calls a:read b:write; cancel; crash",
            "claimed, finished a cancelled, finished b uncertain, ended cancelled",
        ),
    ];
    for (name, script, expected) in cases {
        check(name, plan(), script, expected);
    }
}

// CONTRACT A9
#[test]
fn a_call_that_may_have_run_once_is_not_told_as_one_that_did_not() {
    let mut narrow = plan();
    narrow.limits.parallel_calls = 1;
    let script = "calls a:write b:read; crash; approve 1; cancel; ok b";
    let expected = "finished b ok, finished a uncertain, ended cancelled";
    check(
        "its second run was allowed and did not begin",
        narrow,
        script,
        expected,
    );
}

// CONTRACT A9
// CASE 41
// RELIABILITY AP6
#[test]
fn a_decision_after_a_cancel_is_told_that_it_is_over() {
    let mut bench = Bench::ran("calls a:refund b:read; cancel");
    let approve = || Verdict::Approve {
        override_arguments: None,
    };
    assert_eq!(
        bench.decide(1, person("erik"), approve()),
        DecisionReply::Closed,
        "while b still runs"
    );
    bench.run("sent 1; ok b");
    assert_eq!(bench.outcome().word(), "cancelled");
    assert_eq!(
        bench.decide(1, person("erik"), approve()),
        DecisionReply::Closed
    );
    assert_eq!(bench.intents("a"), 0);
    let Outcome::Cancelled { by, reason } = bench.outcome() else {
        panic!("{:?}", bench.outcome());
    };
    assert_eq!((by.as_str(), reason.as_str()), ("dana", "enough"));
}

// CONTRACT A9
// CASE 63
#[test]
fn a_lost_owner_leaves_nothing_that_looks_like_a_cancel() {
    let bench = Bench::ran("calls a:read; crash; ok a; crash; says done");
    assert_eq!(bench.outcome().word(), "completed");
    let cancelled = bench.journal.iter().any(|entry| match &entry.record {
        Record::CancelRequested(_) => true,
        Record::CallFinished(body) => body.kind == FinishKind::Cancelled,
        _ => false,
    });
    assert!(!cancelled);
    let both = Bench::ran("calls a:read; cancel; crash");
    assert_eq!(
        both.outcome().word(),
        "cancelled",
        "a cancel that came first stays one"
    );
}

// CONTRACT A9
#[test]
fn a_quarantined_tree_can_be_cancelled() {
    let script = "calls a:idem; crash; crash; crash-alone; crash; cancel";
    check(
        "cancelled",
        plan(),
        script,
        "cancel_requested, finished a uncertain, ended cancelled, > abort",
    );
}

// CONTRACT A5
#[test]
fn after_the_end_nothing_happens_any_more() {
    let mut bench = Bench::ran("calls a:read b:read; cancel; ok a; ok b");
    for command in [
        "late a",
        "ok b",
        "wait 99",
        "rest",
        "cancel",
        "retry-tree",
        "crash",
    ] {
        bench.run(command);
        assert_eq!(bench.trace(), "", "EXEC-6: {command}");
    }
}
