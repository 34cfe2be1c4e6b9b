//! Files that are cut, flipped, torn or gone: what was acked is there or its tree is corrupt, nothing is invented, others go on.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use leasehold_journal::JournalError;
use leasehold_journal::contract::SeededRandom;
use leasehold_journal::embedded::{EmbeddedStore, StoreOpenError, StoreWarning};
use leasehold_types::Random;
use support::{Image, bodies, fast_directory, open, tree, write_acked, write_at_once, writer};

const TREES: u64 = 3;
const FRAMES: u64 = 2;

fn body(tree: u64, frame: u64) -> Vec<u8> {
    format!("frame {frame} of tree {tree}").into_bytes()
}

fn written(tree: u64) -> Vec<Vec<u8>> {
    (0..FRAMES).map(|frame| body(tree, frame)).collect()
}

fn fill(store: &EmbeddedStore) {
    let mut writers: Vec<_> = (0..TREES)
        .map(|number| writer(store, tree(number), number))
        .collect();
    for frame in 0..FRAMES {
        for (number, writer) in (0..TREES).zip(&mut writers) {
            write_acked(store, writer, &body(number, frame));
        }
    }
}

/// The files of a store with a few frames: as a crash leaves them, or as closing does.
fn small_journal() -> (Image, Image) {
    let directory = fast_directory();
    let opened = open(directory.path());
    fill(&opened.store);
    let mut crashed = Image::of(directory.path());
    opened.store.close();
    let mut closed = Image::of(directory.path());
    // The letters' file is not what is damaged here; opening one that is there is faster than making one.
    let cold = std::fs::read(directory.path().join("store/cold.redb")).unwrap();
    for image in [&mut crashed, &mut closed] {
        image.0.insert("cold.redb".to_owned(), cold.clone());
    }
    (crashed, closed)
}

/// How a tree came out.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    Whole,
    Shorter,
    Corrupt,
}

/// What is left of each tree. Anything that was never written fails the test.
#[track_caller]
fn examine(store: &EmbeddedStore, name: &str) -> Vec<Found> {
    let tree_of = |number| match bodies(store, tree(number)) {
        Ok(found) if found == written(number) => Found::Whole,
        Ok(found) => {
            let is_prefix = written(number).starts_with(&found);
            assert!(is_prefix, "{name}: tree {number} has {found:?}");
            Found::Shorter
        }
        Err(JournalError::Corrupt(error)) => {
            assert_eq!(error.tree, tree(number));
            Found::Corrupt
        }
        Err(error) => panic!("{name}: {error}"),
    };
    (0..TREES).map(tree_of).collect()
}

/// The trees that are not corrupt can be written to and read again, also after the next start.
fn go_on(directory: tempfile::TempDir, store: EmbeddedStore, name: &str) {
    let found = examine(&store, name);
    for (number, found) in (0..TREES).zip(&found) {
        if *found != Found::Corrupt {
            let mut writer = writer(&store, tree(number), 50 + number);
            write_acked(&store, &mut writer, b"later");
        }
    }
    drop(store);
    std::fs::remove_file(directory.path().join("store/trees")).unwrap();
    let again = open(directory.path()).store;
    for (number, found) in (0..TREES).zip(&found) {
        match (found, bodies(&again, tree(number))) {
            (Found::Corrupt, Err(JournalError::Corrupt(_))) => {}
            (Found::Whole | Found::Shorter, Ok(bodies)) => {
                assert_eq!(bodies.last().unwrap(), b"later", "{name}");
            }
            (found, bodies) => panic!("{name}: tree {number} was {found:?}, is {bodies:?}"),
        }
    }
}

// RELIABILITY ES3
#[test]
fn a_last_record_cut_anywhere_is_dropped_and_nothing_else_is() {
    let (mut crashed, _) = small_journal();
    let used = crashed.used();
    let last = last_record(&mut crashed);
    let mut dropped = 0;
    for at in last..used {
        for shorter_file in [false, true] {
            let mut image = crashed.clone();
            if shorter_file {
                image.first_segment().truncate(at);
            } else {
                image.first_segment()[at..].fill(0);
            }
            let name = format!("cut at {at}, shorter file: {shorter_file}");
            let (directory, opened) = image.open();
            let store = opened.unwrap().store;
            let found = examine(&store, &name);
            let expected = [Found::Whole, Found::Whole, Found::Shorter];
            assert_eq!(found, expected, "{name}");
            dropped += 1;
            if at % 20 == 0 {
                go_on(directory, store, &name);
            }
        }
    }
    assert!(dropped > 500);
}

/// Where the last record of the first segment begins.
fn last_record(image: &mut Image) -> usize {
    let bytes = image.first_segment();
    bytes
        .windows(4)
        .rposition(|four| four == b"LHR\x01")
        .unwrap()
}

