//! Killed at every point of a write, by itself or with a thousand others under way: what was acked is there, what is there is whole.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::path::Path;
use std::sync::{Arc, Mutex};

use leasehold_journal::contract::summary;
use leasehold_journal::embedded::{EmbeddedStore, FaultAction, FaultPlan, FaultPoint};
use leasehold_journal::{AppendOutcome, Journal, Writer};
use support::{
    Acks, acked, bodies, child_job, config, open, run_child, tree, try_open, was_killed,
    with_fault, write_acked, writer,
};

const POINTS: [FaultPoint; 4] = [
    FaultPoint::BeforeWrite,
    FaultPoint::AfterWrite,
    FaultPoint::AfterFsync,
    FaultPoint::AfterAck,
];

/// A kill at the `nth` time that the point with this number is reached, as a word for a child process.
fn kill_plan(word: &str) -> Option<FaultPlan> {
    let (point, nth) = word.split_once(' ')?;
    let point = POINTS[point.parse::<usize>().ok()?];
    let nth = nth.parse().ok()?;
    let action = FaultAction::Kill;
    Some(FaultPlan { point, nth, action })
}

const STEPS: u64 = 15;
const STEP_TREES: u64 = 3;

/// Writes the steps that are not there yet, one after the other, each to the tree whose turn it is.
fn write_steps(store: &EmbeddedStore, acks: &Acks) {
    let mut writers: Vec<Writer> = (0..STEP_TREES)
        .map(|number| writer(store, tree(number), number))
        .collect();
    for step in 0..STEPS {
        let number = step % STEP_TREES;
        let slot = usize::try_from(number).unwrap();
        let position = usize::try_from(step / STEP_TREES).unwrap();
        if bodies(store, tree(number)).unwrap().len() > position {
            continue;
        }
        let body = step.to_string();
        write_acked(store, &mut writers[slot], body.as_bytes());
        acks.note(number, &body);
    }
}

fn steps_child() -> bool {
    let Some((directory, word)) = child_job() else {
        return false;
    };
    let plan = kill_plan(&word).unwrap();
    let opened = try_open(&with_fault(config(&directory), plan)).unwrap();
    write_steps(&opened.store, &Acks::in_directory(&directory));
    true
}

/// What must hold at any time: each tree has the first of its steps, and at least what was acked.
#[track_caller]
fn check_steps(directory: &Path, store: &EmbeddedStore, name: &str) {
    let acked = acked(directory);
    for number in 0..STEP_TREES {
        let expected: Vec<Vec<u8>> = (0..STEPS)
            .filter(|step| step % STEP_TREES == number)
            .map(|step| step.to_string().into_bytes())
            .collect();
        let found = bodies(store, tree(number)).unwrap();
        assert!(
            expected.starts_with(&found),
            "{name}: tree {number} {found:?}"
        );
        let acked = acked.get(&number).map_or(0, Vec::len);
        assert!(found.len() >= acked, "{name}: tree {number} lost a frame");
    }
}

fn finish_steps(directory: &Path, name: &str) {
    let opened = open(directory);
    check_steps(directory, &opened.store, name);
    write_steps(&opened.store, &Acks::in_directory(directory));
    check_steps(directory, &opened.store, name);
    let count: usize = (0..STEP_TREES)
        .map(|number| bodies(&opened.store, tree(number)).unwrap().len())
        .sum();
    assert_eq!(
        count as u64, STEPS,
        "{name}: the end is that of a run without a crash"
    );
}

// RELIABILITY C1
#[test]
fn a_kill_at_any_point_of_any_append_loses_nothing_acked() {
    const NAME: &str = "a_kill_at_any_point_of_any_append_loses_nothing_acked";
    if steps_child() {
        return;
    }
    for point in 0..POINTS.len() {
        for nth in 1..=STEPS {
            let directory = tempfile::tempdir().unwrap();
            let word = format!("{point} {nth}");
            let status = run_child(NAME, directory.path(), &word);
            assert!(was_killed(status), "{word}: {status}");
            let acked: usize = acked(directory.path()).values().map(Vec::len).sum();
            // After an ack its note may or may not have been made.
            let last = if point == 3 { nth } else { nth - 1 };
            let notes = nth - 1..=last;
            assert!(notes.contains(&(acked as u64)), "{word}: {acked} acked");
            finish_steps(directory.path(), &word);
        }
    }
}

