//! Answers that are errors, and answers that are none.

use std::time::Duration;

use leasehold_models::{Dialect, ModelError, Retry};

use crate::server::http;
use crate::support::{KEY, exchange, simple};

const DIALECTS: [Dialect; 4] = [
    Dialect::OpenAi,
    Dialect::OpenAiCompatible,
    Dialect::Anthropic,
    Dialect::Gemini,
];

/// Asks in every dialect; exactly one request arrives for each failing call.
async fn check(answer: &[u8], code: &str) -> ModelError {
    let mut last = None;
    for dialect in DIALECTS {
        let (result, seen) = exchange(dialect, &simple(), answer).await;
        let error = result.unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("[{code}] ")),
            "{dialect:?}: {text}"
        );
        assert!(
            !text.contains(KEY) && !format!("{error:?}").contains(KEY),
            "PROVIDER-2"
        );
        assert_eq!(
            seen.rest().await,
            0,
            "nothing more is sent on the connection"
        );
        last = Some(error);
    }
    last.unwrap()
}

fn waits(error: &ModelError) -> Option<Duration> {
    match error.retry() {
        Retry::After(wait) => wait,
        Retry::Never => panic!("{error} may be repeated"),
    }
}

// CASE 103
#[tokio::test]
async fn a_limited_rate_is_told_with_the_wait_the_provider_asks_for_and_not_repeated() {
    let error = check(
        &http(429, &[("retry-after", "7")], "{}"),
        "model.rate-limited",
    )
    .await;
    assert_eq!(waits(&error), Some(Duration::from_secs(7)));
    let date = ("Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT");
    let error = check(&http(429, &[date], "{}"), "model.rate-limited").await;
    assert_eq!(
        waits(&error),
        Some(Duration::from_secs(10)),
        "ten seconds after the clock's now"
    );
    let sent = ("Date", "Sun, 06 Nov 1994 08:49:45 GMT");
    let error = check(&http(429, &[date, sent], "{}"), "model.rate-limited").await;
    assert_eq!(
        waits(&error),
        Some(Duration::from_secs(2)),
        "by the provider's own clock"
    );
    let error = check(&http(429, &[], "slow down"), "model.rate-limited").await;
    assert_eq!((waits(&error), error.may_have_been_billed()), (None, false));
}

// CASE 103
#[tokio::test]
async fn a_failing_provider_is_asked_once() {
    for status in [500, 502, 504] {
        let error = check(&http(status, &[], "oops"), "model.server").await;
        assert_eq!((waits(&error), error.may_have_been_billed()), (None, true));
    }
    check(&http(503, &[], ""), "model.overloaded").await;
    check(
        &http(529, &[], r#"{"error":{"type":"overloaded_error"}}"#),
        "model.overloaded",
    )
    .await;
}

// CASE 103
#[tokio::test]
async fn a_refused_request_is_never_repeated_and_its_reason_is_kept_without_the_key() {
    let body = format!(r#"{{"error":{{"message":"no such field: x, for {KEY}"}}}}"#);
    let error = check(&http(400, &[], &body), "model.bad-request").await;
    assert_eq!(error.retry(), Retry::Never);
    assert!(error.to_string().contains("no such field: x"), "{error}");
    check(&http(401, &[], &body), "model.unauthenticated").await;
    check(
        &http(302, &[("location", "http://127.0.0.1:1/")], ""),
        "model.bad-request",
    )
    .await;
}

#[tokio::test]
async fn a_good_status_over_an_error_body_is_an_error() {
    let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    check(&http(200, &[], overloaded), "model.overloaded").await;
    let limited = r#"{"error":{"code":429,"message":"busy","metadata":{}}}"#;
    check(&http(200, &[], limited), "model.rate-limited").await;
    check(
        &http(200, &[], r#"{"error":"out of memory"}"#),
        "model.server",
    )
    .await;
}

// BAD INPUT 22
#[tokio::test]
async fn what_is_no_answer_is_a_typed_error_that_quotes_nothing() {
    let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
    let bodies = [
        "<html>canary-body</html>",
        "",
        "null",
        "[]",
        "\"canary-body\"",
        "{}",
        r#"{"choices":[]}"#,
        r#"{"content":7,"choices":7,"candidates":7}"#,
        "{\"choices\":[{\"message\":{\"content\":\"canary-body",
        &deep,
    ];
    for body in bodies {
        let error = check(&http(200, &[], body), "model.invalid-answer").await;
        assert!(!error.to_string().contains("canary"), "{error}");
        assert_eq!((waits(&error), error.may_have_been_billed()), (None, true));
    }
}
