//! A small journal cut at each byte and changed at each byte: what opening and reading make of it.

use std::path::Path;
use std::sync::Arc;

use leasehold_types::{BootId, FrameIndex, Tenant, TreeId};

use super::open::log_only;
use super::{EmbeddedConfig, EmbeddedStore};
use crate::contract::{SeededRandom, block_on, summary};
use crate::{AppendOutcome, Chain, Journal, JournalError, Writer, append};

const TREES: u64 = 3;
const FRAMES: usize = 2;
const SEGMENT: &str = "segment-0000000000.log";
const TABLE: &str = "trees";

fn tree(number: u64) -> TreeId {
    crate::contract::tree("each byte", number)
}

fn config(directory: &Path) -> EmbeddedConfig {
    let mut config = EmbeddedConfig::at(directory.join("store"));
    config.segment_bytes = 512 * 1_024;
    config.reserve_bytes = 0;
    config
}

/// In memory where the system has such a place: the files are written thousands of times.
fn fast_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// A store with a few frames, closed; its segment, and how much of that is used.
fn small_store(directory: &Path) -> (Vec<u8>, usize) {
    let boot = BootId::from_u128(1);
    let opened = EmbeddedStore::open(&config(directory), boot, Arc::new(|_| {})).unwrap();
    let store = opened.store;
    let random = SeededRandom::new(1);
    let mut writers: Vec<Writer> = (0..TREES)
        .map(|number| {
            let seen = block_on(store.tail(tree(number))).unwrap().tail;
            Writer::starting(tree(number), Tenant::default(), seen, &random)
        })
        .collect();
    for frame in 0..FRAMES {
        for writer in &mut writers {
            let frame = writer.seal(summary(), &[u8::try_from(frame).unwrap() + 1]);
            let appended = append(&store, writer.tail(), frame.unwrap());
            let AppendOutcome::Acked(tail) = block_on(appended) else {
                panic!("not acked");
            };
            writer.acked(tail);
        }
    }
    store.close();
    let bytes = std::fs::read(directory.join("store").join(SEGMENT)).unwrap();
    let used = bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1;
    (bytes, used)
}

/// How many frames each tree has; `None`: it is corrupt. Anything that was never written fails the test.
#[track_caller]
fn examine(directory: &Path, name: &str) -> Vec<Option<usize>> {
    let shared = log_only(&config(directory)).unwrap();
    let frames_of = |number| {
        let read = || {
            shared.read_tail(tree(number))?;
            let mut chain = Chain::empty(tree(number));
            let page = shared.read_page(tree(number), FrameIndex::FIRST, usize::MAX)?;
            for (at, stored) in page.iter().enumerate() {
                let body = chain.read(&stored.bytes)?.body;
                assert_eq!(body, [u8::try_from(at).unwrap() + 1], "{name}");
            }
            Ok(page.len())
        };
        match read() {
            Ok(count) => Some(count),
            Err(JournalError::Corrupt(_)) => None,
            Err(error) => panic!("{name}: {error}"),
        }
    };
    (0..TREES).map(frames_of).collect()
}

/// Opens the store once for each way to spoil its segment, as a crash would leave it and as closing does.
fn each_byte(spoil: impl Fn(&mut Vec<u8>, usize), check: impl Fn(&[Option<usize>], &str)) -> usize {
    let directory = fast_directory();
    let (whole, used) = small_store(directory.path());
    let store = directory.path().join("store");
    let table = std::fs::read(store.join(TABLE)).unwrap();
    let mut corrupt = 0;
    for at in 0..used + 200 {
        for has_table in [false, true] {
            let mut bytes = whole.clone();
            spoil(&mut bytes, at);
            std::fs::write(store.join(SEGMENT), bytes).unwrap();
            if has_table {
                std::fs::write(store.join(TABLE), &table).unwrap();
            } else if store.join(TABLE).exists() {
                std::fs::remove_file(store.join(TABLE)).unwrap();
            }
            let name = format!("byte {at}, with its table: {has_table}");
            let found = examine(directory.path(), &name);
            check(&found, &name);
            corrupt += found.iter().filter(|count| count.is_none()).count();
        }
    }
    corrupt
}

// RELIABILITY ES4
#[test]
fn a_journal_cut_at_each_byte_opens_to_what_is_left() {
    let corrupt = each_byte(
        |bytes, at| bytes.truncate(at),
        |found, name| {
            let is_prefix = found.iter().all(|count| count.is_none_or(|c| c <= FRAMES));
            assert!(is_prefix, "{name}: {found:?}");
        },
    );
    assert!(
        corrupt > 1_000,
        "the table misses what it knows of: {corrupt}"
    );
}

// RELIABILITY ES5
// BAD INPUT 66
#[test]
fn a_change_of_each_byte_makes_one_tree_corrupt_or_nothing_and_shortens_none() {
    let corrupt = each_byte(
        |bytes, at| bytes[at] ^= 0x55,
        |found, name| {
            let is_whole = found.iter().all(|count| count.is_none_or(|c| c == FRAMES));
            assert!(is_whole, "{name}: {found:?}");
            let corrupt = found.iter().filter(|count| count.is_none()).count();
            assert!(corrupt <= 1, "{name}: {found:?}");
        },
    );
    assert!(
        corrupt > 2_000,
        "changed bytes of records are noticed: {corrupt}"
    );
}
