//! What a new owner does with what the former one left: by effect class, and never for ever.

use std::time::Duration;

use leasehold_execution::Standing;
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_types::Effect;

use crate::bench::{Bench, check};
use crate::desk::{person, plan};

// CONTRACT R4
// CASE 3, 48, 64
// RELIABILITY FX1
#[test]
fn a_call_that_was_cut_off_runs_again_where_its_class_allows_and_else_a_person_decides() {
    let again = "claimed, intended a.2 recovered, > run a.2";
    let asks = "claimed, uncertain a, pause 1";
    let cases = [
        ("pure", "calls a:pure; crash", again),
        ("read", "calls a:read; crash", again),
        ("idempotent", "calls a:idem; wait 3599; crash", again),
        (
            "idempotent, its key forgotten since its first intent",
            "calls a:idem; wait 3599; crash; wait 1; crash",
            asks,
        ),
        (
            "idempotent, its key forgotten",
            "calls a:idem; wait 3600; crash",
            asks,
        ),
        ("write", "calls a:write; crash", asks),
        (
            "write, cut off again while it is uncertain",
            "calls a:write; crash; crash",
            "claimed",
        ),
        (
            "a finished write",
            "calls a:write; ok a; crash",
            "claimed, model 2.2, > ask 2.2",
        ),
        (
            "an approved write that did not start",
            "calls a:refund; approve 1; crash",
            "claimed, uncertain a, pause 2",
        ),
        (
            "a write that has to wait",
            "calls a:alone b:write; crash",
            again,
        ),
        ("the model call", "crash", "claimed, model 1.2, > ask 1.2"),
        (
            "an approval that is sent",
            "calls a:refund; crash",
            "claimed, > send 1.1",
        ),
        (
            "an approval that waits",
            "calls a:refund; sent 1; rest; crash",
            "claimed",
        ),
        (
            "a model call that waits for its next attempt",
            "model-fails; rest; crash",
            "claimed",
        ),
        (
            "and its time comes",
            "model-fails; rest; crash; wait 1",
            "model 1.2, > ask 1.2",
        ),
    ];
    for (name, script, expected) in cases {
        check(name, plan(), script, expected);
    }
}

// CONTRACT R4, P7
// CASE 64
#[test]
fn a_person_lets_a_call_of_unknown_outcome_run_again_as_it_is_or_not_at_all() {
    let run = "approved 1, intended a.2 approved, > run a.2";
    check("again", plan(), "calls a:write; crash; approve 1", run);
    let bench = Bench::ran("calls a:write; crash; reject 1 the refund is there");
    assert_eq!(
        bench.trace(),
        "rejected 1, finished a uncertain, model 2.1, > ask 2.1"
    );
    let text = "Tool error: it is not known whether the call had its effect; dana decided not to repeat it: the refund is there";
    assert_eq!(bench.results()[0].1, text);
    let mut bench = Bench::ran("calls a:write; unknown a");
    assert_eq!(
        bench.trace(),
        "uncertain a, pause 1",
        "the tool itself may say so"
    );
    let changed = Verdict::Approve {
        override_arguments: Some("{\"n\":1}".to_owned()),
    };
    let reply = bench.decide(1, person("erik"), changed);
    assert!(
        matches!(reply, DecisionReply::Invalid(_)),
        "its key stands for its arguments: {reply:?}"
    );
}

// CONTRACT R4
// RELIABILITY FX2
#[test]
fn no_call_is_sent_past_the_retention_of_its_key() {
    let mut short = plan();
    let idem = short.tools.get_mut("idem-tool").unwrap();
    idem.effect = Effect::idempotent(Duration::from_secs(2));
    let script = "calls a:idem; retry a";
    check(
        "within it",
        short.clone(),
        script,
        "intended a.2 retry, > run a.2",
    );
    check(
        "past it",
        short.clone(),
        &format!("{script}; retry a; wait 1"),
        "",
    );
    let mut bench = Bench::new(short.clone());
    bench.run("calls a:idem; wait 1");
    bench.sleep(1);
    bench.run("retry a");
    assert_eq!(bench.trace(), "finished a error, model 2.1, > ask 2.1");
    // It waits for its turn behind another call, and meanwhile its key is forgotten.
    let script = "calls a:alone b:idem; crash; wait 3; ok a";
    check("while it waits", short, script, "finished a ok");
    let mut bench = Bench::new(plan());
    bench.run("calls a:alone b:idem; crash");
    bench.sleep(3_600);
    bench.run("ok a");
    assert_eq!(bench.trace(), "finished a ok, uncertain b, pause 1");
}

