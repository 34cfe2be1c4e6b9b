//! The calls of a turn: which run, in which order their results are told, and what is never run.

use leasehold_execution::Record;
use leasehold_execution::record::{CallPlan, FinishKind};
use leasehold_models::StopReason;

use crate::bench::{Bench, check};
use crate::desk::plan;
use crate::script::call;

// CONTRACT A1, A2
// CASE 101
#[test]
fn calls_of_one_turn_run_together_and_the_model_is_asked_once_all_have_results() {
    let cases = [
        (
            "all at once",
            "calls a:read b:read",
            "answered 1, > run a.1, > run b.1",
        ),
        (
            "an exclusive one waits for those before it",
            "calls a:read b:alone c:read",
            "answered 1, > run a.1",
        ),
        (
            "then it runs alone",
            "calls a:read b:alone c:read; ok a",
            "finished a Ok, > run b.1",
        ),
        (
            "and those after it",
            "calls a:read b:alone c:read; ok a; ok b",
            "finished b Ok, > run c.1",
        ),
        (
            "one result is not enough",
            "calls a:read b:read; ok b",
            "finished b Ok",
        ),
        (
            "the last result asks the model",
            "calls a:read b:read; ok b; ok a",
            "finished a Ok, model 2.1, > ask 2.1",
        ),
        (
            "a write that waits takes an intent of its own",
            "calls a:alone b:write; ok a",
            "finished a Ok, intended b.1 dequeued, > run b.1",
        ),
    ];
    for (name, script, expected) in cases {
        check(name, plan(), script, &expected.replace(" Ok", " ok"));
    }
}

// CONTRACT A2
// CASE 101
#[test]
fn results_are_told_in_the_order_of_the_calls_however_they_end() {
    let bench = Bench::ran("calls a:read b:read c:read; ok c; error a; ok b");
    let told = bench.results();
    let ids: Vec<&str> = told.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    assert_eq!(told[0].1, "Tool error: no");
}

// CONTRACT A2
#[test]
fn no_more_calls_run_at_once_than_the_plan_allows() {
    let mut narrow = plan();
    narrow.limits.parallel_calls = 2;
    let script = "calls a:read b:read c:read d:read";
    check(
        "two of four",
        narrow.clone(),
        script,
        "answered 1, > run a.1, > run b.1",
    );
    let script = format!("{script}; ok b");
    check("the next", narrow, &script, "finished b ok, > run c.1");
}

// CONTRACT A3
#[test]
fn a_call_that_times_out_ends_alone_and_what_comes_late_is_counted_and_never_told() {
    let mut bench = Bench::ran("calls a:read b:read; timeout a");
    assert_eq!(bench.trace(), "finished a timedout");
    bench.run("late a");
    assert_eq!(bench.trace(), "late a");
    bench.run("ok b");
    assert_eq!(bench.trace(), "finished b ok, model 2.1, > ask 2.1");
    assert_eq!(bench.results()[0].1, "Tool error: timed out after 10 s");
    bench.run("late nobody");
    assert_eq!(bench.trace(), "", "a call that was never made");
}

// CONTRACT A3
#[test]
fn what_a_late_call_used_is_counted() {
    let mut bench = Bench::ran("calls a:read b:read; timeout a");
    bench.costs = 7;
    bench.run("late a");
    assert_eq!(bench.machine.spent().0.micros(), 7);
}

// CONTRACT A4
// CASE 99
// BAD INPUT 15, 16
#[test]
fn whatever_ids_a_provider_sends_each_call_has_its_own_and_the_providers_is_kept() {
    let mut bench = Bench::ran(
        "calls call_0:read call_0:read :read; ok call_0:0; ok call_0:1; ok support.1.t1:2",
    );
    bench.run("calls call_0:read call_0%3A0:read");
    assert_eq!(
        bench.trace(),
        "answered 2, > run call_0.1, > run call_0%253A0.1"
    );
    bench.run("ok call_0; ok call_0%253A0; calls call_0:read");
    assert_eq!(bench.trace(), "answered 3, > run call_0:t3.1");
    let kept = bench
        .journal
        .iter()
        .filter_map(|entry| match &entry.record {
            Record::ModelAnswered(body) => Some(&body.calls),
            _ => None,
        });
    let kept: Vec<Option<&str>> = kept
        .flatten()
        .map(|call| call.provider_id.as_deref())
        .collect();
    assert_eq!(kept[0..3], [Some("call_0"), Some("call_0"), None]);
}

// CONTRACT A4, R4
#[test]
fn an_interrupted_call_runs_again_under_the_same_id_and_key() {
    let mut bench = Bench::ran("calls x:idem");
    let before = bench.machine.call(&"x".into_call()).unwrap();
    bench.run("crash");
    let after = bench.machine.call(&"x".into_call()).unwrap();
    assert_eq!(
        (before.key, before.call_id),
        (after.key.clone(), after.call_id)
    );
    assert_eq!((before.attempt, after.attempt), (1, 2));
    assert!(
        after.key.as_str().ends_with(":support:1:x"),
        "{}",
        after.key.as_str()
    );
}

