//! The bad inputs a model can write as a tool call's arguments, and the text it reads for each.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use leasehold_macros::{dto, tool};
use leasehold_tools::{Dep, Input, PlainText, Services, ToolResult, bind};

use crate::support::text_of;

/// A page to read.
#[dto]
struct Page {
    /// Where it is.
    #[dto(pattern = "^https://")]
    url: String,
    /// How deep to follow links.
    #[dto(range = 0..=3)]
    depth: u8,
}

/// How a job is done.
#[dto]
enum Speed {
    /// Slowly.
    Slow,
    /// Fast.
    Fast,
}

/// Pages to read.
#[dto]
struct Crawl {
    /// The pages.
    #[dto(length = 1..=3)]
    jobs: Vec<Page>,
    /// How many at once.
    #[dto(default = 1)]
    at_once: u32,
    /// How much it may cost.
    limit: Option<f64>,
    /// How it is done.
    speed: Option<Speed>,
    /// A serial number.
    serial: Option<i64>,
}

#[derive(Default)]
struct Calls(AtomicUsize);

/// Reads pages.
#[tool(effect = read)]
async fn read_pages(Input(crawl): Input<Crawl>, calls: Dep<Calls>) -> ToolResult<PlainText> {
    calls.0.fetch_add(1, Ordering::Relaxed);
    Ok(format!("{} {:?} {:?}", crawl.at_once, crawl.limit, crawl.serial).into())
}

/// Calls the tool and compares what the model reads; a refused call never reaches the body.
#[track_caller]
fn check(arguments: &str, right: &str) {
    let calls = Arc::new(Calls::default());
    let tool = bind(
        Arc::new(read_pages),
        &Services::new().provide_shared(calls.clone()),
    )
    .unwrap();
    let text = text_of(&tool, arguments);
    let is_refused = right.starts_with("invalid input: ");
    let right = match is_refused {
        true => format!("Tool error: {right}"),
        false => format!("{{\"text\":\"{right}\"}}"),
    };
    assert_eq!(text, right, "for {arguments:.200}");
    assert_eq!(calls.0.load(Ordering::Relaxed), usize::from(!is_refused));
}

