//! The lease machine, event by event, on a TTL of 15 s: renewed each 5 s, usable for 14 s.

use std::collections::BTreeMap;

use leasehold_lease::{
    Action, ClaimRefusal, Deadline, Event, Expiry, LeaseConfig, LeaseMachine, LeaseStoreError,
    Renewal, Revision,
};
use leasehold_types::{LeaseLostReason, TreeId, Uptime, milliseconds};

fn at(millis: u64) -> Uptime {
    Uptime::from_micros(millis * 1_000)
}

fn tree(number: u128) -> TreeId {
    TreeId::from_u128(number)
}

const fn rev(number: u64) -> Revision {
    Revision::new(number)
}

/// A session opened at 0 by a machine on its own timetable.
fn opened() -> LeaseMachine {
    LeaseMachine::opened(
        LeaseConfig::default().check().unwrap(),
        Expiry::ByTtl,
        at(0),
    )
}

fn owning(trees: &[(u128, u64)]) -> LeaseMachine {
    let mut machine = opened();
    for (number, revision) in trees {
        claim(&mut machine, *number, *revision);
    }
    machine
}

fn claim(machine: &mut LeaseMachine, number: u128, revision: u64) {
    let (tree, won) = (tree(number), Some(rev(revision)));
    let wanted = machine.on_event(at(0), &Event::Wanted { tree });
    assert_eq!(wanted, [Action::Claim { tree }]);
    assert_eq!(
        machine.on_event(at(0), &Event::ClaimEnded { tree, won }),
        []
    );
}

const fn renew(attempt: u64, endpoint: u32) -> Action {
    Action::Renew {
        attempt,
        endpoint,
        timeout: milliseconds(2_500),
    }
}

fn confirmed(attempt: u64, sent: u64) -> Event {
    let outcome = Renewal::Confirmed { sent: at(sent) };
    Event::Renewal { attempt, outcome }
}

fn failed(attempt: u64) -> Event {
    let outcome = Renewal::NotConfirmed(LeaseStoreError::Silent("no leader".into()));
    Event::Renewal { attempt, outcome }
}

fn lose(number: u128, reason: LeaseLostReason) -> Action {
    let tree = tree(number);
    Action::Lose { tree, reason }
}

fn release(number: u128, revision: u64) -> Action {
    Action::Release {
        tree: tree(number),
        create_revision: rev(revision),
    }
}

const fn over(reason: LeaseLostReason) -> Action {
    Action::SessionOver { reason }
}

fn extend(millis: u64) -> Action {
    let deadline = at(millis);
    Action::Extend { deadline }
}

#[track_caller]
fn check(machine: &mut LeaseMachine, millis: u64, event: &Event, expected: &[Action]) {
    assert_eq!(
        machine.on_event(at(millis), event),
        expected,
        "at {millis} ms: {event:?}"
    );
}

#[test]
fn a_session_is_renewed_each_third_of_its_ttl_at_the_endpoint_that_answered() {
    let mut machine = opened();
    for (round, due) in [(1, 5_000), (2, 10_000), (3, 15_000)] {
        assert_eq!(machine.next_deadline(), Some(at(due)));
        check(&mut machine, due, &Event::Tick, &[renew(round, 0)]);
        let answered = confirmed(round, due + 1);
        check(&mut machine, due + 9, &answered, &[extend(due + 14_001)]);
    }
}

// RELIABILITY L16
#[test]
fn the_deadline_counts_from_when_the_renewal_was_sent_however_late_its_answer() {
    let mut machine = opened();
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    check(&mut machine, 7_500, &Event::Tick, &[renew(2, 1)]);
    check(&mut machine, 9_000, &confirmed(2, 7_501), &[extend(21_501)]);
    check(&mut machine, 9_500, &confirmed(1, 5_001), &[]);
    assert_eq!(
        machine.deadline(),
        Some(Deadline::At(at(21_501))),
        "LEASE-1: the later one stays"
    );
}

