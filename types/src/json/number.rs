//! Which numbers are exact.

use serde_json::Number;

/// The integer, where an `i64` or `u64` holds it.
pub(super) fn whole(text: &str) -> Option<Number> {
    let unsigned = text.parse::<u64>().map(Number::from);
    unsigned
        .or_else(|_| text.parse::<i64>().map(Number::from))
        .ok()
}

/// The nearest `f64`; none where it is infinite, or zero although a digit is not.
pub(super) fn decimal(text: &str, mantissa: &str) -> Option<Number> {
    let value = text.parse::<f64>().ok()?;
    let is_nonzero = mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if value == 0.0 && is_nonzero {
        return None;
    }
    Number::from_f64(value)
}