// RELIABILITY C1
#[test]
fn ten_kills_one_after_the_other_lose_nothing_acked() {
    const NAME: &str = "ten_kills_one_after_the_other_lose_nothing_acked";
    if steps_child() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for round in 0..10_u64 {
        let word = format!("{} {}", round % 4, round % 2 + 1);
        let status = run_child(NAME, directory.path(), &word);
        assert!(was_killed(status), "{round}: {status}");
        let opened = open(directory.path());
        check_steps(directory.path(), &opened.store, &word);
    }
    finish_steps(directory.path(), "after ten kills");
}

const CROWD: u64 = 1_000;
const CROWD_ROUNDS: usize = 3;

struct Member {
    number: u64,
    store: Arc<EmbeddedStore>,
    writer: Mutex<Writer>,
    acks: Acks,
}

/// Appends the member's next frame, and the one after that from within its ack.
fn go_on(member: Arc<Member>, round: usize) {
    let (expected, frame) = {
        let mut writer = member.writer.lock().unwrap();
        let body = round.to_string();
        let frame = writer.seal(summary(), body.as_bytes()).unwrap();
        (writer.tail(), frame)
    };
    let store = Arc::clone(&member.store);
    let done = Box::new(move |outcome| {
        let AppendOutcome::Acked(tail) = outcome else {
            panic!("not acked: {outcome:?}");
        };
        member.writer.lock().unwrap().acked(tail);
        member.acks.note(member.number, &round.to_string());
        if round + 1 < CROWD_ROUNDS {
            go_on(member, round + 1);
        }
    });
    store.append(expected, frame, done);
}

fn crowd_child() -> bool {
    let Some((directory, word)) = child_job() else {
        return false;
    };
    let config = with_fault(config(&directory), kill_plan(&word).unwrap());
    let store = Arc::new(try_open(&config).unwrap().store);
    let acks = Acks::in_directory(&directory);
    for number in 0..CROWD {
        let member = Member {
            number,
            store: Arc::clone(&store),
            writer: Mutex::new(writer(&store, tree(number), number)),
            acks: acks.clone(),
        };
        go_on(Arc::new(member), 0);
    }
    while store.appends_in_flight() > 0 {
        std::thread::yield_now();
    }
    true
}

// RELIABILITY ES12
#[test]
fn of_a_thousand_appends_at_once_all_acked_ones_survive_in_order() {
    const NAME: &str = "of_a_thousand_appends_at_once_all_acked_ones_survive_in_order";
    if crowd_child() {
        return;
    }
    let mut survived_unacked = 0;
    for point in 0..POINTS.len() {
        for nth in [1, 500, 1_001, 2_900] {
            let directory = tempfile::tempdir().unwrap();
            let word = format!("{point} {nth}");
            let status = run_child(NAME, directory.path(), &word);
            assert!(was_killed(status), "{word}: {status}");
            let opened = open(directory.path());
            let acked = acked(directory.path());
            for number in 0..CROWD {
                let found = bodies(&opened.store, tree(number)).unwrap();
                let expected = (0..found.len()).map(|round| round.to_string().into_bytes());
                assert!(found.iter().cloned().eq(expected), "{word}: {found:?}");
                let acked = acked.get(&number).map_or(0, Vec::len);
                assert!(found.len() >= acked, "{word}: tree {number} lost a frame");
                survived_unacked += found.len() - acked;
            }
        }
    }
    assert!(
        survived_unacked > 0,
        "some kills came between the write and its ack"
    );
}
