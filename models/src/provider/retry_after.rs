//! How long a provider asks to wait: `retry-after-ms`, `Retry-After` in seconds or as a date, or Gemini's `retryDelay`.
//!
//! Source: RFC 9110, section 10.2.3.

use std::time::Duration;

use leasehold_types::Timestamp;
use reqwest::header::{DATE, HeaderMap, HeaderName, RETRY_AFTER};

/// The longest wait that is passed on: a day. More is a mistake, or no wait any caller would make.
const WAIT_MAX: Duration = Duration::from_secs(86_400);

/// The wait the headers ask for. A date is compared with the answer's own `Date`, else with `now`, so a skewed clock does not matter.
pub(crate) fn from_headers(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok();
    let millis = text(HeaderName::from_static("retry-after-ms"))
        .and_then(|text| text.trim().parse().ok())
        .map(Duration::from_millis);
    let wait = millis.or_else(|| {
        let asked = text(RETRY_AFTER)?;
        seconds(asked).or_else(|| {
            let now = text(DATE).and_then(http_date).unwrap_or(now);
            http_date(asked).map(|until| until.since(now))
        })
    });
    wait.map(|wait| wait.min(WAIT_MAX))
}

/// The wait in `34s` or `1.5s`.
pub(crate) fn from_delay(text: &str) -> Option<Duration> {
    seconds(text.strip_suffix('s')?).map(|wait| wait.min(WAIT_MAX))
}

fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

fn http_date(text: &str) -> Option<Timestamp> {
    let date = jiff::fmt::rfc2822::parse(text.trim()).ok()?;
    Some(Timestamp::from_micros(date.timestamp().as_microsecond()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    const NOW: Timestamp = Timestamp::from_millis(784_111_777_000);

    #[track_caller]
    fn check(headers: &[(&'static str, &'static str)], expected: Option<u64>) {
        let map = headers
            .iter()
            .map(|(name, value)| {
                (
                    HeaderName::from_static(name),
                    HeaderValue::from_static(value),
                )
            })
            .collect();
        let wait = from_headers(&map, NOW).map(|wait| wait.as_millis());
        assert_eq!(wait, expected.map(u128::from), "{headers:?}");
    }

    #[test]
    fn a_wait_is_read_from_seconds_milliseconds_or_a_date() {
        check(&[("retry-after", "7")], Some(7_000));
        check(&[("retry-after", "0.5")], Some(500));
        check(
            &[("retry-after-ms", "250"), ("retry-after", "7")],
            Some(250),
        );
        let date = "Sun, 06 Nov 1994 08:49:47 GMT";
        check(&[("retry-after", date)], Some(10_000));
        check(
            &[
                ("retry-after", date),
                ("date", "Sun, 06 Nov 1994 08:49:44 GMT"),
            ],
            Some(3_000),
        );
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
        check(&[("retry-after", "99999999999")], Some(86_400_000));
    }

    #[test]
    fn a_wait_that_cannot_be_read_is_none() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e400", "32 Nov"] {
            check(&[("retry-after", text)], None);
        }
        check(&[], None);
        assert_eq!(from_delay("34s"), Some(Duration::from_secs(34)));
        assert_eq!(from_delay("34"), None);
    }
}
