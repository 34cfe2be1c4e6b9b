//! Limits: each is reached by a number, ends the execution with its spend counted, and is counted before anything is dispatched.

use leasehold_execution::record::{CallPlan, Outcome};
use leasehold_execution::{Limits, Plan, Record};
use leasehold_models::StopReason;

use crate::bench::Bench;
use crate::desk::plan;
use crate::script::call;

fn limited(change: impl FnOnce(&mut Limits)) -> Plan {
    let mut plan = plan();
    change(&mut plan.limits);
    plan
}

#[track_caller]
fn check_limit(name: &str, plan: &Plan, script: &str, text: &str) -> Bench {
    let mut bench = Bench::new(plan.clone());
    bench.costs = 5;
    bench.run(script);
    let Outcome::LimitExceeded { error, .. } = bench.outcome() else {
        panic!("{name}: {:?}", bench.outcome());
    };
    assert_eq!(
        error,
        &format!("[limit.exceeded] LimitExceededError: {text}"),
        "{name}"
    );
    assert!(
        bench.ended().settled.micros() >= 5,
        "{name}: its spend is counted"
    );
    bench
}

// CONTRACT A6
#[test]
fn the_defaults_are_those_that_are_promised() {
    let limits = Limits::default();
    assert_eq!((limits.tool_calls, limits.model_calls), (20, 12));
    assert_eq!(limits.identical_failing_calls, 3);
    assert!(!limits.soft_landing);
}

// CONTRACT A6
// CASE 115
#[test]
fn the_limit_of_tool_calls_is_taken_before_dispatch() {
    let plan = limited(|limits| limits.tool_calls = 2);
    let mut at_limit = Bench::new(plan.clone());
    at_limit.run("calls a:read b:read; ok a; error b; says done");
    assert_eq!(
        at_limit.outcome().word(),
        "completed",
        "the limit itself is allowed"
    );
    let text = "3 tool calls were asked for, the limit is 2";
    let bench = check_limit(
        "one past it",
        &plan,
        "calls a:read b:read c:read; error a; ok b",
        text,
    );
    assert_eq!(bench.intents("c"), 0);
    let bench = check_limit(
        "in the next turn",
        &plan,
        "calls a:read b:read; ok a; ok b; calls c:read",
        text,
    );
    assert_eq!(bench.intents("c"), 0);
}

// CONTRACT A6
#[test]
fn the_limit_of_model_calls_counts_turns_and_not_the_attempts_a_crash_or_a_failure_costs() {
    let plan = limited(|limits| limits.model_calls = 2);
    let text = "2 model calls were made, the limit is 2";
    let calm = "calls a:read; ok a; calls b:read; ok b";
    check_limit("calm", &plan, calm, text);
    check_limit(
        "crashed",
        &plan,
        "crash; calls a:read; ok a; crash; crash; calls b:read; ok b",
        text,
    );
    check_limit(
        "failed",
        &plan,
        "model-fails; wait 1; calls a:read; ok a; calls b:read; ok b",
        text,
    );
    let mut last = Bench::new(plan);
    last.run("calls a:read; ok a; says done");
    assert_eq!(
        last.outcome().word(),
        "completed",
        "an answer at the limit is an answer"
    );
}

// CONTRACT A6
// CASE 90, 103
#[test]
fn a_call_that_fails_for_ever_is_made_as_often_as_one_layer_of_retries_says() {
    let same = |turn: u32| format!("calls a:read; retry {0}; retry {0}; retry {0}", id(turn));
    let script = [same(1), same(2), same(3)].join("; ");
    let text = "the same call failed 3 times in a row";
    let bench = check_limit("for ever", &plan(), &script, text);
    let runs: usize = (1..=3).map(|turn| bench.intents(&id(turn))).sum();
    assert_eq!(runs, 9, "three attempts of three calls");
    assert_eq!(bench.asked().0, 3, "three model calls");
}

