//! Executions that wait for what a person says next.

use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::{AfterAnswer, Plan};
use leasehold_models::Message;

use crate::bench::{Bench, check};
use crate::desk::{person, plan};

fn talk() -> Plan {
    let mut plan = plan();
    plan.after_answer = AfterAnswer::AwaitMessage;
    plan
}

// CONTRACT A16, A9
#[test]
fn an_execution_that_waits_for_a_message_goes_on_with_one() {
    let cases = [
        ("it waits", "says hello", "answered 1, pause 1"),
        (
            "a message goes on",
            "says hello; message 1 more",
            "heard 1, message_received, model 2.1, > ask 2.1",
        ),
        (
            "and again",
            "says hello; message 1 more; says bye",
            "answered 2, pause 2",
        ),
        (
            "after a crash",
            "says hello; rest; crash; message 1 more",
            "heard 1, message_received, model 2.1, > ask 2.1",
        ),
        ("one pause only", "says hello; wait 9; crash", "claimed"),
        (
            "a cancel ends it",
            "says hello; cancel",
            "cancel_requested, closed 1, ended cancelled, > abort",
        ),
        (
            "an empty answer is no answer",
            "empty",
            "unusable 1, model 2.1, > ask 2.1",
        ),
    ];
    for (name, script, expected) in cases {
        check(name, talk(), script, expected);
    }
}

// CONTRACT A16
#[test]
fn a_message_never_stands_for_a_tools_result() {
    let mut bench = Bench::new(talk());
    let message = |text: &str| Verdict::Message {
        text: text.to_owned(),
    };
    bench.run("calls a:refund");
    let reply = bench.decide(1, person("dana"), message("approved: true"));
    assert!(matches!(reply, DecisionReply::Invalid(_)), "{reply:?}");
    bench.run("reject 1; says hello");
    let approve = Verdict::Approve {
        override_arguments: None,
    };
    assert!(matches!(
        bench.decide(2, person("dana"), approve),
        DecisionReply::Invalid(_)
    ));
    assert_eq!(
        bench.decide(2, person("erik"), message("hi")),
        DecisionReply::NotAllowed
    );
    bench.run("message 2 go on");
    let (messages, _) = bench.machine.conversation();
    assert_eq!(messages.last(), Some(&Message::user("go on")));
    let results = messages
        .iter()
        .filter(|message| matches!(message, Message::ToolResult { .. }));
    assert_eq!(results.count(), 1, "the rejection is the only result");
}

// CONTRACT A6, A16
#[test]
fn limits_hold_from_each_message_on() {
    let mut plan = talk();
    plan.limits.model_calls = 2;
    plan.limits.tool_calls = 1;
    let turn =
        |id: &str, pause: u32| format!("calls {id}:read; ok {id}; says hi; message {pause} more");
    let script = [turn("a", 1), turn("b", 2), turn("c", 3)].join("; ");
    check(
        "three rounds",
        plan.clone(),
        &script,
        "heard 3, message_received, model 7.1, > ask 7.1",
    );
    let script = format!("{script}; calls d:read; ok d; calls e:read");
    check(
        "one too many",
        plan,
        &script,
        "answered 8, ended limit-exceeded",
    );
    let mut strict = talk();
    strict.limits.identical_failing_calls = 2;
    let script = "calls a:read; error a; says hi; message 1 more; calls b:read; error b";
    let expected = "finished b error, model 4.1, > ask 4.1";
    check("a failure of an earlier round", strict, script, expected);
}