// RELIABILITY ES4
#[test]
fn a_cut_saved_table_is_made_anew_and_a_cut_identity_is_read_from_a_segment() {
    let (_, closed) = small_journal();
    for name in ["trees", "STORE"] {
        for at in 0..closed.0[name].len() {
            let mut image = closed.clone();
            image.0.get_mut(name).unwrap().truncate(at);
            let (_directory, opened) = image.open();
            let opened = opened.unwrap();
            let found = examine(&opened.store, name);
            assert!(found.iter().all(|found| *found == Found::Whole));
            let is_rebuilt =
                |warning: &StoreWarning| matches!(warning, StoreWarning::TableRebuilt(_));
            assert_eq!(opened.warnings.iter().any(is_rebuilt), name == "trees");
        }
    }
}

// RELIABILITY ES5
#[test]
fn a_store_with_a_changed_byte_goes_on_with_all_other_trees() {
    let (mut crashed, closed) = small_journal();
    let used = crashed.used();
    let mut corrupt = 0;
    for at in (0..used + 200).step_by(31) {
        for (image, kind) in [(&crashed, "crashed"), (&closed, "closed")] {
            let mut image = image.clone();
            image.first_segment()[at] ^= 0x55;
            let name = format!("{kind}, byte {at}");
            let (directory, opened) = image.open();
            let store = opened.unwrap().store;
            let found = examine(&store, &name);
            assert!(!found.contains(&Found::Shorter), "{name}: {found:?}");
            let count = found
                .iter()
                .filter(|found| **found == Found::Corrupt)
                .count();
            assert!(count <= 1, "{name}: {found:?}");
            corrupt += count;
            if at % 100 == 0 {
                go_on(directory, store, &name);
            }
        }
    }
    assert!(
        corrupt > 60,
        "changed bytes of records are noticed: {corrupt}"
    );
}

// RELIABILITY ES5
#[test]
fn a_changed_byte_of_the_saved_table_or_the_identity_changes_nothing() {
    let (_, closed) = small_journal();
    for name in ["trees", "STORE"] {
        for at in 0..closed.0[name].len() {
            let mut image = closed.clone();
            image.0.get_mut(name).unwrap()[at] ^= 0x01;
            let (_directory, opened) = image.open();
            let found = examine(&opened.unwrap().store, name);
            assert!(
                found.iter().all(|found| *found == Found::Whole),
                "{name} {at}"
            );
        }
    }
}

const CROWD: u64 = 9;

/// The segment before and after one write of several records, and where it is.
fn one_write() -> (Image, Image, std::ops::Range<usize>) {
    let directory = fast_directory();
    let opened = open(directory.path());
    let mut writers: Vec<_> = (0..CROWD)
        .map(|number| writer(&opened.store, tree(number), number))
        .collect();
    for (number, writer) in (0..CROWD).zip(&mut writers) {
        write_acked(&opened.store, writer, &body(number, 0));
    }
    write_acked(&opened.store, &mut writers[0], &body(0, 1));
    let acked = Image::of(directory.path()).used();
    // The first one's append is a write of its own, and acked before the others are written.
    write_at_once(&opened.store, &mut writers, b"at once");
    let mut after = Image::of(directory.path());
    let to = after.used();
    let records: Vec<usize> = (acked..to)
        .filter(|at| after.first_segment()[*at..].starts_with(b"LHR\x01"))
        .collect();
    assert_eq!(records.len() as u64, CROWD);
    let from = records[1];
    let mut before = after.clone();
    before.first_segment()[from..].fill(0);
    (before, after, from..to)
}

/// The image in which only some sectors of the write have reached the disk.
fn torn(
    before: &Image,
    after: &Image,
    range: &std::ops::Range<usize>,
    has_reached: impl Fn(usize) -> bool,
) -> Image {
    let (mut torn, mut after) = (before.clone(), after.clone());
    let (torn_bytes, after_bytes) = (torn.first_segment(), after.first_segment());
    for sector in range.start / 512..range.end.div_ceil(512) {
        if has_reached(sector - range.start / 512) {
            let bytes = sector * 512..sector * 512 + 512;
            torn_bytes[bytes.clone()].copy_from_slice(&after_bytes[bytes]);
        }
    }
    torn
}

#[track_caller]
fn check_torn(image: &Image, name: &str) {
    let (directory, opened) = image.open();
    let mut store = opened.unwrap().store;
    for round in 0..2 {
        for number in 0..CROWD {
            let found = bodies(&store, tree(number));
            let found = found.unwrap_or_else(|error| panic!("{name}: {error}"));
            let mut expected = vec![body(number, 0)];
            if number == 0 {
                expected.extend([body(0, 1), b"at once".to_vec()]);
            }
            assert!(
                found.starts_with(&expected),
                "{name}: tree {number} {found:?}"
            );
            let rest = &found[expected.len()..];
            assert!(
                rest.is_empty() || rest == [b"at once"] || round > 0,
                "{name}"
            );
        }
        // What is written now takes the place of what was torn, and is what the next start finds.
        let mut writer = writer(&store, tree(3), 77 + round);
        write_acked(&store, &mut writer, b"later");
        let saved = Image::of(directory.path());
        let (_other, opened) = saved.open();
        let other = opened.unwrap().store;
        assert_eq!(
            bodies(&other, tree(3)).unwrap().last().unwrap(),
            b"later",
            "{name}"
        );
        drop(store);
        store = open(directory.path()).store;
    }
}