fn id(turn: u32) -> String {
    if turn == 1 {
        "a".to_owned()
    } else {
        format!("a:t{turn}")
    }
}

// CONTRACT A6
#[test]
fn identical_failures_are_counted_in_a_row_and_in_the_order_of_the_calls() {
    let limits = limited(|limits| limits.identical_failing_calls = 2);
    let text = "the same call failed 2 times in a row";
    check_limit(
        "in one turn",
        &limits,
        "calls a:read b:read; error b; error a",
        text,
    );
    for (name, script) in [
        (
            "another between",
            "calls a:read b:read:{\"n\":1} c:read; error a; error c; error b",
        ),
        (
            "a success between",
            "calls a:read b:pure c:read; error a; error c; ok b",
        ),
    ] {
        let mut bench = Bench::new(limits.clone());
        bench.run(script);
        assert!(bench.machine.ended().is_none(), "{name}");
    }
}

// CONTRACT A6
#[test]
fn an_answer_over_the_limit_of_bytes_ends_it_and_one_at_the_limit_does_not() {
    let plan = limited(|limits| limits.reply_bytes = 4);
    let mut bench = Bench::new(plan.clone());
    bench.run("says éé");
    assert_eq!(bench.outcome().word(), "completed");
    check_limit(
        "one past it",
        &plan,
        "says éé!",
        "an answer is longer than the limit of 4 bytes",
    );
    let mut long = Bench::new(plan);
    long.answer(&"é".repeat(1_000_000), vec![], StopReason::Finished);
    let Record::ModelAnswered(body) = &long.last.entries[0].record else {
        panic!("{}", long.trace());
    };
    assert_eq!(
        body.text, "ééé",
        "no more is journaled than shows that it was too long"
    );
}

// CONTRACT A6
// CASE 118
#[test]
fn a_soft_landing_is_one_last_turn_without_tools() {
    let mut soft = limited(|limits| {
        limits.model_calls = 1;
        limits.soft_landing = true;
    });
    let mut bench = Bench::new(soft.clone());
    bench.run("calls a:read; ok a");
    assert_eq!(
        bench.trace(),
        "finished a ok, model 2.1 without tools, > ask 2.1"
    );
    assert!(!bench.machine.conversation().1, "the turn has no tools");
    bench.run("crash; says so far");
    let Outcome::LimitExceeded { partial, .. } = bench.outcome() else {
        panic!("{:?}", bench.outcome());
    };
    assert_eq!(partial.as_deref(), Some("so far"));

    let mut bench = Bench::new(soft.clone());
    bench.run("calls a:read; ok a; calls b:read");
    assert_eq!(
        bench.trace(),
        "answered 2, ended limit-exceeded",
        "calls there are never made"
    );
    soft.limits.soft_landing = false;
    check_limit(
        "hard",
        &soft,
        "calls a:read; ok a",
        "1 model calls were made, the limit is 1",
    );
}

// CONTRACT A6
// BAD INPUT 14
#[test]
fn of_a_thousand_calls_in_one_turn_the_limit_runs_and_the_rest_are_refused_as_results() {
    let mut bench = Bench::new(plan());
    let calls: Vec<_> = (0..1_000)
        .map(|_| call(&format!("same:read:{{\"n\":\"{}\"}}", "x".repeat(500))))
        .collect();
    bench.answer("", calls, StopReason::ToolCalls);
    let Record::ModelAnswered(body) = &bench.last.entries[0].record else {
        panic!("{}", bench.trace());
    };
    let refused = |plan: &CallPlan| matches!(plan, CallPlan::Refuse { .. });
    assert_eq!(
        body.calls.iter().filter(|call| refused(&call.plan)).count(),
        980
    );
    assert_eq!(bench.last.steps.len(), 8, "as many as may run at once");
    for position in 0..20 {
        bench.run(&format!("ok same:{position}"));
    }
    assert_eq!(bench.results().len(), 1_000);
    assert_eq!(bench.outcome().word(), "limit-exceeded");
}
