//! Decisions after their time, and many times at once, each a point and none a count of ticks.

use leasehold::Verdict;
use leasehold_execution::machine::DecisionReply;
use leasehold_testkit::{TestApp, call, principal, say};
use leasehold_types::{Clock as _, milliseconds, minutes, seconds};
use serde_json::json;

use crate::note::{NoteApproval, Notes, app, write_note, writer};

const APPROVE: Verdict = Verdict::Approve {
    override_arguments: None,
};

// CASE 25
#[leasehold_testkit::test]
async fn an_approval_that_comes_after_its_time_runs_nothing() {
    let agent = writer("Write.").approvals_expire_after(minutes(10));
    let script = [
        call(write_note, &json!({"text": "late"})),
        say("Not written."),
    ];
    let app = TestApp::start(app(agent), [("writer", script)]).await;
    let execution = app.execute("writer", "Write.").await;
    let pause = execution.paused::<NoteApproval>().await;
    let expires = pause.expires_at().unwrap();
    app.clock()
        .advance(expires.since(app.clock().now()) + milliseconds(1));
    let reply = pause.decide(&principal("dana"), APPROVE).await;
    assert_eq!(reply, DecisionReply::Expired);
    execution.completed("Not written.").await;
    assert!(app.dep::<Notes>().all().is_empty());
}

// CASE 82
#[leasehold_testkit::test]
async fn sixty_deadlines_over_ten_minutes_are_met_within_a_tick_each() {
    let agent = writer("Write.").approvals_expire_after(minutes(10));
    let script = [
        call(write_note, &json!({"text": "late"})),
        say("Not written."),
    ];
    let app = TestApp::start(app(agent), [("writer", script)]).await;
    let mut waiting = Vec::new();
    for _ in 0..60 {
        let execution = app.execute("writer", "Write.").await;
        let pause = execution.paused::<NoteApproval>().await;
        execution.rests().await;
        waiting.push((execution, pause.expires_at().unwrap()));
        app.clock().advance(seconds(10));
    }
    for (execution, expires) in waiting {
        let ending = execution.completed("Not written.").await;
        assert!(app.clock().now() >= expires, "{expires:?} is not over");
        let after = expired_after_ms(&ending.timeline().to_string());
        assert!((600_000..601_000).contains(&after), "{}", ending.timeline());
    }
}

/// How long after its start an execution's pause expired.
fn expired_after_ms(timeline: &str) -> u64 {
    let line = timeline.lines().find(|line| line.contains("Expired"));
    let (_, after) = line.unwrap().split_once('+').unwrap();
    let (ms, _) = after.split_once(" ms").unwrap();
    ms.parse().unwrap()
}