// CONTRACT R6
// CASE 46
#[test]
fn a_tree_that_kills_its_worker_three_times_the_last_time_alone_is_quarantined() {
    let again =
        |attempt: u32| format!("claimed, intended a.{attempt} recovered, > run a.{attempt}");
    let mut bench = Bench::ran("calls a:idem");
    for (script, deaths, expected) in [
        ("crash", 1, again(2)),
        ("crash", 2, again(3)),
        ("crash", 3, again(4)),
        ("crash-alone", 4, again(5)),
        ("crash", 5, "claimed, quarantined".to_owned()),
    ] {
        bench.run(script);
        assert_eq!(bench.trace(), expected, "{script}");
        assert_eq!(bench.machine.deaths(), deaths, "{script}");
    }
    let cause = bench.machine.quarantined().unwrap();
    assert!(cause.contains("idem-tool ran as call a"), "{cause}");
    assert_eq!(bench.standing(), Standing::Blocked);
    bench.run("wait 99");
    assert_eq!(bench.trace(), "", "nothing moves it");
    bench.run("crash");
    assert_eq!(bench.trace(), "claimed");
    bench.run("retry-tree");
    assert_eq!(bench.trace(), "retried, intended a.6 recovered, > run a.6");
    bench.run("crash-alone; crash");
    let began_anew = "claimed, intended a.8 recovered, > run a.8";
    assert_eq!(bench.trace(), began_anew, "the count");
}

// CONTRACT R6
// CASE 46
#[test]
fn any_outcome_clears_the_count_of_deaths() {
    let mut bench = Bench::ran("calls a:idem b:idem; crash; crash; crash-alone; ok a; crash-alone");
    assert_eq!(bench.trace(), "claimed, intended b.5 recovered, > run b.5");
    assert_eq!(bench.machine.deaths(), 1);
    bench.run("crash-alone; crash-alone; crash-alone");
    assert_eq!(bench.trace(), "claimed, quarantined");
}

// CONTRACT R6
#[test]
fn a_retry_brings_back_what_was_cut_off_whatever_it_was() {
    let dies = "crash; crash; crash-alone; crash";
    check(
        "a model call",
        plan(),
        &format!("{dies}; retry-tree"),
        "retried, model 1.5, > ask 1.5",
    );
    check("nothing is quarantined", plan(), "retry-tree", "");
    let script = format!("calls a:idem; {dies}; wait 9999; retry-tree");
    check(
        "a forgotten key",
        plan(),
        &script,
        "retried, uncertain a, pause 1",
    );
}

// CONTRACT A1
// CASE 3
#[test]
fn the_outcome_that_closes_a_turn_and_the_next_request_are_one_frame() {
    let bench = Bench::ran("calls a:read; ok a");
    assert_eq!(bench.trace(), "finished a ok, model 2.1, > ask 2.1");
    let bench = Bench::ran("calls a:read; ok a; crash");
    assert_eq!(bench.trace(), "claimed, model 2.2, > ask 2.2");
    assert_eq!(bench.intents("a"), 1);
}

// CASE 90
#[test]
fn a_model_that_fails_for_ever_is_asked_as_often_as_the_default_says() {
    let mut bench = Bench::ran("model-fails; wait 1; model-fails; wait 1; model-fails; wait 2");
    assert_eq!(bench.trace(), "model 1.4, > ask 1.4");
    bench.run("model-fails");
    assert_eq!(bench.trace(), "model failed 1.4, ended failed");
    check(
        "at once where it makes no sense",
        plan(),
        "model-dies",
        "model failed 1.1, ended failed",
    );
}

// CASE 48
#[test]
fn an_execution_always_runs_waits_for_somebody_or_has_ended() {
    for script in [
        "",
        "calls a:read",
        "calls a:alone b:write; ok a",
        "calls a:refund",
        "calls a:refund; sent 1",
        "calls a:write; crash",
        "calls a:read; crash; ok a",
        "model-fails",
        "says done",
        "empty; empty",
    ] {
        let bench = Bench::ran(script);
        let standing = bench.standing();
        let fits = match standing {
            Standing::Busy => true,
            Standing::Waiting { .. } => bench.machine.next_due().is_some(),
            Standing::AtRest { .. } => bench.machine.questions().next().is_some(),
            Standing::Blocked => false,
            Standing::Ended => bench.machine.ended().is_some(),
        };
        assert!(fits, "{script}: {standing:?}");
    }
}
