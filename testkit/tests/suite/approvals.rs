//! Decisions: what one approval lets run, and what it does not.

use std::sync::atomic::Ordering;

use leasehold::{DecisionReply, Verdict};
use leasehold_models::Message;
use leasehold_testkit::{Execution, TestApp, call, principal, say, together};

use crate::bank::{Bank, Luck, PaymentApproval, app, app_of, cents, pay, settle, teller};

// CASE 18
// CONTRACT P8
#[leasehold_testkit::test]
async fn a_missing_decision_is_never_an_approval() {
    let both = together([call(pay, &cents(1)), call(pay, &cents(2))]);
    let app = TestApp::start(app(), [("teller", [both, say("Done.")])]).await;
    let execution = app.execute("teller", "Pay 1 and 2.").await;
    let pauses = execution.pauses::<PaymentApproval>().await;
    let asked: Vec<u32> = pauses.iter().map(|pause| pause.arguments().cents).collect();
    assert_eq!(asked, [1, 2]);
    pauses[0].approve(&principal("dana")).await;
    execution.rests().await;
    assert_eq!(app.dep::<Bank>().requests(), [1], "the second stays open");
    let left = execution.pauses::<PaymentApproval>().await;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].arguments(), &cents(2));
    app.crash().await;
    execution.rests().await;
    assert_eq!(app.dep::<Bank>().requests(), [1], "nor does a crash decide");
    left[0].reject(&principal("dana"), "not this one").await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [1]);
}

// CASE 22
// CONTRACT P7
#[leasehold_testkit::test]
async fn two_calls_in_a_row_take_two_approvals_and_run_in_order() {
    let script = [call(pay, &cents(1)), call(pay, &cents(2)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Pay 1, then 2.").await;
    for amount in [1, 2] {
        let pause = execution.paused::<PaymentApproval>().await;
        assert_eq!(pause.arguments(), &cents(amount));
        assert_eq!(pause.tool(), "pay-tool");
        pause.approve(&principal("dana")).await;
    }
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [1, 2]);
    assert_eq!(app.dep::<Bank>().keys().len(), 2);
}

// CASE 16
#[leasehold_testkit::test]
async fn an_approval_covers_the_retries_of_its_call_and_no_other_call() {
    let script = [call(pay, &cents(1)), call(pay, &cents(2)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.dep::<Luck>().0.store(1, Ordering::SeqCst);
    let execution = app.execute("teller", "Pay.").await;
    let first = execution.paused::<PaymentApproval>().await;
    first.approve(&principal("dana")).await;
    let second = execution.paused::<PaymentApproval>().await;
    assert_eq!(app.dep::<Bank>().requests(), [1, 1], "the same call, twice");
    assert_eq!(app.dep::<Bank>().keys().len(), 1);
    assert_eq!(second.arguments(), &cents(2), "other arguments ask anew");
    let again = approves();
    let reply = first.decide(&principal("dana"), again).await;
    assert_eq!(reply, DecisionReply::CountedBefore);
    execution.rests().await;
    assert_eq!(app.dep::<Bank>().requests(), [1, 1], "nor does a repeat");
    second.reject(&principal("dana"), "enough").await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [1, 1]);
}

// CONTRACT P7
#[leasehold_testkit::test]
async fn a_call_runs_with_the_arguments_its_approver_gave_under_the_same_key() {
    let script = [call(pay, &cents(900)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Pay 900.").await;
    let pause = execution.paused::<PaymentApproval>().await;
    let invalid = Verdict::Approve {
        override_arguments: Some(r#"{"cents": 0}"#.to_owned()),
    };
    let reply = pause.decide(&principal("dana"), invalid).await;
    assert!(matches!(reply, DecisionReply::Invalid(_)), "{reply:?}");
    pause.approve_with(&principal("dana"), &cents(5)).await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [5]);
    let keys = app.dep::<Bank>().keys();
    assert_eq!(keys, [format!("{}:teller:1:teller.1.t1:0", execution.id())]);
    let read = results_of(&execution).await;
    let right = "[dana changed the arguments before the call was made]\n{\"text\":\"paid 5\"}";
    assert_eq!(read, [right]);
}

// CONTRACT P7
#[leasehold_testkit::test]
async fn the_model_reads_why_its_call_was_rejected() {
    let script = [call(pay, &cents(1)), say("Sorry.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Pay.").await;
    let pause = execution.paused::<PaymentApproval>().await;
    pause.reject(&principal("dana"), "too late").await;
    execution.completed("Sorry.").await;
    let read = results_of(&execution).await;
    assert_eq!(read, ["Tool error: rejected by dana: too late"]);
    assert_eq!(app.dep::<Bank>().requests(), [0; 0]);
    let reply = pause.decide(&principal("eve"), approves()).await;
    let DecisionReply::AlreadyDecided { by, what, .. } = reply else {
        panic!("{reply:?}");
    };
    assert_eq!((by.as_deref(), what.as_str()), (Some("dana"), "rejected"));
}

// CONTRACT A16
#[leasehold_testkit::test]
async fn an_execution_that_waits_for_a_person_goes_on_with_what_they_say() {
    let script = [
        say("How much?"),
        call(settle, &cents(3)),
        say("Paid. What else?"),
    ];
    let app = TestApp::start(app_of(teller().converses()), [("teller", script)]).await;
    let execution = app.execute_for("erin", "teller", "Pay.").await;
    execution.told(&principal("erin"), "3 cents.").await;
    execution.rests().await;
    assert_eq!(app.dep::<Bank>().requests(), [3]);
    let conversation = execution.conversation().await;
    let said = conversation.iter().filter_map(|message| match message {
        Message::User { text } => Some(&**text),
        Message::Assistant { .. } | Message::ToolResult { .. } => None,
    });
    assert_eq!(said.collect::<Vec<_>>(), ["Pay.", "3 cents."]);
    let read = results_of(&execution).await;
    assert_eq!(read, [r#"{"text":"paid 3"}"#], "no message is a result");
}

/// The results that the model has read.
async fn results_of(execution: &Execution) -> Vec<String> {
    let conversation = execution.conversation().await;
    let results = conversation
        .into_iter()
        .filter_map(|message| match message {
            Message::ToolResult { text, .. } => Some(text.to_string()),
            Message::User { .. } | Message::Assistant { .. } => None,
        });
    results.collect()
}

fn approves() -> Verdict {
    Verdict::Approve {
        override_arguments: None,
    }
}
