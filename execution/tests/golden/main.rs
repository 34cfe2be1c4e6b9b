//! The written form of every record kind, byte for byte: `tests/golden/records/<kind>.jsonl`.
//!
//! The first line of a file has every field set; the others have one word of an enum each. A journal lives longer than a release:
//! what stands in these files is read for ever. A mismatch prints the whole text that the file would need; it is put there by hand,
//! after the kind's version has been thought about.

#![expect(
    clippy::panic,
    reason = "the whole binary is a test: what cannot be is its failure"
)]

mod samples;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use leasehold_execution::{RECORD_KINDS, read_entries, write_entries};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/golden/records")
}

// BAD INPUT 63, 64
#[test]
fn each_record_kind_is_written_and_read_as_its_golden_file_says() {
    let mut wrong = String::new();
    for kind in RECORD_KINDS {
        let samples = samples::of(kind);
        let written = String::from_utf8(write_entries(&samples).unwrap()).unwrap();
        let path = folder().join(format!("{kind}.jsonl"));
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        if golden != written {
            let path = format!("tests/golden/records/{kind}.jsonl");
            wrong += &format!("\n{path} is not what this build writes; it writes:\n{written}");
            continue;
        }
        assert_eq!(read_entries(golden.as_bytes()).unwrap(), samples, "{kind}");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn there_is_a_golden_file_for_each_kind_and_for_nothing_else() {
    let found: BTreeSet<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let named = RECORD_KINDS.iter().map(|kind| format!("{kind}.jsonl"));
    assert_eq!(found, named.collect());
}

#[test]
fn the_first_line_of_each_file_has_every_field_set() {
    for kind in RECORD_KINDS {
        let first = samples::of(kind).swap_remove(0);
        assert_eq!(first.record.kind(), *kind);
        let written = write_entries(&[first]).unwrap();
        let line: Value = serde_json::from_slice(&written).unwrap();
        check_set(kind, &line["body"]);
    }
}

/// No field of a sample is what it would be by default: such a one may be left out when it is written.
#[track_caller]
fn check_set(place: &str, value: &Value) {
    let is_set = match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(value) => value.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    };
    assert!(is_set, "{place} is not set: {value}");
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                check_set(&format!("{place}.{name}"), value);
            }
        }
        Value::Array(items) => {
            for value in items {
                check_set(&format!("{place}[]"), value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