#[test]
fn a_confirmation_from_the_future_or_of_no_attempt_extends_nothing() {
    let mut machine = opened();
    check(&mut machine, 1_000, &confirmed(0, 900), &[]);
    check(&mut machine, 1_000, &confirmed(7, 900), &[]);
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    check(&mut machine, 5_100, &confirmed(1, 5_101), &[]);
    assert_eq!(
        machine.deadline(),
        Some(Deadline::At(at(14_000))),
        "LEASE-1"
    );
}

// RELIABILITY L17
#[test]
fn a_failed_or_silent_attempt_is_followed_by_one_to_the_next_endpoint() {
    let mut machine = opened();
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    check(&mut machine, 5_001, &failed(1), &[]);
    assert_eq!(
        machine.next_deadline(),
        Some(at(5_250)),
        "not at once: no loop"
    );
    check(&mut machine, 5_250, &Event::Tick, &[renew(2, 1)]);
    assert_eq!(
        machine.next_deadline(),
        Some(at(7_750)),
        "a sixth of the TTL"
    );
    check(&mut machine, 7_750, &Event::Tick, &[renew(3, 2)]);
    check(&mut machine, 7_760, &confirmed(3, 7_751), &[extend(21_751)]);
    check(&mut machine, 12_750, &Event::Tick, &[renew(4, 2)]);
}

// CASE 53
#[test]
fn a_silent_store_is_a_loss_at_the_deadline_and_not_before() {
    let mut machine = owning(&[(1, 10), (2, 11)]);
    let mut now = at(0);
    loop {
        let due = machine.next_deadline().unwrap();
        if due == at(14_000) {
            break;
        }
        let actions = machine.on_event(due, &Event::Tick);
        assert!(
            matches!(actions.as_slice(), [Action::Renew { .. }]),
            "{actions:?}"
        );
        assert!(due > now, "each tick has its own time");
        now = due;
    }
    let reason = LeaseLostReason::StoreSilent;
    let lost = [
        lose(1, reason),
        lose(2, reason),
        over(reason),
        Action::Revoke,
    ];
    assert_eq!(
        machine.on_event(Uptime::from_micros(13_999_999), &Event::Tick),
        []
    );
    check(&mut machine, 14_000, &Event::Tick, &lost);
    assert_eq!(
        (machine.lost(), machine.next_deadline()),
        (Some(reason), None)
    );
}

#[test]
fn at_the_deadline_the_loss_comes_before_a_confirmation_that_arrives_with_it() {
    let mut machine = owning(&[(1, 10)]);
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    machine.on_event(at(7_500), &Event::Tick);
    machine.on_event(at(10_000), &Event::Tick);
    machine.on_event(at(12_500), &Event::Tick);
    let reason = LeaseLostReason::StoreSilent;
    let lost = [lose(1, reason), over(reason), Action::Revoke];
    check(&mut machine, 14_000, &confirmed(1, 5_001), &lost);
}

#[test]
fn a_lost_session_extends_renews_and_claims_nothing_ever_again() {
    let mut machine = owning(&[(1, 10)]);
    machine.on_event(at(5_000), &Event::Tick);
    machine.on_event(at(60_000), &Event::Tick);
    let again = Event::Wanted { tree: tree(1) };
    let why = ClaimRefusal::SessionOver;
    let refused = Action::RefuseClaim { tree: tree(1), why };
    check(&mut machine, 60_001, &confirmed(1, 59_999), &[]);
    check(&mut machine, 60_002, &Event::Tick, &[]);
    check(&mut machine, 60_003, &again, &[refused]);
    check(&mut machine, 60_004, &Event::Close, &[]);
    assert_eq!((machine.deadline(), machine.room()), (None, 0), "LEASE-2");
}

// RELIABILITY L5, TM2
#[test]
fn a_gap_past_the_deadline_is_the_loss_before_anything_else() {
    let mut machine = owning(&[(1, 10)]);
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    check(&mut machine, 5_010, &confirmed(1, 5_001), &[extend(19_001)]);
    let reason = LeaseLostReason::StoreSilent;
    let lost = [lose(1, reason), over(reason), Action::Revoke];
    check(&mut machine, 65_010, &Event::Tick, &lost);
}

