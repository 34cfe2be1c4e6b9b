//! Approvals: who may answer, which answer counts, and what runs then.

use std::time::Duration;

use leasehold_execution::Record;
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::record::{PauseSubject, Resolution};
use leasehold_models::Message;
use leasehold_types::{CallId, Digest};

use crate::bench::{Bench, check};
use crate::desk::{person, plan};

fn approve() -> Verdict {
    Verdict::Approve {
        override_arguments: None,
    }
}

fn edit(arguments: &str) -> Verdict {
    Verdict::Approve {
        override_arguments: Some(arguments.to_owned()),
    }
}

// CONTRACT P7, P8, A5
// CASE 1, 2, 18, 21, 22
#[test]
fn pauses_of_one_turn_are_answered_in_any_order_and_nothing_else_runs_again() {
    let three = "calls a:refund b:refund c:refund; sent 1; sent 2; sent 3";
    let cases = [
        (
            "three pauses at once",
            "calls a:refund b:refund c:refund",
            "answered 1, pause 1, pause 2, pause 3, > send 1.1, > send 2.1, > send 3.1",
        ),
        (
            "the last first",
            "approve 3",
            "approved 3, intended c.1 approved, > run c.1",
        ),
        (
            "one without a decision stays",
            "approve 3; ok c; approve 1; ok a",
            "finished a ok",
        ),
        (
            "one of three rejected",
            "approve 3; ok c; reject 2 no; approve 1; ok a",
            "finished a ok, model 2.1, > ask 2.1",
        ),
        (
            "after a crash",
            "approve 2; ok b; crash; approve 1",
            "approved 1, intended a.1 approved, > run a.1",
        ),
    ];
    for (name, script, expected) in cases {
        let script = if script.starts_with("calls") {
            script.to_owned()
        } else {
            format!("{three}; {script}")
        };
        check(name, plan(), &script, expected);
    }
    let siblings =
        Bench::ran("calls a:idem b:refund; ok a; sent 1; rest; crash; approve 1; ok b; crash");
    assert_eq!((siblings.intents("a"), siblings.intents("b")), (1, 1));
    let twice =
        Bench::ran("calls a:refund; approve 1; ok a; calls b:refund; approve 2; ok b; says done");
    assert_eq!((twice.intents("a"), twice.intents("b")), (1, 1));
}

// CONTRACT P3
#[test]
fn whether_a_call_asks_may_depend_on_its_arguments() {
    check(
        "small",
        plan(),
        "calls a:refund:{\"n\":50}",
        "answered 1, > run a.1",
    );
    check(
        "large",
        plan(),
        "calls a:refund:{\"n\":51}",
        "answered 1, pause 1, > send 1.1",
    );
    check(
        "invalid ones ask nobody",
        plan(),
        "calls a:refund:[]",
        "answered 1, model 2.1, > ask 2.1",
    );
}

// CONTRACT P3, P4
// CASE 94
#[test]
fn a_question_is_sent_again_under_the_same_secret_and_stays_answerable_where_it_reaches_nobody() {
    let mut bench = Bench::ran("calls a:refund");
    let secret = bench.machine.question(1).unwrap().pause_id;
    let cases = [
        ("unsent 1", "unsent 1.1"),
        ("wait 1", "> send 1.2"),
        ("crash", "claimed, > send 1.2"),
        ("unsent 1; wait 1", "> send 1.3"),
        ("unsent 1; wait 2", "> send 1.4"),
        ("unsent 1; wait 4", "> send 1.5"),
        ("unsent 1", "undeliverable 1.5"),
        ("wait 99", ""),
        ("crash", "claimed"),
    ];
    for (script, expected) in cases {
        bench.run(script);
        assert_eq!(bench.trace(), expected, "{script}");
        assert_eq!(
            bench.machine.question(1).unwrap().pause_id,
            secret,
            "{script}"
        );
    }
    assert!(bench.machine.question(1).unwrap().undeliverable);
    bench.run("approve 1");
    assert_eq!(
        bench.trace(),
        "approved 1, intended a.1 approved, > run a.1"
    );
}

// CONTRACT P7
// CASE 17, 19
#[test]
fn changed_arguments_are_checked_recorded_and_told_to_the_model_under_the_same_call() {
    let mut bench = Bench::ran("calls a:refund:{\"n\":99}");
    assert_eq!(
        bench.decide(1, person("erik"), edit("[1]")),
        DecisionReply::Invalid("invalid input: $: not an object".to_owned())
    );
    assert_eq!(
        bench.decide(1, person("erik"), edit("{\"z\":1, \"n\":60}")),
        DecisionReply::Counted
    );
    assert_eq!(bench.trace(), "edited 1, intended a.1 approved, > run a.1");
    let Record::PauseResolved(body) = &bench.last.entries[0].record else {
        panic!("{}", bench.trace());
    };
    assert_eq!(body.answered_by, Some(person("erik")));
    let canonical = "{\"n\":60,\"z\":1}";
    let digest = Digest::of(canonical.as_bytes());
    let approved = Resolution::Approved {
        override_arguments: Some(canonical.to_owned()),
        arguments_digest: digest,
    };
    assert_eq!(body.resolution, approved);
    bench.run("crash");
    assert_eq!(
        bench.trace(),
        "claimed, uncertain a, pause 2",
        "a write is not repeated"
    );
    let call = bench.machine.call(&CallId::new("a")).unwrap();
    assert_eq!(
        (call.arguments.as_str(), call.arguments_digest),
        (canonical, digest),
        "EXEC-4"
    );
    assert!(matches!(call.approved, Some((by, _, true)) if by == person("erik")));
    bench.run("approve 2; ok a");
    assert_eq!(
        bench.results()[0].1,
        "[erik changed the arguments before the call was made]\ndone"
    );
    let (messages, _) = bench.machine.conversation();
    let told = messages.iter().find_map(|message| match message {
        Message::Assistant { calls, .. } => calls.first(),
        Message::User { .. } | Message::ToolResult { .. } => None,
    });
    assert_eq!(&*told.unwrap().arguments, canonical);
}

