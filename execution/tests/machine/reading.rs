//! Reading bytes as records: what is newer is left alone, what is none is refused, within bounds of time and memory.

use leasehold_execution::record::Released;
use leasehold_execution::{RECORD_BYTES_MAX, Record, RecordError, read_entries, write_entries};

use crate::bench::Bench;

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
