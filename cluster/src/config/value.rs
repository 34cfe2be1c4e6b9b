//! Values as people write them in a configuration: numbers, and durations with their unit.

use std::ops::RangeInclusive;
use std::time::Duration;

const UNITS: [(&str, u64); 6] = [
    ("ms", 1),
    ("s", 1_000),
    ("min", 60_000),
    ("h", 3_600_000),
    ("day", 86_400_000),
    ("days", 86_400_000),
];

/// Reads a whole number within a range.
pub(super) fn parse_count(text: &str, range: RangeInclusive<usize>) -> Result<usize, String> {
    let (min, max) = (range.start(), range.end());
    let expected = || format!("a whole number from {min} to {max} is expected");
    let number = digits(text).ok_or_else(expected)?;
    let number = usize::try_from(number).map_err(|_| expected())?;
    if range.contains(&number) {
        return Ok(number);
    }
    Err(expected())
}

/// Reads `250 ms`, `10 s`, `5 min`, `2 h`, `7 days`: a whole number, one space, a unit.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = || {
        "a whole number with its unit is expected: ms, s, min, h or days, like \"30 s\"".to_owned()
    };
    let (number, unit) = text.split_once(' ').ok_or_else(expected)?;
    let number = digits(number).ok_or_else(expected)?;
    let (_, millis) = UNITS
        .into_iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(expected)?;
    number
        .checked_mul(millis)
        .map(Duration::from_millis)
        .ok_or_else(|| "it is longer than can be counted".to_owned())
}

/// A number without sign, point or exponent.
fn digits(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}