// RELIABILITY L2
#[test]
fn a_gap_within_the_deadline_closes_the_gate_until_a_renewal_sent_after_it() {
    let mut machine = owning(&[(1, 10)]);
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    check(&mut machine, 5_010, &confirmed(1, 5_001), &[extend(19_001)]);
    // Stopped for TTL less margin less one second; what was in flight before is answered first.
    let woken = [Action::Hold, renew(2, 0)];
    check(&mut machine, 18_010, &confirmed(1, 5_009), &woken);
    assert!(machine.is_held(), "LEASE-4: sent before the gap");
    check(
        &mut machine,
        18_500,
        &confirmed(2, 18_011),
        &[extend(32_011)],
    );
    assert!(!machine.is_held());
    assert_eq!(machine.lost(), None);
}

#[test]
fn a_wake_half_a_margin_late_is_no_gap_and_one_later_is() {
    let mut machine = opened();
    check(&mut machine, 5_500, &Event::Tick, &[renew(1, 0)]);
    assert!(!machine.is_held());
    let mut machine = opened();
    let event = Event::Tick;
    let actions = machine.on_event(Uptime::from_micros(5_500_001), &event);
    assert_eq!(actions, [Action::Hold, renew(1, 0)], "LEASE-4");
    assert!(machine.is_held());
}

// RELIABILITY L6, L7
#[test]
fn a_key_seen_gone_or_made_anew_is_the_loss_of_that_tree_alone() {
    for revision in [None, Some(rev(12))] {
        let mut machine = owning(&[(1, 10), (2, 11)]);
        let seen = |number, at, revision| Event::Seen {
            tree: tree(number),
            at: rev(at),
            revision,
        };
        check(&mut machine, 1, &seen(1, 9, None), &[]);
        check(&mut machine, 1, &seen(1, 12, Some(rev(10))), &[]);
        let taken = [lose(1, LeaseLostReason::Taken)];
        check(&mut machine, 1, &seen(1, 12, revision), &taken);
        check(&mut machine, 1, &seen(1, 12, revision), &[]);
        assert_eq!(machine.lost(), None);
    }
}

// CASE 44
#[test]
fn a_sweep_tells_ownership_by_create_revision_and_gives_strays_back() {
    let mut machine = owning(&[(1, 10), (2, 11), (3, 12)]);
    let owned = BTreeMap::from([(tree(1), rev(10)), (tree(3), rev(20)), (tree(4), rev(21))]);
    let swept = Event::Swept { at: rev(21), owned };
    let taken = LeaseLostReason::Taken;
    let expected = [
        lose(2, taken),
        lose(3, taken),
        release(3, 20),
        release(4, 21),
    ];
    check(&mut machine, 1, &swept, &expected);
}

#[test]
fn a_key_whose_claim_is_still_asked_is_no_stray() {
    let mut machine = opened();
    let wanted = Event::Wanted { tree: tree(4) };
    check(&mut machine, 1, &wanted, &[Action::Claim { tree: tree(4) }]);
    let owned = BTreeMap::from([(tree(4), rev(21))]);
    let swept = Event::Swept { at: rev(21), owned };
    check(&mut machine, 1, &swept, &[]);
}

#[test]
fn a_sweep_is_asked_for_each_half_minute() {
    let mut machine = opened();
    let mut sweeps = vec![];
    for tick in 1..=130 {
        let now = tick * 500;
        for action in machine.on_event(at(now), &Event::Tick) {
            if let Action::Renew { attempt, .. } = action {
                machine.on_event(at(now), &confirmed(attempt, now));
            } else {
                assert_eq!(action, Action::Sweep);
                sweeps.push(now);
            }
        }
    }
    assert_eq!(sweeps, [30_000, 60_000]);
}

#[test]
fn a_released_or_fenced_tree_is_lost_first_and_its_key_released_by_revision() {
    let mut machine = owning(&[(1, 10), (2, 11)]);
    let released = Event::Released { tree: tree(1) };
    let expected = [lose(1, LeaseLostReason::Released), release(1, 10)];
    check(&mut machine, 1, &released, &expected);
    check(&mut machine, 1, &released, &[]);
    let fenced = Event::Fenced { tree: tree(2) };
    let expected = [lose(2, LeaseLostReason::Fenced), release(2, 11)];
    check(&mut machine, 1, &fenced, &expected);
}

