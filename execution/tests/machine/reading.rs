//! Reading bytes as records: what is newer is left alone, what is none is refused, within bounds of time and memory.

use std::sync::LazyLock;

use leasehold_execution::record::Released;
use leasehold_execution::{
    Machine, RECORD_BYTES_MAX, Record, RecordError, read_entries, write_entries,
};
use leasehold_types::TreeId;
use proptest::prelude::*;

use crate::bench::Bench;
use crate::desk::plan;

fn line(kind: &str, v: u32, more: &str, body: &str) -> String {
    format!("{{\"kind\":\"{kind}\",\"v\":{v},\"x\":0,\"at\":1{more},\"body\":{body}}}\n")
}

#[track_caller]
fn check_malformed(name: &str, written: &[u8]) {
    let Err(RecordError::Malformed { why, .. }) = read_entries(written) else {
        panic!("{name}: {:?}", read_entries(written));
    };
    assert!(
        why.len() < 512,
        "{name}: the payload is not in the error: {why}"
    );
}

// BAD INPUT 63, 65
#[test]
fn a_kind_or_a_version_of_a_newer_release_parks_the_tree_unless_it_may_be_skipped() {
    let newer = [
        ("a kind", line("dreamt", 1, "", "{}")),
        ("a version", line("released", 2, "", "{\"reason\":\"r\"}")),
        ("a long kind", line(&"k".repeat(10_000), 1, "", "{}")),
    ];
    let known = line("released", 1, "", "{\"reason\":\"r\"}");
    for (name, written) in newer {
        let error = read_entries(format!("{known}{written}").as_bytes()).unwrap_err();
        let RecordError::NeedsNewerVersion { kind, .. } = &error else {
            panic!("{name}: {error}");
        };
        assert!(kind.len() <= 64, "{name}");
        let text = error.to_string();
        assert!(
            text.starts_with("[journal.needs-newer-version] NeedsNewerVersion: "),
            "{text}"
        );
    }
    for (kind, v) in [("dreamt", 1), ("released", 2)] {
        let skippable = line(kind, v, ",\"skippable\":true", "[7]");
        let read = read_entries(format!("{skippable}{known}").as_bytes()).unwrap();
        assert_eq!(read.len(), 1, "{kind} is skipped and what follows is read");
    }
}

// BAD INPUT 64
#[test]
fn an_unknown_field_is_kept_out_of_the_way_and_an_unknown_word_is_not_guessed() {
    let read = read_entries(
        line(
            "released",
            1,
            ",\"mood\":[1]",
            "{\"reason\":\"r\",\"weather\":{\"a\":1}}",
        )
        .as_bytes(),
    );
    assert_eq!(read.unwrap()[0].record.kind(), "released");
    let body = "{\"call_id\":\"a\",\"attempt\":1,\"kind\":\"evaporated\",\"text\":\"\"}";
    check_malformed(
        "a word of a newer version under the old number",
        line("call_finished", 1, "", body).as_bytes(),
    );
}

// BAD INPUT 67
#[test]
fn what_is_no_record_of_its_kind_is_malformed_and_its_position_is_told() {
    let known = line("released", 1, "", "{\"reason\":\"r\"}");
    for bad in [
        "\u{0}",
        "x",
        "[]",
        "{}",
        "null",
        &line("released", 1, "", "{}"),
        &line("released", 1, "", "[]"),
        &line("released", 1, "", "{\"reason\":7}"),
        &line("released", 1, "", "{\"reason\":\"a\",\"reason\":\"b\"}"),
        &line("released", 99_999_999, "", "{}"),
        &known[..known.len() - 4],
    ] {
        check_malformed(bad, bad.as_bytes());
        let second = format!("{known}{bad}");
        let Err(RecordError::Malformed { position: 1, .. }) = read_entries(second.as_bytes())
        else {
            panic!("{bad}: {:?}", read_entries(second.as_bytes()));
        };
    }
    check_malformed("invalid UTF-8", b"{\"kind\":\"\xff\"}");
}