// RELIABILITY ES6, ES7
#[test]
fn a_write_of_which_any_sectors_are_lost_takes_nothing_acked_with_it() {
    let (before, after, range) = one_write();
    let sectors = range.end.div_ceil(512) - range.start / 512;
    for kept in 0..=sectors {
        let prefix = torn(&before, &after, &range, |sector| sector < kept);
        check_torn(&prefix, &format!("the first {kept} sectors"));
        let suffix = torn(&before, &after, &range, |sector| sector >= kept);
        check_torn(&suffix, &format!("all but the first {kept} sectors"));
    }
    for seed in 0..200 {
        let chosen = SeededRandom::new(seed * 1_000).next_u64();
        let any = torn(&before, &after, &range, |sector| chosen >> sector & 1 == 1);
        check_torn(&any, &format!("sectors of seed {seed}"));
    }
}

// RELIABILITY ES5
#[test]
fn a_page_of_acked_frames_that_is_gone_is_missed_in_every_tree_that_may_have_lost_one() {
    let directory = fast_directory();
    let opened = open(directory.path());
    let mut writers: Vec<_> = (0..60)
        .map(|number| writer(&opened.store, tree(number), number))
        .collect();
    for (number, writer) in (0..60).zip(&mut writers) {
        write_acked(&opened.store, writer, &body(number, 0));
    }
    // Only the first trees are heard of again, behind the damage.
    for (number, writer) in (0..3).zip(&mut writers) {
        write_acked(&opened.store, writer, &body(number, 1));
    }
    let mut image = Image::of(directory.path());
    image.first_segment()[8_192..12_288].fill(0);
    let (_directory, opened) = image.open();
    let store = opened.unwrap().store;
    for number in 0..60 {
        let found = bodies(&store, tree(number));
        match found {
            Ok(found) if number < 3 => assert_eq!(found, written(number)),
            Ok(found) => {
                let (_, first) = found.first().map_or((0, None), |body| (1, Some(body)));
                let is_behind = first == Some(&body(number, 0)) && number > 20;
                assert!(is_behind || first.is_none(), "tree {number} has {found:?}");
            }
            Err(JournalError::Corrupt(_)) => assert!(number >= 3),
            Err(error) => panic!("{error}"),
        }
    }
    assert!(bodies(&store, tree(4)).is_err(), "it may have lost a frame");
    assert!(
        bodies(&store, tree(59)).is_ok(),
        "it was written behind the damage"
    );
}

// RELIABILITY ES4
#[test]
fn a_segment_that_is_gone_is_missed() {
    let directory = fast_directory();
    let opened = open(directory.path());
    let mut first = writer(&opened.store, tree(0), 0);
    let mut second = writer(&opened.store, tree(1), 1);
    write_acked(&opened.store, &mut second, b"only in the first segment");
    while !directory
        .path()
        .join("store/segment-0000000003.log")
        .exists()
    {
        write_acked(&opened.store, &mut first, &[7; 60_000]);
    }
    write_acked(&opened.store, &mut first, b"last");
    for gone in ["segment-0000000000.log", "segment-0000000001.log"] {
        for has_table in [false, true] {
            let mut image = Image::of(directory.path());
            image.0.remove(gone);
            if !has_table {
                image.0.remove("trees");
            }
            let (_directory, opened) = image.open();
            let opened = opened.unwrap();
            let found = bodies(&opened.store, tree(0));
            assert!(
                matches!(found, Err(JournalError::Corrupt(_))),
                "{gone}: {found:?}"
            );
        }
    }
}

#[test]
fn letters_keys_and_blobs_that_cannot_be_read_refuse_to_open_without_a_panic() {
    let directory = fast_directory();
    let opened = open(directory.path());
    fill(&opened.store);
    opened.store.close();
    let path = directory.path().join("store/cold.redb");
    let whole = std::fs::read(&path).unwrap();
    for (from, to) in [(0, 64), (64, 4_096), (4_096, 40_000)] {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0x5a);
        std::fs::write(&path, &bytes).unwrap();
        match support::try_open(&support::config(directory.path())) {
            Ok(opened) => {
                assert_eq!(examine(&opened.store, "cold").len(), 3);
            }
            Err(StoreOpenError::Damaged(_)) => {}
            Err(error) => panic!("{from}: {error}"),
        }
    }
}
