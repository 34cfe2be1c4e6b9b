//! The disk fails or is full: what is told is true, a failed sync ends the store, a full disk does not.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::sync::{Arc, Mutex};

use leasehold_journal::contract::{SeededRandom, block_on, summary};
use leasehold_journal::embedded::{
    EmbeddedConfig, EmbeddedStore, FaultAction, FaultPlan, FaultPoint, StoreFatal, StoreOpenError,
};
use leasehold_journal::{
    AppendOutcome, Blobs, Expect, Inbox, Journal, JournalError, Keys, Letter, LetterId, LetterSeq,
    UnknownReason,
};
use leasehold_types::{BootId, Timestamp};
use support::{
    acked, bodies, child_job, config, open, run_child, tree, try_open, with_fault, write,
    write_acked, writer,
};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

fn fails_at(point: FaultPoint, nth: u64, error: i32) -> FaultPlan {
    let action = FaultAction::Error(error);
    FaultPlan { point, nth, action }
}

fn open_listening(config: &EmbeddedConfig) -> (EmbeddedStore, Arc<Mutex<Vec<StoreFatal>>>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&told);
    let hook = Arc::new(move |fatal| ears.lock().unwrap().push(fatal));
    let boot = BootId::new(&SeededRandom::new(3));
    let opened = EmbeddedStore::open(config, boot, hook).unwrap();
    (opened.store, told)
}

// RELIABILITY ES1
#[test]
fn a_failed_sync_poisons_the_store_and_is_never_tried_again() {
    for point in [FaultPoint::AfterWrite, FaultPoint::AfterFsync] {
        let directory = tempfile::tempdir().unwrap();
        let faulty = with_fault(config(directory.path()), fails_at(point, 3, EIO));
        let (store, told) = open_listening(&faulty);
        let mut writer = writer(&store, tree(0), 1);
        write_acked(&store, &mut writer, b"0");
        write_acked(&store, &mut writer, b"1");
        let unknown = AppendOutcome::Unknown(UnknownReason::Disconnected);
        assert_eq!(write(&store, &mut writer, b"2"), unknown);
        // The plan fails one sync only: a second one would succeed, and must not be made.
        for _ in 0..3 {
            let again = write(&store, &mut writer, b"2");
            let AppendOutcome::Failed(JournalError::Poisoned(_)) = again else {
                panic!("{again:?}");
            };
        }
        let poisoned = |error| matches!(error, JournalError::Poisoned(_));
        assert!(poisoned(block_on(store.tail(tree(0))).unwrap_err()));
        assert!(poisoned(block_on(store.scan(None, 9)).unwrap_err()));
        let blob = store.put_blob(tree(0), b"x".to_vec());
        assert!(poisoned(block_on(blob).unwrap_err()));
        drop(store);
        let told = told.lock().unwrap().clone();
        assert_eq!(told.len(), 1, "the process is told once: {told:?}");
        let found = bodies(&open(directory.path()).store, tree(0)).unwrap();
        assert!(
            [2, 3].contains(&found.len()),
            "all acked, perhaps the unknown one"
        );
    }
}

// RELIABILITY ES1
#[test]
fn a_process_whose_sync_failed_ends_with_its_code_and_recovers_at_the_next_start() {
    const NAME: &str =
        "a_process_whose_sync_failed_ends_with_its_code_and_recovers_at_the_next_start";
    if let Some((directory, _)) = child_job() {
        let faulty = with_fault(config(&directory), fails_at(FaultPoint::AfterWrite, 6, EIO));
        let boot = BootId::new(&SeededRandom::new(3));
        let exit = Arc::new(|_| std::process::exit(i32::from(StoreFatal::EXIT_CODE)));
        let store = EmbeddedStore::open(&faulty, boot, exit).unwrap().store;
        let acks = support::Acks::in_directory(&directory);
        let mut writer = writer(&store, tree(0), 1);
        for number in 0..20 {
            if !matches!(
                write(&store, &mut writer, &[number]),
                AppendOutcome::Acked(_)
            ) {
                break;
            }
            acks.note(0, &number.to_string());
        }
        // The hook ends the process.
        loop {
            std::thread::park();
        }
    }
    let directory = tempfile::tempdir().unwrap();
    let status = run_child(NAME, directory.path(), "fail");
    assert_eq!(status.code(), Some(74));
    assert_eq!(acked(directory.path())[&0].len(), 5);
    let found = bodies(&open(directory.path()).store, tree(0)).unwrap();
    let expected: Vec<Vec<u8>> = (0..u8::try_from(found.len()).unwrap())
        .map(|n| vec![n])
        .collect();
    assert!(
        found == expected && [5, 6].contains(&found.len()),
        "{found:?}"
    );
}

