//! What went wrong, from a status and an error body. The one place where providers' codes become [`ModelError`]s.

use std::time::Duration;

use serde_json::Value;

use super::retry_after;
use crate::ModelError;

/// Words for an account without credit, which waiting does not help.
const QUOTA: [&str; 3] = [
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_error",
];

/// What the error body says.
#[derive(Debug, Default)]
struct Told {
    message: String,
    words: Vec<String>,
    number: Option<u16>,
    delay: Option<Duration>,
}

/// The error of an answer with `status`, or of a body that reports one under a good status.
///
/// `key` is taken out of the provider's message, should it quote it.
pub(crate) fn of(
    status: u16,
    body: &[u8],
    retry_after: Option<Duration>,
    key_env: Option<&str>,
    key: Option<&str>,
) -> ModelError {
    let told = Told::read(body);
    let retry_after = retry_after.or(told.delay);
    let status = told.status(status);
    match status {
        429 if !told.says(&QUOTA) => ModelError::RateLimited { retry_after },
        402 | 429 => ModelError::QuotaExhausted { status },
        401 => ModelError::Unauthenticated {
            status,
            key_env: key_env.unwrap_or("no key").to_owned(),
        },
        503 | 529 => ModelError::Overloaded {
            status,
            retry_after,
        },
        200..=299 | 408 | 409 | 500..=599 => ModelError::Server { status },
        _ => ModelError::BadRequest {
            status,
            message: told.message_without(key),
        },
    }
}

/// Whether a body reads as an error report: an object with an `error` that is not null.
pub(crate) fn is_error_body(body: &[u8]) -> bool {
    matches!(serde_json::from_slice::<Value>(body), Ok(Value::Object(fields)) if fields.get("error").is_some_and(|error| !error.is_null()))
}

impl Told {
    fn read(body: &[u8]) -> Self {
        let Ok(body) = serde_json::from_slice::<Value>(body) else {
            return Self::default();
        };
        let Some(error) = body.get("error") else {
            return Self::default();
        };
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let message = error.as_str().or_else(|| text("message"));
        let number = error.get("code").and_then(Value::as_u64);
        Self {
            message: message.unwrap_or_default().to_owned(),
            words: ["type", "code", "status"]
                .into_iter()
                .filter_map(text)
                .map(str::to_owned)
                .collect(),
            number: number.and_then(|number| u16::try_from(number).ok()),
            delay: retry_delay(error),
        }
    }

    fn says(&self, words: &[&str]) -> bool {
        self.words.iter().any(|word| words.contains(&word.as_str()))
    }

    /// The status itself, or the one that an error under a good status means.
    fn status(&self, status: u16) -> u16 {
        if status >= 300 {
            return status;
        }
        match self.number {
            Some(number @ 400..=599) => number,
            _ if self.says(&["overloaded_error"]) => 529,
            _ if self.says(&["rate_limit_error", "rate_limit_exceeded"]) => 429,
            _ if self.says(&QUOTA) => 402,
            _ if self.says(&["authentication_error"]) => 401,
            _ if self.says(&["invalid_request_error", "not_found_error"]) => 400,
            _ => status,
        }
    }

    fn message_without(&self, key: Option<&str>) -> String {
        let plain: String = self
            .message
            .chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .collect();
        let shown = match key.filter(|key| !key.is_empty()) {
            Some(key) => plain.replace(key, "…"),
            None => plain,
        };
        if shown.trim().is_empty() {
            return "it gave no reason".to_owned();
        }
        shown.chars().take(ModelError::MESSAGE_CHARS_MAX).collect()
    }
}

fn retry_delay(error: &Value) -> Option<Duration> {
    let details = error.get("details")?.as_array()?;
    let delay = |detail: &Value| retry_after::from_delay(detail.get("retryDelay")?.as_str()?);
    details.iter().find_map(delay)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(status: u16, body: &str, expected: &str) {
        let error = of(
            status,
            body.as_bytes(),
            None,
            Some("A_KEY"),
            Some("sk-canary"),
        );
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("[model.{expected}]")),
            "{status} {body}: {text}"
        );
        assert!(!text.contains("sk-canary"), "PROVIDER-2: {text}");
        let chars = text.chars().count();
        assert!(chars <= ModelError::MESSAGE_CHARS_MAX + 80, "{chars}");
    }

    #[test]
    fn a_status_becomes_the_error_a_caller_can_act_on() {
        check(
            400,
            r#"{"error":{"message":"no \u001b[31mfield sk-canary"}}"#,
            "bad-request",
        );
        check(
            401,
            r#"{"error":{"message":"wrong key sk-canary"}}"#,
            "unauthenticated",
        );
        check(402, "", "quota-exhausted");
        check(403, "<html>", "bad-request");
        check(404, "[]", "bad-request");
        check(307, "", "bad-request");
        check(408, "", "server");
        check(
            429,
            r#"{"error":{"code":"rate_limit_exceeded"}}"#,
            "rate-limited",
        );
        check(
            429,
            r#"{"error":{"code":"insufficient_quota"}}"#,
            "quota-exhausted",
        );
        check(500, "null", "server");
        check(502, "<html>sk-canary</html>", "server");
        check(503, "", "overloaded");
        check(
            529,
            r#"{"error":{"type":"overloaded_error"}}"#,
            "overloaded",
        );
        check(
            400,
            &format!(r#"{{"error":"{}"}}"#, "é".repeat(9_000)),
            "bad-request",
        );
    }

    #[test]
    fn an_error_under_a_good_status_is_the_error_it_names() {
        check(
            200,
            r#"{"error":{"code":429,"message":"slow"}}"#,
            "rate-limited",
        );
        check(200, r#"{"error":{"code":502}}"#, "server");
        check(
            200,
            r#"{"error":{"type":"overloaded_error"}}"#,
            "overloaded",
        );
        check(
            200,
            r#"{"error":{"type":"invalid_request_error"}}"#,
            "bad-request",
        );
        check(200, r#"{"error":"out of memory"}"#, "server");
        check(200, r#"{"error":{"code":70000}}"#, "server");
    }

    #[test]
    fn geminis_delay_is_a_wait() {
        let body = br#"{"error":{"code":429,"details":[{"reason":"x"},{"retryDelay":"34s"}]}}"#;
        let error = of(429, body, None, None, None);
        let retry_after = Some(Duration::from_secs(34));
        assert_eq!(error, ModelError::RateLimited { retry_after });
    }
}
