//! A journal that says what cannot be is refused, record by record.

use leasehold_execution::record::{
    CallFinished, CallIntended, CallUncertain, CancelRequested, FinishKind, IntentCause,
    LateOutcome, MessageReceived, PauseOpened, PauseResolved, PauseSent, PauseSubject, Resolution,
    Retried, SendOutcome,
};
use leasehold_execution::{Machine, Record};
use leasehold_types::{CallId, Digest, Timestamp, TreeId};

use crate::bench::Bench;
use crate::desk::person;

/// A record after a script is out of place, and the machine says why.
#[track_caller]
fn check_refused(name: &str, script: &str, record: Record, why: &str) {
    let bench = Bench::ran(script);
    let mut entry = bench.journal[0].clone();
    entry.record = record;
    let error = bench.replayed().apply(&entry).expect_err(name).to_string();
    assert!(
        error.starts_with("[journal.record-out-of-place] "),
        "{name}: {error}"
    );
    assert!(error.contains(why), "{name}: {error}");
}

fn finished(call_id: &str, attempt: u32) -> Record {
    Record::CallFinished(Box::new(CallFinished {
        call_id: CallId::new(call_id),
        attempt,
        kind: FinishKind::Ok,
        text: String::new(),
        whole_bytes: None,
        whole: None,
        spend: vec![],
        fatal: false,
    }))
}

fn intended(call_id: &str, attempt: u32, cause: IntentCause) -> Record {
    Record::CallIntended(CallIntended {
        call_id: CallId::new(call_id),
        attempt,
        cause,
        not_before: None,
        previous_error: None,
        previous_kind: None,
        spend: vec![],
    })
}

fn resolved(number: u32, resolution: Resolution) -> Record {
    let (answered_by, letter) = (Some(person("dana")), None);
    Record::PauseResolved(Box::new(PauseResolved {
        number,
        resolution,
        answered_by,
        letter,
    }))
}

fn approved(number: u32) -> Record {
    let arguments_digest = Digest::of(b"");
    resolved(
        number,
        Resolution::Approved {
            override_arguments: None,
            arguments_digest,
        },
    )
}

/// The last record of a kind that a script makes.
#[track_caller]
fn made(script: &str, kind: &str) -> Record {
    let bench = Bench::ran(script);
    let found = bench
        .journal
        .iter()
        .rev()
        .find(|entry| entry.record.kind() == kind);
    found.expect(kind).record.clone()
}

fn question(number: u32, call_id: &str) -> Record {
    let Record::PauseOpened(mut opened) = made("calls a:refund", "pause_opened") else {
        unreachable!("a pause is opened");
    };
    opened.number = number;
    opened.subject = PauseSubject::Approval {
        call_id: CallId::new(call_id),
        role: "r".to_owned(),
    };
    Record::PauseOpened(opened)
}

// BAD INPUT 69
#[test]
fn a_result_or_an_intent_that_fits_no_call_is_corrupt() {
    let a = "calls a:read";
    check_refused("no such call", a, finished("x", 1), "not one of the turn's");
    check_refused(
        "a result twice",
        "calls a:read b:read; ok a",
        finished("a", 1),
        "has its result already",
    );
    check_refused(
        "of an attempt that was not intended",
        a,
        finished("a", 2),
        "was not intended",
    );
    check_refused(
        "of a call that waits for a decision",
        "calls a:refund",
        finished("a", 1),
        "was not intended",
    );
    check_refused(
        "after the turn",
        "calls a:read; ok a",
        finished("a", 1),
        "not one of the turn's",
    );
    let retry = IntentCause::Retry;
    check_refused(
        "an attempt is left out",
        a,
        intended("a", 3, retry),
        "may not follow",
    );
    check_refused(
        "an attempt twice",
        a,
        intended("a", 1, retry),
        "may not follow",
    );
    let recovered = IntentCause::Recovered;
    check_refused(
        "it was not cut off",
        a,
        intended("a", 2, recovered),
        "may not follow",
    );
    check_refused(
        "nobody approved it",
        "calls a:refund",
        intended("a", 1, IntentCause::Approved),
        "may not follow",
    );
    let uncertain = CallUncertain {
        call_id: CallId::new("a"),
        why: String::new(),
        spend: vec![],
    };
    check_refused(
        "it never ran",
        "calls a:refund",
        Record::CallUncertain(uncertain),
        "has not run",
    );
    let late = LateOutcome {
        call_id: Some(CallId::new("x")),
        turn: 1,
        kind: FinishKind::Ok,
        spend: vec![],
    };
    check_refused(
        "a late outcome of nothing",
        a,
        Record::LateOutcome(late),
        "there is no call",
    );
}