/// Arguments with one good job and what else is given.
fn with(more: &str) -> String {
    format!(r#"{{"jobs":[{{"url":"https://a","depth":1}}]{more}}}"#)
}

#[test]
fn good_arguments_run() {
    check(&with(""), "1 None None");
    check(
        &with(r#","at_once":4,"limit":0.5,"speed":"fast","serial":-3"#),
        "4 Some(0.5) Some(-3)",
    );
    check(&with(r#","limit":null"#), "1 None None");
}

// CONTRACT A7
// BAD INPUT 1
#[test]
fn what_is_not_one_json_value_names_the_byte() {
    check("", "invalid input: not JSON at byte 0");
    check(r#"{"jobs": ["#, "invalid input: not JSON at byte 10");
    check("Here you go: {}", "invalid input: not JSON at byte 0");
    check("{}{}", "invalid input: not JSON at byte 2");
    check("{} ok", "invalid input: not JSON at byte 3");
}

// CONTRACT A7
// BAD INPUT 2
#[test]
fn what_is_no_object_is_refused_at_the_root_and_never_decoded_twice() {
    check("null", "invalid input: $: must be an object, is null");
    check("[]", "invalid input: $: must be an object, is an array");
    check(r#""""#, "invalid input: $: must be an object, is a string");
    check("7", "invalid input: $: must be an object, is a number");
    let doubled = serde_json::to_string(&with("")).unwrap();
    check(&doubled, "invalid input: $: must be an object, is a string");
    check(
        r#"{"jobs":"[]"}"#,
        "invalid input: jobs: must be an array, is a string",
    );
}

// BAD INPUT 3, 10
#[test]
fn equal_keys_are_refused_at_every_level() {
    check(
        r#"{"jobs":[],"jobs":[]}"#,
        "invalid input: the second of two equal keys at byte 11",
    );
    check(
        r#"{"jobs":[{"url":"https://a","url":"https://b","depth":1}]}"#,
        "invalid input: the second of two equal keys at byte 28",
    );
    check(
        "{\"\u{e9}\":1,\"e\u{301}\":1}",
        "invalid input: the second of two equal keys at byte 8",
    );
    check(
        "{\"jobs\u{200b}\":[]}",
        "invalid input: an invisible or control character in the key at byte 1",
    );
}

// CONTRACT T3
// BAD INPUT 4, 11
#[test]
fn an_unknown_field_is_refused_whatever_its_name() {
    check(
        &with(r#","approved":true"#),
        "invalid input: approved: unknown field",
    );
    check(
        &with(r#","__proto__":{}"#),
        "invalid input: __proto__: unknown field",
    );
    check(
        &with(r##","$ref":"#","constructor":1"##),
        "invalid input: [\"$ref\"]: unknown field; constructor: unknown field",
    );
    check(
        r#"{"jobs":[{"url":"https://a","depth":1,"a b":1}]}"#,
        "invalid input: jobs[0][\"a b\"]: unknown field",
    );
}

// CONTRACT T3, T4
// BAD INPUT 5
#[test]
fn nothing_is_coerced_and_every_issue_has_its_path() {
    check("{}", "invalid input: jobs: missing");
    check(
        r#"{"jobs":[]}"#,
        "invalid input: jobs: must have at least 1 items",
    );
    check(
        r#"{"jobs":[{"url":"https://a","depth":1},{"url":"https://a"},{"url":"ftp://b","depth":"5"}],"at_once":"5"}"#,
        "invalid input: at_once: must be an integer, is a string; jobs[1].depth: missing; \
         jobs[2].depth: must be an integer, is a string; jobs[2].url: must match ^https://",
    );
    check(
        &with(r#","speed":"FAST""#),
        "invalid input: speed: must be one of \"slow\", \"fast\"",
    );
    check(
        &with(r#","limit":true"#),
        "invalid input: limit: must be a number or null, is a boolean",
    );
    let fraction = "must be an integer, written without a fraction or exponent";
    check(
        &with(r#","at_once":5.0"#),
        &format!("invalid input: at_once: {fraction}"),
    );
    check(
        &with(r#","at_once":5e0,"serial":1.0"#),
        &format!("invalid input: at_once: {fraction}; serial: {fraction}"),
    );
    check(
        r#"{"jobs":[{"url":"x","depth":1.0}]}"#,
        &format!("invalid input: jobs[0].depth: {fraction}; jobs[0].url: must match ^https://"),
    );
    check(
        &with(r#","at_once":4294967296"#),
        "invalid input: at_once: must be at most 4294967295",
    );
    check(
        &with(r#","at_once":-1"#),
        "invalid input: at_once: must be at least 0",
    );
}

// BAD INPUT 6
#[test]
fn a_number_arrives_exactly_or_not_at_all() {
    check(
        &with(r#","serial":9007199254740993"#),
        "1 None Some(9007199254740993)",
    );
    check(&with(r#","limit":-0"#), "1 Some(-0.0) None");
    let text = with(r#","limit":1e400"#);
    let at = text.find("1e400").unwrap();
    check(
        &text,
        &format!("invalid input: a number too large or too small to be exact at byte {at}"),
    );
    let text = with(r#","serial":123456789012345678901234567890"#);
    let at = text.find("1234").unwrap();
    check(
        &text,
        &format!("invalid input: a number too large or too small to be exact at byte {at}"),
    );
    for word in ["NaN", "Infinity"] {
        let text = with(&format!(",\"limit\":{word}"));
        let at = text.find(word).unwrap();
        check(&text, &format!("invalid input: not JSON at byte {at}"));
    }
    let text = with(r#","serial":9223372036854775808"#);
    let calls = Arc::new(Calls::default());
    let tool = bind(Arc::new(read_pages), &Services::new().provide_shared(calls)).unwrap();
    let told = text_of(&tool, &text);
    assert!(
        told.starts_with("Tool error: invalid input: serial: "),
        "{told}"
    );
}

// BAD INPUT 7, 8
#[test]
fn depth_and_size_are_refused_at_their_bounds() {
    let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
    check(&deep(63), "invalid input: a: unknown field; jobs: missing");
    for levels in [64, 127, 128, 100_000] {
        check(
            &deep(levels),
            "invalid input: nested deeper than 64 levels at byte 68",
        );
    }
    let long = format!("{{\"a\":\"{}\"}}", "x".repeat(10 << 20));
    check(
        &long,
        &format!("invalid input: {} bytes, the limit is 1048576", long.len()),
    );
    let items = format!("{{\"a\":[{}0]}}", "0,".repeat(400_000));
    check(
        &items,
        "invalid input: more than 10000 values at byte 20002",
    );
    let keys: Vec<String> = (0..100_000).map(|key| format!("\"{key}\":0")).collect();
    let keys = format!("{{{}}}", keys.join(","));
    check(
        &keys,
        "invalid input: more than 1000 keys in one object at byte 7891",
    );
}

// BAD INPUT 9
#[test]
fn text_that_is_no_text_is_refused() {
    let lone = with(r#","x":"\ud800""#);
    let at = lone.find('\\').unwrap();
    check(
        &lone,
        &format!("invalid input: half a surrogate pair at byte {at}"),
    );
    let nul = with(r#","x":"\u0000""#);
    let at = nul.find('\\').unwrap() - 1;
    check(
        &nul,
        &format!("invalid input: the character U+0000 in the string at byte {at}"),
    );
    check(
        &format!("\u{feff}{}", with("")),
        "invalid input: not JSON at byte 0",
    );
}
