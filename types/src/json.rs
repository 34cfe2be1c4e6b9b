//! The one bounded JSON decoder for text that others wrote: models, channels, callers.
//!
//! It never rounds, guesses, repairs or keeps the last of two equal keys, and stops at the first byte past a limit.
//!
//! - JSON-1: a number is read exactly as an `i64` or `u64`, or as the nearest `f64` of a decimal; what fits neither is refused.
//! - JSON-2: no object has two keys that are equal after NFC.
//! - JSON-3: nesting deeper than the limit is refused before the rest is read.
//!
//! Source: RFC 8259 for the grammar, RFC 7493 (I-JSON) for what is refused beyond it.

use serde_json::{Map, Number, Value};

use keys::{KeyForms, is_unseen};
use number::{decimal, whole};

pub use error::JsonError;

mod error;
mod keys;
mod number;

/// What a text may hold at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonLimits {
    /// Bytes of the whole text.
    pub bytes_max: usize,
    /// Arrays and objects within each other; a scalar has depth 0.
    pub depth_max: usize,
    /// Values in the whole text: scalars, arrays and objects.
    pub nodes_max: usize,
    /// Bytes of one decoded string.
    pub string_bytes_max: usize,
    /// Keys of one object.
    pub keys_max: usize,
    /// Whether a string value may hold U+0000.
    pub nul: NulRule,
}

/// Whether a string value may hold U+0000. A key never may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NulRule {
    /// Refused: most databases and C libraries cut a text there.
    Refuse,
    /// Kept as it is, for free text.
    Allow,
}

impl JsonLimits {
    /// For a tool call's arguments: 1 MiB, 64 levels, 10,000 values, strings of 512 KiB, 1,000 keys an object.
    ///
    /// Each decoded value takes up to 72 bytes, so the number of values bounds memory where the text's length does not.
    pub const ARGUMENTS: Self = Self {
        bytes_max: 1 << 20,
        depth_max: 64,
        nodes_max: 10_000,
        string_bytes_max: 512 << 10,
        keys_max: 1_000,
        nul: NulRule::Refuse,
    };

    /// The same, with U+0000 allowed in string values.
    #[must_use]
    pub const fn with_nul(self) -> Self {
        Self {
            nul: NulRule::Allow,
            ..self
        }
    }
}

/// Reads exactly one JSON value, in time and memory bounded by `limits`.
///
/// Keys keep their order and their form; `-0` stays a negative zero.
///
/// # Errors
/// The text is not one JSON value, passes a limit, repeats a key, or holds what could only be kept by changing it.
pub fn decode(bytes: &[u8], limits: &JsonLimits) -> Result<Value, JsonError> {
    if bytes.len() > limits.bytes_max {
        return Err(JsonError::TooLarge {
            bytes: bytes.len(),
            max: limits.bytes_max,
        });
    }
    let text = std::str::from_utf8(bytes).map_err(|error| JsonError::Invalid {
        at: error.valid_up_to(),
    })?;
    let mut reader = Reader {
        text,
        at: 0,
        nodes: 0,
        limits,
    };
    let value = reader.value(0)?;
    reader.skip_space();
    if reader.at < bytes.len() {
        return reader.invalid();
    }
    Ok(value)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    nodes: usize,
    limits: &'a JsonLimits,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn invalid<T>(&self) -> Result<T, JsonError> {
        Err(JsonError::Invalid { at: self.at })
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn take(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.peek() != Some(byte) {
            return self.invalid();
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.skip_space();
        self.nodes += 1;
        if self.nodes > self.limits.nodes_max {
            let (at, max) = (self.at, self.limits.nodes_max);
            return Err(JsonError::TooManyValues { at, max });
        }
        match self.peek() {
            Some(b'{') => self.object(self.deeper(depth)?),
            Some(b'[') => self.array(self.deeper(depth)?),
            Some(b'"') => self.string_value(),
            Some(b't') => self.word("true", Value::Bool(true)),
            Some(b'f') => self.word("false", Value::Bool(false)),
            Some(b'n') => self.word("null", Value::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.invalid(),
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, JsonError> {
        if depth >= self.limits.depth_max {
            let (at, max) = (self.at, self.limits.depth_max);
            return Err(JsonError::TooDeep { at, max });
        }
        Ok(depth + 1)
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, JsonError> {
        for byte in word.bytes() {
            self.take(byte)?;
        }
        Ok(value)
    }

    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.take(b'[')?;
        let mut items = Vec::new();
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.ends(b']')? {
                return Ok(Value::Array(items));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.take(b'{')?;
        let mut entries = Map::new();
        let mut forms = KeyForms::default();
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Value::Object(entries));
        }
        loop {
            self.skip_space();
            let at = self.at;
            let key = self.key()?;
            if entries.len() >= self.limits.keys_max {
                let max = self.limits.keys_max;
                return Err(JsonError::TooManyKeys { at, max });
            }
            if !forms.is_new(&key, &entries) {
                return Err(JsonError::DuplicateKey { at });
            }
            self.skip_space();
            self.take(b':')?;
            let value = self.value(depth)?;
            entries.insert(key, value);
            if self.ends(b'}')? {
                return Ok(Value::Object(entries));
            }
        }
    }

    /// After an item: whether the collection ends here; a comma must stand here otherwise.
    fn ends(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(false)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(true)
            }
            _ => self.invalid(),
        }
    }

    fn key(&mut self) -> Result<String, JsonError> {
        let at = self.at;
        let key = self.string()?;
        if key.chars().any(is_unseen) {
            return Err(JsonError::KeyInvalid { at });
        }
        Ok(key)
    }

    fn string_value(&mut self) -> Result<Value, JsonError> {
        let at = self.at;
        let text = self.string()?;
        if self.limits.nul == NulRule::Refuse && text.contains('\0') {
            return Err(JsonError::Nul { at });
        }
        Ok(Value::String(text))
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        self.take(b'"')?;
        let mut out = String::new();
        loop {
            out.push_str(self.plain_run());
            if out.len() > self.limits.string_bytes_max {
                let (at, max) = (start, self.limits.string_bytes_max);
                return Err(JsonError::StringTooLong { at, max });
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.escape()?),
                _ => return self.invalid(),
            }
        }
    }

    /// The characters up to the next quote, backslash or control character.
    fn plain_run(&mut self) -> &str {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let stop = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
        self.at += rest.iter().position(stop).unwrap_or(rest.len());
        // All three are ASCII, so the run ends at a character's border.
        &self.text[start..self.at]
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        self.take(b'\\')?;
        let plain = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(start),
            _ => return self.invalid(),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char, JsonError> {
        let lone = JsonError::LoneSurrogate { at: start };
        let first = self.hex4()?;
        if !(0xd800..0xdc00).contains(&first) {
            return char::from_u32(first).ok_or(lone);
        }
        if !self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            return Err(lone);
        }
        self.at += 1;
        let second = self.hex4()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(lone);
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(lone)
    }

    /// `u` and four hexadecimal digits.
    fn hex4(&mut self) -> Result<u32, JsonError> {
        self.take(b'u')?;
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.invalid();
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, JsonError> {
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

#[cfg(test)]
mod tests;