trait IntoCall {
    fn into_call(self) -> leasehold_types::CallId;
}

impl IntoCall for &str {
    fn into_call(self) -> leasehold_types::CallId {
        leasehold_types::CallId::new(self)
    }
}

#[track_caller]
fn check_refused(script: &str, kind: FinishKind, text: &str) {
    let bench = Bench::ran(script);
    let refused = bench.journal.iter().find_map(|entry| match &entry.record {
        Record::ModelAnswered(body) => Some(body.calls[0].plan.clone()),
        _ => None,
    });
    let Some(CallPlan::Refuse {
        kind: found,
        message,
    }) = refused
    else {
        panic!("{script}: it was not refused: {refused:?}");
    };
    assert_eq!(found, kind, "{script}");
    assert!(message.starts_with(text), "{script}: {message}");
    assert_eq!(
        bench.trace(),
        "answered 1, model 2.1, > ask 2.1",
        "{script}"
    );
    assert_eq!(bench.results()[0].1, message, "{script}");
}

// CONTRACT A7
// CASE 97
// BAD INPUT 12, 13
#[test]
fn what_cannot_be_run_becomes_a_result_that_the_model_reads() {
    let invalid = "Tool error: invalid input: ";
    check_refused("cut a:read:{\"n\":1}", FinishKind::InvalidInput, invalid);
    check_refused("calls a:read:{\"n\":", FinishKind::InvalidInput, invalid);
    check_refused("calls a:read:", FinishKind::InvalidInput, invalid);
    for no_object in ["null", "[]", "\"{}\"", "7", "{}{}"] {
        let script = format!("calls a:read:{no_object}");
        check_refused(&script, FinishKind::InvalidInput, invalid);
    }
    let unknown = "Tool error: unknown tool: ";
    for name in [
        "Read",
        "read-tool",
        "re\u{430}d",
        "",
        &"x".repeat(65),
        "hidden",
    ] {
        let script = format!("calls a:{name}");
        check_refused(&script, FinishKind::UnknownTool, unknown);
    }
}

// CONTRACT A7
// BAD INPUT 17
#[test]
fn text_beside_calls_is_kept_and_is_no_end_and_an_empty_answer_is_repaired_within_bounds() {
    let mut bench = Bench::new(plan());
    bench.answer("let me look", vec![call("a:read")], StopReason::Finished);
    assert_eq!(bench.trace(), "answered 1, > run a.1");
    let between = "empty; empty; calls a:read; ok a; empty; says done";
    check("in a row", plan(), between, "answered 5, ended completed");
    let unusable = "[model.answer-unusable] ";
    for word in ["empty", "cut-text"] {
        let once = format!("{word}; says done");
        check("repaired", plan(), &once, "answered 2, ended completed");
        let bench = Bench::ran(&[word; 3].join("; "));
        assert_eq!(bench.trace(), "unusable 3, ended failed", "{word}");
        let text = format!("{:?}", bench.outcome());
        assert!(text.contains(unusable), "{text}");
    }
}

// CONTRACT A5
// CASE 100
#[test]
fn a_crash_in_a_turn_of_three_calls_leaves_no_call_without_a_result() {
    for (script, expected) in [
        (
            "calls a:read b:idem c:read; crash",
            "claimed, intended a.2 recovered, intended b.2 recovered, intended c.2 recovered, > run a.2, > run b.2, > run c.2",
        ),
        (
            "calls a:read b:idem c:read; ok b; crash",
            "claimed, intended a.2 recovered, intended c.2 recovered, > run a.2, > run c.2",
        ),
        (
            "calls a:read b:idem c:read; ok b; ok a; ok c; crash",
            "claimed, model 2.2, > ask 2.2",
        ),
        (
            "calls a:read b:alone c:read; crash; ok a; ok b; ok c",
            "finished c ok, model 2.1, > ask 2.1",
        ),
    ] {
        check(script, plan(), script, expected);
    }
}

// CONTRACT T5
#[test]
fn a_failure_that_ends_the_execution_waits_for_its_siblings_outcomes() {
    let mut bench = Bench::ran("calls a:read b:read c:alone d:refund; sent 1; fatal a");
    assert_eq!(bench.trace(), "finished a error");
    bench.run("ok b");
    assert_eq!(
        bench.trace(),
        "finished b ok, finished c stopped, finished d stopped, closed 1, ended failed"
    );
    let text = format!("{:?}", bench.outcome());
    assert!(
        text.contains("[execution.tool-failed] read-tool ended the execution: no"),
        "{text}"
    );
}
