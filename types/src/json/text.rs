//! Strings and their escapes.

use super::JsonError;
use super::reader::Reader;

impl Reader<'_> {
    pub(super) fn string(&mut self) -> Result<String, JsonError> {
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
}
