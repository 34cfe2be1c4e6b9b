//! Crashes at named points: what runs again, under which key, and what a person must decide.

use leasehold_testkit::{
    TestApp, after_answer_of, after_effect_of, before_effect_of, call, principal, say, together,
};

use crate::bank::{Bank, app, cents, hang, settle, wire, wire_slowly};

// CASE 64
// CONTRACT R4, A4
#[leasehold_testkit::test]
async fn an_idempotent_call_that_was_cut_off_runs_again_under_the_same_key() {
    let script = [call(settle, &cents(7)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.crash_once(after_effect_of(settle));
    let execution = app.execute("teller", "Settle 7.").await;
    let ending = execution.completed("Done.").await;
    assert_eq!(
        app.dep::<Bank>().requests(),
        [7, 7],
        "{}",
        ending.timeline()
    );
    assert_eq!(app.dep::<Bank>().keys().len(), 1, "one effect");
}

// CASE 64
// CONTRACT R4
#[leasehold_testkit::test]
async fn a_write_that_was_cut_off_is_uncertain_and_a_person_has_it_left() {
    let script = [call(wire, &cents(7)), say("Asked.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.crash_once(after_effect_of(wire));
    let execution = app.execute("teller", "Wire 7.").await;
    let doubt = execution.uncertain().await;
    assert_eq!(
        (doubt.tool(), doubt.arguments()),
        ("wire-tool", r#"{"cents":7}"#)
    );
    execution.rests().await;
    assert_eq!(app.dep::<Bank>().requests(), [7], "never by itself");
    doubt.leave(&principal("dana"), "it is in the books").await;
    let ending = execution.completed("Asked.").await;
    assert_eq!(app.dep::<Bank>().requests(), [7]);
    let timeline = ending.timeline().to_string();
    assert!(timeline.contains("it is in the books"), "{timeline}");
}

// CONTRACT R4
#[leasehold_testkit::test]
async fn a_write_that_was_cut_off_runs_again_if_a_person_says_so() {
    let script = [call(wire, &cents(7)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.crash_once(before_effect_of(wire));
    let execution = app.execute("teller", "Wire 7.").await;
    let doubt = execution.uncertain().await;
    assert_eq!(app.dep::<Bank>().requests(), [0; 0]);
    doubt.run_again(&principal("dana")).await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [7]);
}

// CONTRACT R4
#[leasehold_testkit::test]
async fn what_is_finished_never_runs_again() {
    let both = together([call(settle, &cents(1)), call(wire, &cents(2))]);
    let script = [both, call(settle, &cents(3)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.crash_once(after_answer_of("teller"));
    app.crash_once(after_effect_of(wire));
    let execution = app.execute("teller", "Pay.").await;
    let doubt = execution.uncertain().await;
    doubt.leave(&principal("dana"), "done").await;
    app.crash().await;
    execution.completed("Done.").await;
    let requests = app.dep::<Bank>().requests();
    let count = |cents| requests.iter().filter(|request| **request == cents).count();
    assert_eq!(count(2), 1, "{requests:?}");
    assert_eq!(app.dep::<Bank>().keys().len(), 3, "{requests:?}");
}

#[leasehold_testkit::test]
async fn an_answer_that_was_not_journaled_is_asked_for_again_and_its_calls_run_once() {
    let script = [call(settle, &cents(7)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.crash_once(after_answer_of("teller"));
    let execution = app.execute("teller", "Settle 7.").await;
    let ending = execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [7]);
    let asked = ending.timeline().lines().iter();
    let asked = asked.filter(|line| line.contains("asks the model, turn 1."));
    assert_eq!(asked.count(), 2, "{}", ending.timeline());
}

#[leasehold_testkit::test]
async fn a_crash_cuts_a_blocking_body_as_it_cuts_a_future() {
    let script = [call(wire_slowly, &cents(7)), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    app.crash_once(before_effect_of(wire_slowly));
    app.crash_once(after_effect_of(wire_slowly));
    let execution = app.execute("teller", "Wire 7.").await;
    execution.completed("Done.").await;
    assert_eq!(app.dep::<Bank>().requests(), [7, 7]);
    assert_eq!(app.dep::<Bank>().keys().len(), 1);
}

#[leasehold_testkit::test]
async fn what_ran_in_an_instance_is_dropped_with_it() {
    let script = [call(hang, &serde_json::json!({})), say("Done.")];
    let app = TestApp::start(app(), [("teller", script)]).await;
    let execution = app.execute("teller", "Wait.").await;
    execution.running(hang).await;
    app.crash().await;
    execution.running(hang).await;
    app.clock().advance(leasehold_types::seconds(10));
    let ending = execution.completed("Done.").await;
    let timeline = ending.timeline().to_string();
    assert!(timeline.contains("timed out after 10 s"), "{timeline}");
    let claims = timeline.matches("claimed by test").count();
    assert_eq!(claims, 2, "{timeline}");
}