// RELIABILITY ES1
#[test]
fn appends_that_wait_behind_a_failed_sync_are_told_that_they_are_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let faulty = with_fault(
        config(directory.path()),
        fails_at(FaultPoint::AfterWrite, 2, EIO),
    );
    let (store, told) = open_listening(&faulty);
    let mut first = writer(&store, tree(0), 1);
    let frame = first.seal(summary(), b"first").unwrap();
    let store = Arc::new(store);
    let (outcomes, heard) = std::sync::mpsc::channel();
    let (again, tell) = (Arc::clone(&store), outcomes.clone());
    let mut others: Vec<_> = (1..20)
        .map(|number| writer(&store, tree(number), number))
        .collect();
    // Queued from within the first ack: the second write takes all of them, and fails.
    let done = Box::new(move |outcome| {
        tell.send((0, outcome)).unwrap();
        for (number, writer) in (1_u64..).zip(&mut others) {
            let frame = writer.seal(summary(), b"other").unwrap();
            let tell = outcomes.clone();
            let done = Box::new(move |outcome| {
                tell.send((number, outcome)).unwrap();
            });
            again.append(writer.tail(), frame, done);
        }
    });
    store.append(first.tail(), frame, done);
    let mut unknown = 0;
    for _ in 0..20 {
        let (number, outcome) = heard.recv().unwrap();
        match outcome {
            AppendOutcome::Acked(_) => assert_eq!(number, 0),
            AppendOutcome::Unknown(_) => unknown += 1,
            AppendOutcome::Refused | AppendOutcome::Failed(_) => panic!("{number}: {outcome:?}"),
        }
    }
    assert_eq!(unknown, 19);
    drop(store);
    assert_eq!(told.lock().unwrap().len(), 1);
}

// RELIABILITY ES2
#[test]
fn a_write_without_space_fails_as_store_full_and_the_next_one_works() {
    let directory = tempfile::tempdir().unwrap();
    let faulty = with_fault(
        config(directory.path()),
        fails_at(FaultPoint::BeforeWrite, 2, ENOSPC),
    );
    let (store, told) = open_listening(&faulty);
    let mut writer = writer(&store, tree(0), 1);
    write_acked(&store, &mut writer, b"0");
    let full = write(&store, &mut writer, b"1");
    let AppendOutcome::Failed(JournalError::StoreFull(_)) = full else {
        panic!("{full:?}");
    };
    assert_eq!(bodies(&store, tree(0)).unwrap().len(), 1);
    write_acked(&store, &mut writer, b"1");
    write_acked(&store, &mut writer, b"2");
    drop(store);
    assert!(
        told.lock().unwrap().is_empty(),
        "lack of space is not fatal"
    );
    let found = bodies(&open(directory.path()).store, tree(0)).unwrap();
    assert_eq!(found, [b"0", b"1", b"2"]);
}

// RELIABILITY ES2
#[test]
fn growth_without_space_fails_as_store_full_and_works_once_there_is_some() {
    let directory = tempfile::tempdir().unwrap();
    let mut faulty = config(directory.path());
    // It is tried again with each append once the segment is half full.
    faulty.faults = (1..=20)
        .map(|nth| fails_at(FaultPoint::BeforeGrowth, nth, ENOSPC))
        .collect();
    let (store, told) = open_listening(&faulty);
    let mut writer = writer(&store, tree(0), 1);
    let (mut written, mut full) = (0, 0);
    while written < 12 {
        match write(&store, &mut writer, &[7; 100_000]) {
            AppendOutcome::Acked(_) => written += 1,
            AppendOutcome::Failed(JournalError::StoreFull(_)) => full += 1,
            other @ (AppendOutcome::Refused
            | AppendOutcome::Unknown(_)
            | AppendOutcome::Failed(_)) => panic!("{other:?}"),
        }
    }
    assert!((1..=20).contains(&full), "{full}");
    assert_eq!(bodies(&store, tree(0)).unwrap().len(), 12);
    drop(store);
    assert!(told.lock().unwrap().is_empty());
    assert_eq!(
        bodies(&open(directory.path()).store, tree(0))
            .unwrap()
            .len(),
        12
    );
}