// BAD INPUT 69
#[test]
fn a_model_call_that_fits_no_turn_is_corrupt() {
    let intent = made("", "model_intended");
    check_refused("asked twice", "", intent.clone(), "is next");
    check_refused("before the results", "calls a:read", intent, "EXEC-3");
    let answer = made("says done", "model_answered");
    check_refused(
        "an answer twice",
        "calls a:read",
        answer.clone(),
        "was awaited",
    );
    check_refused(
        "to another attempt",
        "model-fails; wait 1",
        answer,
        "was awaited",
    );
    let failed = made("model-dies", "model_failed");
    check_refused(
        "a failure of nothing",
        "calls a:read",
        failed,
        "was awaited",
    );
    let again = made("calls a:read", "model_answered");
    let Record::ModelAnswered(mut again) = again else {
        unreachable!("an answer")
    };
    again.turn = 2;
    check_refused(
        "a call id twice",
        "calls a:read; ok a",
        Record::ModelAnswered(again),
        "CALL-1",
    );
}

// BAD INPUT 69
#[test]
fn a_pause_or_a_decision_that_fits_nothing_is_corrupt() {
    let asked = "calls a:refund b:read";
    check_refused("no such pause", asked, approved(2), "no such pause");
    check_refused(
        "two resolutions",
        &format!("{asked}; approve 1"),
        approved(1),
        "has its decision already",
    );
    let rejected = Resolution::Rejected {
        reason: String::new(),
    };
    check_refused(
        "and another one",
        &format!("{asked}; approve 1"),
        resolved(1, rejected),
        "has its decision already",
    );
    let answered = Resolution::Answered {
        answer: "yes".into(),
    };
    check_refused(
        "an answer to an approval",
        asked,
        resolved(1, answered),
        "no answer to what was asked",
    );
    check_refused(
        "a number is left out",
        asked,
        question(3, "a"),
        "where 2 is next",
    );
    check_refused(
        "it asks about a call that runs",
        asked,
        question(2, "b"),
        "does not wait",
    );
    check_refused("it asks twice", asked, question(2, "a"), "does not wait");
    check_refused(
        "it asks about nothing",
        asked,
        question(2, "x"),
        "does not wait",
    );
    let sent = PauseSent {
        number: 9,
        attempt: 1,
        outcome: SendOutcome::Sent,
    };
    check_refused(
        "a send of nothing",
        asked,
        Record::PauseSent(sent),
        "no such pause",
    );
    let message = MessageReceived {
        number: 1,
        text: "hi".to_owned(),
        by: person("dana"),
    };
    check_refused(
        "a message that nobody waits for",
        asked,
        Record::MessageReceived(message),
        "nobody waits",
    );
}

// BAD INPUT 66
#[test]
fn an_epoch_that_does_not_rise_and_a_life_out_of_order_are_corrupt() {
    check_refused(
        "the same epoch",
        "crash",
        made("crash", "claimed"),
        "does not follow",
    );
    check_refused(
        "a lower one",
        "crash; crash",
        made("crash", "claimed"),
        "does not follow",
    );
    check_refused(
        "started twice",
        "",
        made("", "started"),
        "was started before",
    );
    check_refused(
        "after the end",
        "says done",
        made("crash", "claimed"),
        "has ended",
    );
    let cancel = CancelRequested {
        by: person("dana"),
        reason: String::new(),
    };
    check_refused(
        "a cancel after the end",
        "says done",
        Record::CancelRequested(cancel),
        "has ended",
    );
    check_refused(
        "a retry of a sound tree",
        "",
        Record::Retried(Retried { by: person("ops") }),
        "not quarantined",
    );
    let bench = Bench::ran("");
    let mut machine = Bench::ran("").replayed();
    let mut foreign = bench.journal[0].clone();
    foreign.execution = 1;
    assert!(
        machine
            .apply(&foreign)
            .unwrap_err()
            .to_string()
            .contains("of execution 1")
    );
    let fresh = Machine::new(TreeId::from_u128(1), bench.machine.plan().clone());
    let error = fresh.clone().apply(&bench.journal[1]).unwrap_err();
    assert!(error.to_string().contains("was not started"), "{error}");
}

// BAD INPUT 73
#[test]
fn times_may_go_back_and_order_is_by_position() {
    let mut bench = Bench::ran("calls a:read; ok a; says done");
    for (position, entry) in bench.journal.iter_mut().enumerate() {
        let sign = if position % 2 == 0 {
            i64::MAX
        } else {
            i64::MIN
        };
        entry.at = Timestamp::from_micros(sign);
    }
    assert_eq!(bench.replayed().checkpoint(), bench.machine.checkpoint());
}

#[test]
fn an_opened_pause_reads_back_with_its_secret() {
    let Record::PauseOpened(opened) = made("calls a:refund", "pause_opened") else {
        unreachable!("a pause is opened");
    };
    let read: PauseOpened = serde_json::from_str(&serde_json::to_string(&opened).unwrap()).unwrap();
    assert_eq!(read, *opened);
}