// BAD INPUT 71
// RELIABILITY JS18
#[test]
fn decoding_is_bounded_in_size_and_depth() {
    for nested in [101, 1_000, 1_000_000] {
        let (open, close) = ("[".repeat(nested), "]".repeat(nested));
        let (reason, value) = (
            format!("{{\"reason\":\"r\",\"new\":{open}{close}}}"),
            format!("{open}{close}"),
        );
        check_malformed(
            "in a field we do not know",
            line("released", 1, "", &reason).as_bytes(),
        );
        check_malformed(
            "in one we know",
            line(
                "pause_resolved",
                1,
                "",
                &format!("{{\"number\":1,\"resolution\":\"answered\",\"answer\":{value}}}"),
            )
            .as_bytes(),
        );
        check_malformed(
            "where it could be skipped",
            line("dreamt", 1, ",\"skippable\":true", &value).as_bytes(),
        );
        check_malformed("and never closed", open.as_bytes());
    }
    let brackets = format!("{{\"reason\":\"\\\"{}\"}}", "[".repeat(1_000));
    assert!(
        read_entries(line("released", 1, "", &brackets).as_bytes()).is_ok(),
        "brackets of a text do not count"
    );
    let deep = format!("{}{}", "[".repeat(64), "]".repeat(64));
    let answer = format!("{{\"number\":1,\"resolution\":\"answered\",\"answer\":{deep}}}");
    assert!(
        read_entries(line("pause_resolved", 1, "", &answer).as_bytes()).is_ok(),
        "as deep as an answer may be"
    );

    let whole = line("released", 1, "", "{\"reason\":\"\"}").len() - 1;
    let fits = "x".repeat(RECORD_BYTES_MAX - whole);
    let released = |reason: &str| line("released", 1, "", &format!("{{\"reason\":\"{reason}\"}}"));
    assert!(
        read_entries(released(&fits).as_bytes()).is_ok(),
        "at the limit"
    );
    check_malformed("one past it", released(&(fits + "x")).as_bytes());
}

// RELIABILITY JS18
#[test]
fn what_could_not_be_read_is_not_written() {
    let mut entry = Bench::ran("").journal[0].clone();
    let reason = "x".repeat(RECORD_BYTES_MAX);
    entry.record = Record::Released(Released { reason });
    let error = write_entries(&[entry.clone(), entry]).unwrap_err();
    assert!(
        matches!(error, RecordError::Malformed { position: 0, .. }),
        "{error}"
    );
}

/// Journals with much in them, as they are written.
static JOURNALS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let scripts = [
        "calls a:refund b:write c:alone; sent 1; crash; approve 1; ok c; reject 2 no; ok a; says done",
        "model-fails; wait 1; calls a:idem b:paid; timeout b; late b; crash; retry a; cancel; ok a",
        "calls a:refund; unsent 1; wait 1; sent 1; rest; crash; edit 1 {\"n\":1}; fatal a",
        "calls a:idem; crash; crash; crash-alone; crash; retry-tree; cancel; ok a",
    ];
    let written = |script: &&str| write_entries(&Bench::ran(script).journal).unwrap();
    scripts.iter().map(written).collect()
});

/// Reads what stands there and goes on from it as an owner would.
fn go_on(written: &[u8]) {
    let Ok(read) = read_entries(written) else {
        return;
    };
    let mut bench = Bench::new(plan());
    let mut machine = Machine::new(TreeId::from_u128(1), bench.machine.plan().clone());
    if machine.replay(&read).is_err() || machine.started().is_none() {
        return;
    }
    bench.machine = machine;
    bench.journal = read;
    bench.go_on();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    // BAD INPUT 66, 69
    #[test]
    fn a_journal_with_lines_lost_doubled_and_moved_is_refused_or_gone_on_from_and_never_a_panic(
        which in 0..4_usize,
        edits in prop::collection::vec((0..3_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let journal = &JOURNALS[which];
        let mut lines: Vec<&[u8]> = journal.split_inclusive(|byte| *byte == b'\n').collect();
        for (edit, from, to) in edits {
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            match edit {
                0 if lines.len() > 1 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from]),
                _ => lines.swap(from, to),
            }
        }
        go_on(&lines.concat());
    }

    // BAD INPUT 67, 71
    #[test]
    fn a_journal_with_bytes_changed_is_refused_or_gone_on_from_and_never_a_panic(
        which in 0..4_usize,
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut journal = JOURNALS[which].clone();
        for (at, byte) in flips {
            let at = at.index(journal.len());
            journal[at] = byte;
        }
        go_on(&journal);
    }

    // BAD INPUT 71
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        go_on(&bytes);
    }
}
