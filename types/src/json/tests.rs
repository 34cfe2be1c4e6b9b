//! What the bounded decoder reads, and the bad inputs it refuses.

use super::*;
use JsonError as E;

#[track_caller]
fn check(text: impl AsRef<[u8]>, right: Result<Value, JsonError>) {
    assert_eq!(decode(text.as_ref(), &JsonLimits::ARGUMENTS), right);
}

#[track_caller]
fn refused(text: impl AsRef<[u8]>, right: JsonError) {
    check(text, Err(right));
}

fn invalid(at: usize) -> JsonError {
    E::Invalid { at }
}

#[test]
fn a_value_is_read_as_another_reader_reads_it() {
    for text in [
        "null",
        " true ",
        "[]",
        "{}",
        "[1, -2, 3.5, 1e3, -0.25E-2, 0]",
        r#"{"a": {"b": ["c", false]}, "": "\"\\\/\b\f\n\r\tA\u00e9\ud83d\ude00é😀"}"#,
    ] {
        check(text, Ok(serde_json::from_str(text).unwrap()));
    }
}

// BAD INPUT 1
#[test]
fn what_is_not_one_json_value_is_refused_with_its_byte() {
    refused("", invalid(0));
    refused(r#"{"to": "a""#, invalid(10));
    refused("Sure! {}", invalid(0));
    refused("{} done", invalid(3));
    refused("{}{}", invalid(2));
    refused("```json\n{}\n```", invalid(0));
    refused("{'a': 1}", invalid(1));
    refused("[1,]", invalid(3));
    refused("{\"a\":1,}", invalid(7));
    refused("tru", invalid(3));
    refused("\"a\nb\"", invalid(2));
    refused(r#""\x""#, invalid(2));
}

// BAD INPUT 3, 10
#[test]
fn two_equal_keys_are_refused_in_whatever_unicode_form() {
    refused(r#"{"to":"a","to":"b"}"#, E::DuplicateKey { at: 10 });
    refused(r#"{"to":"a","\u0074o":"b"}"#, E::DuplicateKey { at: 10 });
    refused("{\"\u{e9}\":1,\"e\u{301}\":2}", E::DuplicateKey { at: 8 });
    refused("{\"e\u{301}\":1,\"\u{e9}\":2}", E::DuplicateKey { at: 9 });
    refused("{\"\u{212a}\":1,\"K\":2}", E::DuplicateKey { at: 9 });
    refused("{\"K\":1,\"\u{212a}\":2}", E::DuplicateKey { at: 7 });
    let fine = "{\"\u{e9}\":1,\"e\":{\"e\":2}}";
    check(fine, Ok(serde_json::from_str(fine).unwrap()));
}

// BAD INPUT 9, 10
#[test]
fn a_key_with_an_invisible_character_is_refused() {
    for key in [
        "a\u{200b}",
        "\u{feff}a",
        "a\u{e0061}",
        "\u{202e}a",
        "a\u{7f}",
    ] {
        refused(format!("{{\"{key}\":1}}"), E::KeyInvalid { at: 1 });
    }
    refused(r#"{"a\u0000":1}"#, E::KeyInvalid { at: 1 });
}

// BAD INPUT 6
#[test]
fn a_number_is_exact_or_refused() {
    check("9007199254740993", Ok(9_007_199_254_740_993_u64.into()));
    check("18446744073709551615", Ok(u64::MAX.into()));
    check("-9223372036854775808", Ok(i64::MIN.into()));
    check("0.1", Ok(0.1.into()));
    check("0e5", Ok(0.0.into()));
    for text in [
        "123456789012345678901234567890",
        "18446744073709551616",
        "-9223372036854775809",
        "1e400",
        "-1e400",
        "1e-400",
    ] {
        refused(text, E::NumberInexact { at: 0 });
    }
    for (text, at) in [
        ("NaN", 0),
        ("Infinity", 0),
        ("-Infinity", 1),
        ("01", 1),
        ("+1", 0),
        (".5", 0),
        ("1.", 2),
        ("1e", 2),
        ("0x1", 1),
    ] {
        refused(text, invalid(at));
    }
}

// BAD INPUT 6
#[test]
fn minus_zero_stays_what_it_says() {
    for text in ["-0", "-0.0"] {
        let value = decode(text.as_bytes(), &JsonLimits::ARGUMENTS).unwrap();
        assert!(value.as_f64().unwrap().is_sign_negative(), "{text}");
    }
}

// BAD INPUT 7
#[test]
fn nesting_is_refused_past_the_limit_before_the_rest_is_read() {
    let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    assert!(decode(nested(64).as_bytes(), &JsonLimits::ARGUMENTS).is_ok());
    for levels in [65, 127, 128, 100_000] {
        refused(nested(levels), E::TooDeep { at: 64, max: 64 });
    }
    let unfinished = "{\"a\":".repeat(64) + "[ and no JSON at all";
    refused(unfinished, E::TooDeep { at: 320, max: 64 });
}

// BAD INPUT 8
#[test]
fn size_is_refused_at_its_bound() {
    let limits = JsonLimits {
        bytes_max: 400,
        nodes_max: 5,
        string_bytes_max: 6,
        keys_max: 2,
        ..JsonLimits::ARGUMENTS
    };
    let read = |text: &str| decode(text.as_bytes(), &limits);
    assert!(read("[1,2,3,4]").is_ok());
    assert_eq!(read("[1,2,3,4,5]"), Err(E::TooManyValues { at: 9, max: 5 }));
    assert!(read(r#""123456""#).is_ok());
    assert_eq!(
        read(r#""1234567""#),
        Err(E::StringTooLong { at: 0, max: 6 })
    );
    assert!(read(r#"{"a":1,"b":2}"#).is_ok());
    let three = read(r#"{"a":1,"b":2,"c":3}"#);
    assert_eq!(three, Err(E::TooManyKeys { at: 13, max: 2 }));
    assert!(read(&" ".repeat(401)).is_err_and(|error| error
        == E::TooLarge {
            bytes: 401,
            max: 400
        }));
    let big = format!("\"{}\"", "a".repeat(10 << 20));
    let (bytes, max) = (big.len(), 1 << 20);
    refused(big, E::TooLarge { bytes, max });
    refused(
        format!("[{}0]", "0,".repeat(400_000)),
        E::TooManyValues {
            at: 19_999,
            max: 10_000,
        },
    );
}

// BAD INPUT 9
#[test]
fn text_that_is_not_whole_unicode_is_refused() {
    refused(br#""\ud800""#, E::LoneSurrogate { at: 1 });
    refused(br#""\udc00""#, E::LoneSurrogate { at: 1 });
    refused(br#""\ud800\u0041""#, E::LoneSurrogate { at: 1 });
    refused(b"\"\xff\"", invalid(1));
    refused(b"\"\xc0\xaf\"", invalid(1));
    refused(b"\"\xed\xa0\x80\"", invalid(1));
    refused("\u{feff}{}", invalid(0));
    refused("\"\0\"", invalid(1));
    refused(r#"["\u0000"]"#, E::Nul { at: 1 });
    let free = decode(br#""a\u0000b""#, &JsonLimits::ARGUMENTS.with_nul());
    assert_eq!(free, Ok("a\0b".into()));
}

// BAD INPUT 11
#[test]
fn keys_that_mean_something_elsewhere_are_plain_data() {
    let text = r##"{"__proto__":1,"constructor":2,"$ref":"#","$schema":"x"}"##;
    check(text, Ok(serde_json::from_str(text).unwrap()));
}

#[test]
fn the_issue_is_the_message_without_its_code() {
    assert_eq!(invalid(7).issue(), "not JSON at byte 7");
}
