//! Which decision counts: the first one that may, and what everybody else is told.

use leasehold_execution::machine::{Decision, DecisionReply, PauseKey, Verdict};
use leasehold_types::{Digest, PauseId, Principal, PrincipalKind, Tenant, Timestamp};

use crate::bench::Bench;
use crate::desk::person;

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

fn reject() -> Verdict {
    Verdict::Reject {
        reason: "no".to_owned(),
    }
}

/// What a second decision is told after the first.
#[track_caller]
fn check_second(name: &str, first: Verdict, second: Verdict, expected: &DecisionReply) {
    let mut bench = Bench::ran("calls a:refund b:refund");
    assert_eq!(
        bench.decide(1, person("dana"), first),
        DecisionReply::Counted,
        "{name}"
    );
    for ended in [false, true] {
        let entries = bench.journal.len();
        let mut reply = bench.decide(1, person("erik"), second.clone());
        if let DecisionReply::AlreadyDecided { by, what, .. } = reply {
            reply = DecisionReply::AlreadyDecided {
                by,
                what,
                at: Timestamp::default(),
            };
        }
        assert_eq!(reply, *expected, "{name}, ended: {ended}");
        assert_eq!(bench.journal.len(), entries, "{name}: nothing changes");
        if !ended {
            bench.run("cancel; ok a");
        }
    }
}

// CONTRACT P6
// RELIABILITY AP1, AP2
#[test]
fn the_first_decision_wins_a_repeat_is_told_so_and_another_one_who_decided() {
    let already = |what: &str| DecisionReply::AlreadyDecided {
        by: Some("dana".to_owned()),
        what: what.to_owned(),
        at: Timestamp::default(),
    };
    let before = DecisionReply::CountedBefore;
    check_second("approved twice", approve(), approve(), &before);
    check_second(
        "edited twice",
        edit("{\"n\": 60}"),
        edit("{\"n\":60}"),
        &before,
    );
    check_second("then rejected", approve(), reject(), &already("approved"));
    check_second(
        "then edited",
        approve(),
        edit("{\"n\":60}"),
        &already("approved"),
    );
    check_second(
        "as it was",
        edit("{\"n\":60}"),
        approve(),
        &already("approved with other arguments"),
    );
}

// CONTRACT P6
#[test]
fn a_rejection_is_told_like_an_approval_and_a_letter_that_comes_again_is_a_repeat() {
    let mut bench = Bench::ran("calls a:refund b:refund; reject 1 no");
    assert_eq!(
        bench.decide(1, person("erik"), reject()),
        DecisionReply::CountedBefore
    );
    let reply = bench.decide(1, person("erik"), approve());
    assert!(matches!(reply, DecisionReply::AlreadyDecided { by: Some(by), .. } if by == "dana"));
    let letter = Decision {
        pause: PauseKey::Number(2),
        by: person("dana"),
        // The arguments are those of the call already: nothing is changed by them.
        verdict: edit("{}"),
        shown: None,
        letter: Some("letter 7".to_owned()),
    };
    assert_eq!(bench.decide_on(letter.clone()), DecisionReply::Counted);
    assert_eq!(
        bench.trace(),
        "approved 2, intended b.1 approved, > run b.1"
    );
    bench.run("crash");
    assert_eq!(bench.decide_on(letter), DecisionReply::CountedBefore);
}

#[track_caller]
fn check_no_decision(name: &str, decision: impl FnOnce(&mut Decision), expected: &DecisionReply) {
    let mut bench = Bench::ran("calls a:refund b:own");
    let mut decided = Decision {
        pause: PauseKey::Number(1),
        by: person("erik"),
        verdict: approve(),
        shown: None,
        letter: None,
    };
    decision(&mut decided);
    let entries = bench.journal.len();
    let reply = bench.decide_on(decided);
    let reply = if let DecisionReply::Invalid(_) = reply {
        DecisionReply::Invalid(String::new())
    } else {
        reply
    };
    assert_eq!(reply, *expected, "{name}");
    assert_eq!(bench.journal.len(), entries, "{name}: nothing changes");
    assert_eq!(
        bench.machine.questions().count(),
        2,
        "{name}: both stay open"
    );
}

// CONTRACT P5, P7, P9
// CASE 4
// BAD INPUT 47, 48, 49, 51
#[test]
fn a_decision_that_may_not_count_changes_nothing() {
    let invalid = DecisionReply::Invalid(String::new());
    let unknown = DecisionReply::Unknown;
    check_no_decision(
        "no such pause",
        |it| it.pause = PauseKey::Number(9),
        &unknown,
    );
    let secret = PauseId::from_u128(1);
    check_no_decision(
        "no such secret",
        |it| it.pause = PauseKey::Secret(secret),
        &unknown,
    );
    let foreign = Principal {
        tenant: Tenant::new("other"),
        ..Principal::new("dana", PrincipalKind::Person)
    };
    check_no_decision("another tenant", |it| it.by = foreign, &unknown);
    check_no_decision(
        "not the owner",
        |it| it.pause = PauseKey::Number(2),
        &DecisionReply::NotAllowed,
    );
    let other = Some(Digest::of(b"other"));
    check_no_decision(
        "something else was shown",
        |it| it.shown = other,
        &DecisionReply::Mismatch,
    );
    check_no_decision("invalid arguments", |it| it.verdict = edit("[]"), &invalid);
    let message = Verdict::Message {
        text: "yes".to_owned(),
    };
    check_no_decision("a message", |it| it.verdict = message, &invalid);
}

// CONTRACT P5
#[test]
fn the_secret_opens_the_pause_it_was_made_for_to_whom_may_answer() {
    let mut bench = Bench::ran("calls a:refund b:refund");
    let pause = PauseKey::Secret(bench.machine.question(2).unwrap().pause_id);
    let decision = Decision {
        pause,
        by: person("erik"),
        verdict: approve(),
        shown: None,
        letter: None,
    };
    assert_eq!(bench.decide_on(decision), DecisionReply::Counted);
    assert_eq!(
        bench.trace(),
        "approved 2, intended b.1 approved, > run b.1"
    );
}