// CONTRACT P7
#[test]
fn a_rejection_is_a_result_with_the_reason_and_nothing_runs() {
    let bench = Bench::ran("calls a:refund; reject 1 too much");
    assert_eq!(
        bench.trace(),
        "rejected 1, finished a rejected, model 2.1, > ask 2.1"
    );
    assert_eq!(
        bench.results()[0].1,
        "Tool error: rejected by dana: too much"
    );
    assert_eq!(bench.intents("a"), 0);
}

// CONTRACT P7
// CASE 16
#[test]
fn an_approval_is_for_one_call_and_its_arguments_and_another_call_asks_anew() {
    check(
        "a retry of the call itself needs no second approval",
        plan(),
        "calls a:refund:{\"n\":60}; approve 1; retry a",
        "intended a.2 retry, > run a.2",
    );
    let script = "calls a:refund:{\"n\":60}; approve 1; error a; calls b:refund:{\"n\":70}";
    check(
        "another one asks",
        plan(),
        script,
        "answered 2, pause 2, > send 2.1",
    );
}

// CONTRACT P9
// RELIABILITY AP9
#[test]
fn what_was_approved_is_what_runs_or_nothing() {
    let mut bench = Bench::ran("calls a:refund");
    let question = bench.machine.question(1).unwrap();
    let call = bench.machine.call(&CallId::new("a")).unwrap();
    let config = Digest::of(b"config");
    let bound = [call.definition, call.arguments_digest, config];
    let parts: Vec<&[u8]> = bound
        .iter()
        .map(|part| part.as_bytes().as_slice())
        .collect();
    assert_eq!(
        question.digest,
        Digest::of_parts(&parts),
        "definition, arguments and configuration"
    );

    let mut changed = plan();
    changed.tools.get_mut("refund-tool").unwrap().definition = Digest::of(b"another");
    bench.replan(changed);
    assert_eq!(
        bench.decide(1, person("erik"), approve()),
        DecisionReply::Mismatch
    );
    let mut changed = plan();
    changed.config_hash = Digest::of(b"another");
    bench.replan(changed);
    assert_eq!(
        bench.decide(1, person("erik"), approve()),
        DecisionReply::Mismatch
    );
    changed = plan();
    changed.tools.remove("refund-tool");
    bench.replan(changed);
    assert_eq!(
        bench.decide(1, person("erik"), approve()),
        DecisionReply::Mismatch
    );
    assert_eq!(bench.intents("a"), 0);
}

fn expiring() -> leasehold_execution::Plan {
    let mut plan = plan();
    plan.approval_expires_after = Some(Duration::from_secs(60));
    plan
}

// CONTRACT P10
// CASE 23, 24, 92, 93, 94
// RELIABILITY AP6
#[test]
fn an_approval_that_nobody_gives_in_time_expires_once_by_the_clock_of_whoever_looks() {
    let expired = "expired 1, finished a expired, model 2.1, > ask 2.1";
    check(
        "in time",
        expiring(),
        "calls a:refund; sent 1; wait 59; approve 1",
        "approved 1, intended a.1 approved, > run a.1",
    );
    check(
        "at its end",
        expiring(),
        "calls a:refund; sent 1; wait 60",
        expired,
    );
    check(
        "once",
        expiring(),
        "calls a:refund; sent 1; wait 60; wait 60",
        "",
    );
    let mut late = Bench::new(expiring());
    late.run("calls a:refund; sent 1");
    let due = late.machine.next_due();
    let opened = late.journal.iter().find_map(|entry| match &entry.record {
        Record::PauseOpened(body) => body.expires_at,
        _ => None,
    });
    assert!(
        due.is_some() && due == opened,
        "the timer is in the pause's own record"
    );
    assert_eq!(late.machine.summary().next_due, due);
    late.run("rest");
    assert_eq!(late.replayed().next_due(), due);
    late.sleep(60);
    assert_eq!(
        late.decide(1, person("erik"), approve()),
        DecisionReply::Expired,
        "without a sweep"
    );
    assert_eq!(late.trace(), expired);
    let text =
        "Tool error: nobody answered within 60 s: the approval expired and the call was not made";
    assert_eq!(late.results()[0].1, text);
    let mut down = Bench::new(expiring());
    down.run("calls a:refund; sent 1; rest");
    down.sleep(3_600);
    down.run("crash");
    assert_eq!(
        down.trace(),
        format!("claimed, {expired}"),
        "it ended while nobody was there"
    );
}

// CASE 43
#[test]
fn a_call_that_was_admitted_runs_when_it_is_approved_at_the_limit_and_no_model_is_asked() {
    let mut tight = plan();
    tight.limits.tool_calls = 1;
    tight.limits.model_calls = 1;
    check(
        "run",
        tight.clone(),
        "calls a:refund; approve 1",
        "approved 1, intended a.1 approved, > run a.1",
    );
    check(
        "and no further",
        tight,
        "calls a:refund; approve 1; ok a",
        "finished a ok, ended limit-exceeded",
    );
}

#[test]
fn only_approvals_are_asked_under_their_role() {
    let bench = Bench::ran("calls a:refund");
    let subject = bench.machine.question(1).unwrap().subject;
    let role = "boss-channel".to_owned();
    assert_eq!(
        subject,
        PauseSubject::Approval {
            call_id: CallId::new("a"),
            role
        }
    );
}
