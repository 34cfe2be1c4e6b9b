//! Numbers: which of them are exact.

use serde_json::{Number, Value};

use super::JsonError;
use super::reader::Reader;

impl Reader<'_> {
    pub(super) fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.digits()?,
            _ => return self.invalid(),
        }
        let is_whole = !matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        let mantissa_end = self.at;
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        let number = match &self.text[start..self.at] {
            "-0" => Number::from_f64(-0.0),
            text if is_whole => whole(text),
            text => decimal(text, &self.text[start..mantissa_end]),
        };
        let refused = JsonError::NumberInexact { at: start };
        number.map(Value::Number).ok_or(refused)
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start {
            return self.invalid();
        }
        Ok(())
    }
}

/// The integer, where an `i64` or `u64` holds it.
fn whole(text: &str) -> Option<Number> {
    let unsigned = text.parse::<u64>().map(Number::from);
    unsigned
        .or_else(|_| text.parse::<i64>().map(Number::from))
        .ok()
}

/// The nearest `f64`; none where it is infinite, or zero although a digit is not.
fn decimal(text: &str, mantissa: &str) -> Option<Number> {
    let value = text.parse::<f64>().ok()?;
    let is_nonzero = mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'));
    if value == 0.0 && is_nonzero {
        return None;
    }
    Number::from_f64(value)
}
