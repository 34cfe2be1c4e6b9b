//! SIGKILL at every point of every append of the reference execution, at every change of letters and keys, and at pairs of points.

#![expect(
    clippy::print_stdout,
    reason = "how much was enumerated is part of the result"
)]

use leasehold_journal::embedded::FaultPoint;

use crate::check::{Expected, Met, check};
use crate::job::{Fault, Job, POINTS};
use crate::random::Seeded;
use crate::site::{End, Site};
use crate::story::read;
use crate::worker;

/// More than any run has appends or changes: an enumeration that gets here does not end.
const NTH_MAX: u64 = 100;

/// The least appends of the reference execution: those of which each waits for the one before it.
pub(crate) const APPENDS_MIN: u64 = 15;

/// A run without a crash, held against itself.
pub(crate) fn expected() -> Expected {
    let mut site = Site::reference();
    assert_eq!(site.run(None), End::Done);
    let expected = Expected::of(&site);
    check(&site, &expected, "no crash");
    expected
}

// RELIABILITY C1
#[test]
fn a_run_without_a_crash_ends_with_every_effect_made_once() {
    if let Some(job) = Job::of_this_process() {
        worker::run(&job);
    }
    let mut site = Site::reference();
    assert_eq!(site.run(None), End::Done);
    let expected = Expected::of(&site);
    let met = check(&site, &expected, "no crash");
    assert_eq!(met, Met::from(["a call was retried"]));
    let before = read(site.path());
    let before = &before["reference-0"];
    assert_eq!(before.letters, 0, "every letter is settled");
    // An execution that has ended is not touched again.
    assert_eq!(site.run(None), End::Done);
    let after = read(site.path());
    assert_eq!(after["reference-0"].frames.len(), before.frames.len());
    check(&site, &expected, "started again");
}

/// Kills a run at the n-th of something, for each n there is; each time it is finished and held against `expected`.
fn enumerate(what: &str, least: u64, fault: impl Fn(u64) -> Fault) -> Met {
    let expected = expected();
    let mut met = Met::new();
    let mut kills = 0;
    for nth in 1..NTH_MAX {
        let name = fault(nth).to_string();
        let mut site = Site::reference();
        let end = site.run(Some(fault(nth)));
        if end == End::Killed {
            kills += 1;
            site.finish();
        }
        met.append(&mut check(&site, &expected, &name));
        if end == End::Done {
            break;
        }
    }
    println!(
        "{what}: {kills} points, {} appends without a crash; met {met:?}",
        expected.appends
    );
    assert!(
        kills >= least && kills < NTH_MAX - 1,
        "{what}: {kills} kills"
    );
    met
}

fn enumerate_appends(point: FaultPoint) -> Met {
    let what = Fault::Append(point, 0).to_string();
    enumerate(&what, APPENDS_MIN, |nth| Fault::Append(point, nth))
}

// RELIABILITY C1
// CONTRACT R4
#[test]
fn a_kill_before_any_write_changes_neither_the_answer_nor_the_effects() {
    let met = enumerate_appends(FaultPoint::BeforeWrite);
    for due in ["a call ran again", "the model was asked again"] {
        assert!(met.contains(due), "{due}: {met:?}");
    }
}

// RELIABILITY C1
// CONTRACT R4
#[test]
fn a_kill_between_any_write_and_its_sync_changes_neither_the_answer_nor_the_effects() {
    let met = enumerate_appends(FaultPoint::AfterWrite);
    assert!(met.contains("a tree was taken over"), "{met:?}");
}

// RELIABILITY C1
// CONTRACT R4
#[test]
fn a_kill_between_any_sync_and_its_ack_changes_neither_the_answer_nor_the_effects() {
    let met = enumerate_appends(FaultPoint::AfterFsync);
    // The third append holds the intents of the first calls: none of them has begun.
    assert!(met.contains("a write in doubt was repeated"), "{met:?}");
}

// RELIABILITY C1
// CONTRACT R4
#[test]
fn a_kill_after_any_ack_changes_neither_the_answer_nor_the_effects() {
    let met = enumerate_appends(FaultPoint::AfterAck);
    assert!(met.contains("a tree was taken over"), "{met:?}");
}

// RELIABILITY C1
// CASE 37
#[test]
fn a_kill_around_any_change_of_letters_and_keys_starts_and_decides_once() {
    // The start's key, the letter with the approval, and its end.
    enumerate("before-change", 3, Fault::BeforeChange);
    enumerate("after-change", 3, Fault::AfterChange);
}

// RELIABILITY ES1
#[test]
fn a_failed_sync_of_any_append_ends_the_process_and_the_next_one_goes_on_from_disk() {
    let expected = expected();
    let mut failures = 0;
    for nth in 1..NTH_MAX {
        let mut site = Site::reference();
        let end = site.run(Some(Fault::NoSync(nth)));
        if end == End::Done {
            break;
        }
        assert_eq!(end, End::StoreFailed, "{nth}");
        failures += 1;
        site.finish();
        check(&site, &expected, &Fault::NoSync(nth).to_string());
    }
    assert!(failures >= APPENDS_MIN, "{failures} failures");
}

// RELIABILITY ES2
#[test]
fn no_space_for_any_append_is_got_over_without_a_restart() {
    let expected = expected();
    let mut met = Met::new();
    for nth in 1..=APPENDS_MIN {
        let mut site = Site::reference();
        let fault = Fault::NoSpace(nth);
        assert_eq!(site.run(Some(fault)), End::Done, "{fault}");
        // What ran under the owner before is cut off, as by a crash.
        site.crashes = 1;
        met.append(&mut check(&site, &expected, &fault.to_string()));
    }
    assert!(
        met.contains("a tree was taken over"),
        "the space was missed: {met:?}"
    );
}

// RELIABILITY C1
#[test]
fn two_kills_one_after_the_other_change_neither_the_answer_nor_the_effects() {
    const PAIRS: usize = 40;
    const SEED: u64 = 0x1ea5_e401;
    let expected = expected();
    let mut random = Seeded::new(SEED);
    let (mut kills, mut met) = (0, Met::new());
    for pair in 0..PAIRS {
        let first = Fault::Append(random.one_of(&POINTS).0, 1 + random.below(expected.appends));
        let second = match random.below(4) {
            0 => Fault::AtRead(1),
            _ => Fault::Append(random.one_of(&POINTS).0, 1 + random.below(6)),
        };
        let mut site = Site::reference();
        site.run(Some(first));
        site.run(Some(second));
        site.finish();
        kills += site.crashes;
        met.append(&mut check(
            &site,
            &expected,
            &format!("seed {SEED:#x}, pair {pair}: {first}, {second}"),
        ));
    }
    println!("pairs: seed {SEED:#x}, {PAIRS} pairs, {kills} kills; met {met:?}");
    assert!(kills as usize > PAIRS, "{kills} kills");
}