// RELIABILITY ES2
#[test]
fn the_reserve_of_free_space_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).store.close();
    let mut greedy = config(directory.path());
    greedy.reserve_bytes = u64::MAX / 2;
    let store = try_open(&greedy).unwrap().store;
    let mut writer = writer(&store, tree(0), 1);
    // The segment that is there can be filled; no other one is made.
    let mut written = 0;
    let full = loop {
        match write(&store, &mut writer, &[7; 100_000]) {
            AppendOutcome::Acked(_) => written += 1,
            other @ (AppendOutcome::Refused
            | AppendOutcome::Unknown(_)
            | AppendOutcome::Failed(_)) => break other,
        }
    };
    assert!(
        matches!(full, AppendOutcome::Failed(JournalError::StoreFull(_))),
        "{full:?}"
    );
    assert!(written >= 4, "{written}");
    let letter = Letter {
        id: LetterId(1),
        tree: tree(0),
        body: Vec::new(),
    };
    let put = block_on(store.put(letter.clone()));
    assert!(matches!(put, Err(JournalError::StoreFull(_))));
    let now = Timestamp::default();
    let key = store.put_key("a", Vec::new(), Expect::Absent, None, now);
    assert!(matches!(block_on(key), Err(JournalError::StoreFull(_))));
    drop(store);
    let store = open(directory.path()).store;
    write_acked(
        &store,
        &mut support::writer(&store, tree(0), 2),
        b"there is space again",
    );
    assert_eq!(block_on(store.put(letter)), Ok(LetterSeq(1)));
    let mut new = config(directory.path());
    new.directory = directory.path().join("another");
    new.reserve_bytes = u64::MAX / 2;
    let refused = try_open(&new);
    assert!(matches!(refused, Err(StoreOpenError::Full(_))));
}

#[test]
fn more_appends_than_the_queue_holds_are_refused_as_overloaded_and_counted() {
    let directory = tempfile::tempdir().unwrap();
    let mut small = config(directory.path());
    small.queue_appends_max = 3;
    let store = try_open(&small).unwrap().store;
    let mut writers: Vec<_> = (0..5)
        .map(|number| writer(&store, tree(number), number))
        .collect();
    let (outcomes, heard) = std::sync::mpsc::channel();
    let (go_on, wait) = std::sync::mpsc::channel::<()>();
    let mut wait = Some(wait);
    for (number, writer) in (0_u64..).zip(&mut writers) {
        let frame = writer.seal(summary(), b"x").unwrap();
        let (tell, wait) = (outcomes.clone(), wait.take());
        let done = Box::new(move |outcome| {
            tell.send((number, outcome)).unwrap();
            // The first ack holds the store's thread until all have been sent.
            wait.map_or(Ok(()), |wait| wait.recv()).unwrap();
        });
        store.append(writer.tail(), frame, done);
        if number == 0 {
            let (first, outcome) = heard.recv().unwrap();
            assert!(first == 0 && matches!(outcome, AppendOutcome::Acked(_)));
        }
    }
    let overloaded = heard.recv().unwrap();
    let error = JournalError::Overloaded { in_flight: 3 };
    assert_eq!(overloaded, (4, AppendOutcome::Failed(error)));
    go_on.send(()).unwrap();
    for number in 1..4 {
        let (next, outcome) = heard.recv().unwrap();
        assert!(next == number && matches!(outcome, AppendOutcome::Acked(_)));
    }
    assert_eq!(store.appends_in_flight(), 0);
}
