//! Points in time and spans as people and scripts read them. Always UTC: two people compare notes over two time zones.

use std::time::Duration;

use leasehold_types::Timestamp;
use serde::{Deserialize, Serialize};

/// A point in time; as JSON it is RFC 3339 in UTC with microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct When(pub(super) Timestamp);

impl When {
    fn formatted(self, form: &str) -> Option<String> {
        let civil = jiff::Timestamp::from_microsecond(self.0.as_micros()).ok()?;
        jiff::fmt::strtime::format(form, civil).ok()
    }

    /// `2026-12-01T03:21:55.123456Z`; a point outside of the calendar is its number.
    pub(super) fn rfc3339(self) -> String {
        let micros = self.0.as_micros().rem_euclid(1_000_000);
        match self.formatted("%Y-%m-%dT%H:%M:%S") {
            Some(seconds) => format!("{seconds}.{micros:06}Z"),
            None => self.0.as_micros().to_string(),
        }
    }

    /// `2026-12-01`.
    pub(super) fn day(self) -> String {
        self.formatted("%Y-%m-%d").unwrap_or_else(|| "?".to_owned())
    }

    /// `03:21:55.123`.
    pub(super) fn clock(self) -> String {
        let millis = self.0.as_millis().rem_euclid(1_000);
        let seconds = self.formatted("%H:%M:%S");
        seconds.map_or_else(|| "?".to_owned(), |clock| format!("{clock}.{millis:03}"))
    }

    /// `2026-12-01 03:21:55Z`.
    pub(super) fn full(self) -> String {
        let full = self.formatted("%Y-%m-%d %H:%M:%SZ");
        full.unwrap_or_else(|| self.0.as_micros().to_string())
    }

    /// `3 min ago`, `in 2 h`, `now`.
    pub(super) fn relative(self, now: Timestamp) -> String {
        if self.0 > now {
            return format!("in {}", span(self.0.since(now)));
        }
        let passed = now.since(self.0);
        if passed < Duration::from_secs(1) {
            return "now".to_owned();
        }
        format!("{} ago", span(passed))
    }
}

impl From<Timestamp> for When {
    fn from(at: Timestamp) -> Self {
        Self(at)
    }
}

impl Serialize for When {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.rfc3339())
    }
}

impl<'de> Deserialize<'de> for When {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if let Ok(micros) = text.parse::<i64>() {
            return Ok(Self(Timestamp::from_micros(micros)));
        }
        let read: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        Ok(Self(Timestamp::from_micros(read.as_microsecond())))
    }
}

/// A span in its largest unit, rounded down: `45 s`, `3 min`, `2 h`, `9 d`; below a second `250 ms`.
pub(super) fn span(span: Duration) -> String {
    let seconds = span.as_secs();
    match seconds {
        0 => format!("{} ms", span.as_millis()),
        1..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_in_time_reads_back_as_written() {
        let when = When(Timestamp::from_micros(1_796_095_315_123_456));
        assert_eq!(when.rfc3339(), "2026-12-01T03:21:55.123456Z");
        assert_eq!(when.clock(), "03:21:55.123");
        for when in [
            when,
            When(Timestamp::from_micros(-1)),
            When(Timestamp::from_micros(i64::MAX)),
        ] {
            let text = serde_json::to_string(&when).unwrap();
            assert_eq!(serde_json::from_str::<When>(&text).unwrap(), when, "{text}");
        }
    }

    #[test]
    fn spans_are_told_in_their_largest_unit() {
        let spans = [
            (0, "0 ms"),
            (119, "119 s"),
            (120, "2 min"),
            (7_200, "2 h"),
            (172_800, "2 d"),
        ];
        for (seconds, text) in spans {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
        let now = Timestamp::from_millis(1_000_000);
        assert_eq!(When(now).relative(now), "now");
        assert_eq!(
            When(now).relative(now.plus(Duration::from_secs(5))),
            "5 s ago"
        );
        assert_eq!(
            When(now.plus(Duration::from_secs(180))).relative(now),
            "in 3 min"
        );
    }
}