// RELIABILITY L8
// CASE 55
#[test]
fn an_ended_session_is_the_loss_of_all_its_trees_at_once() {
    let outcome = Renewal::Gone;
    let gone = Event::Renewal {
        attempt: 1,
        outcome,
    };
    for event in [gone, Event::SessionGone] {
        let mut machine = owning(&[(1, 10), (2, 11)]);
        check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
        let taken = LeaseLostReason::Taken;
        let expected = [lose(1, taken), lose(2, taken), over(taken)];
        check(&mut machine, 5_001, &event, &expected);
    }
}

// CASE 49
#[test]
fn a_session_is_renewed_until_it_is_closed_though_it_owns_nothing() {
    let mut machine = owning(&[(1, 10)]);
    machine.on_event(at(1), &Event::Released { tree: tree(1) });
    check(&mut machine, 5_000, &Event::Tick, &[renew(1, 0)]);
    let reason = LeaseLostReason::Released;
    check(
        &mut machine,
        5_001,
        &Event::Close,
        &[over(reason), Action::Revoke],
    );
}

#[test]
fn a_full_session_refuses_the_next_tree_and_takes_it_when_a_claim_has_failed() {
    let config = LeaseConfig {
        keys_per_session_max: 2,
        ..LeaseConfig::default()
    };
    let mut machine = LeaseMachine::opened(config.check().unwrap(), Expiry::ByTtl, at(0));
    let want = |number| Event::Wanted { tree: tree(number) };
    let claim = |number| Action::Claim { tree: tree(number) };
    let refuse = |number, why| Action::RefuseClaim {
        tree: tree(number),
        why,
    };
    check(&mut machine, 1, &want(1), &[claim(1)]);
    check(
        &mut machine,
        1,
        &want(1),
        &[refuse(1, ClaimRefusal::Already)],
    );
    check(&mut machine, 1, &want(2), &[claim(2)]);
    check(&mut machine, 1, &want(3), &[refuse(3, ClaimRefusal::Full)]);
    let failed = Event::ClaimEnded {
        tree: tree(1),
        won: None,
    };
    check(&mut machine, 1, &failed, &[]);
    check(&mut machine, 1, &want(3), &[claim(3)]);
    assert_eq!(machine.room(), 0, "LEASE-8");
}

#[test]
fn nothing_is_claimed_while_the_gate_is_closed() {
    let mut machine = opened();
    machine.on_event(at(6_000), &Event::Tick);
    let why = ClaimRefusal::Held;
    let refused = Action::RefuseClaim { tree: tree(1), why };
    check(
        &mut machine,
        6_001,
        &Event::Wanted { tree: tree(1) },
        &[refused],
    );
    check(&mut machine, 6_002, &confirmed(1, 6_000), &[extend(20_000)]);
    let wanted = Event::Wanted { tree: tree(1) };
    check(
        &mut machine,
        6_003,
        &wanted,
        &[Action::Claim { tree: tree(1) }],
    );
}

// CASE 61
#[test]
fn where_sessions_do_not_run_out_no_silence_and_no_gap_costs_a_tree() {
    let times = LeaseConfig::default().check().unwrap();
    let mut machine = LeaseMachine::opened(times, Expiry::Never, at(0));
    claim(&mut machine, 1, 10);
    assert_eq!(machine.next_deadline(), Some(at(30_000)), "the sweep alone");
    check(&mut machine, 600_000, &Event::Tick, &[Action::Sweep]);
    assert_eq!(machine.deadline(), Some(Deadline::Never));
    assert!(!machine.is_held());
    let released = Event::Released { tree: tree(1) };
    let expected = [lose(1, LeaseLostReason::Released), release(1, 10)];
    check(&mut machine, 600_001, &released, &expected);
    let reason = LeaseLostReason::Released;
    check(
        &mut machine,
        600_002,
        &Event::Close,
        &[over(reason), Action::Revoke],
    );
    assert_eq!(machine.deadline(), None);
}
