//! Texts that the compiler can build, so that a refusal in a `const` reads like one at assembly.
//!
//! `format!` does not run in a `const`; a text past the capacity is cut.

use std::fmt;

/// The most of a refused text that is repeated in a message, in bytes.
const SHOWN_MAX: usize = 96;

/// A short text that the compiler can build.
#[derive(Clone, Copy)]
pub struct ConstText {
    bytes: [u8; Self::CAPACITY],
    len: usize,
}

impl ConstText {
    const CAPACITY: usize = 512;
    pub(crate) const EMPTY: Self = Self {
        bytes: [0; Self::CAPACITY],
        len: 0,
    };

    /// The text.
    #[must_use]
    pub const fn as_str(&self) -> &str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }

    pub(crate) const fn push_byte(mut self, byte: u8) -> Self {
        if self.len < Self::CAPACITY {
            let at = self.len;
            self.bytes[at] = byte;
            self.len = at + 1;
        }
        self
    }

    pub(crate) const fn push(mut self, text: &str) -> Self {
        let mut at = 0;
        while at < text.len() {
            self = self.push_byte(text.as_bytes()[at]);
            at += 1;
        }
        self
    }

    /// The text in quotes, control characters as `?`, cut after [`SHOWN_MAX`] bytes.
    pub(crate) const fn push_quoted(mut self, text: &str) -> Self {
        self = self.push_byte(b'"');
        let mut at = 0;
        while at < text.len() {
            if at >= SHOWN_MAX && text.is_char_boundary(at) {
                return self.push("…\"");
            }
            let byte = text.as_bytes()[at];
            self = self.push_byte(if byte.is_ascii_control() { b'?' } else { byte });
            at += 1;
        }
        self.push_byte(b'"')
    }

    #[expect(clippy::cast_possible_truncation, reason = "one decimal digit")]
    pub(crate) const fn push_number(self, number: usize) -> Self {
        let head = if number >= 10 {
            self.push_number(number / 10)
        } else {
            self
        };
        head.push_byte(b'0' + (number % 10) as u8)
    }

    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    pub(crate) const fn last(&self) -> u8 {
        self.bytes[self.len - 1]
    }

    pub(crate) const fn without_last(mut self) -> Self {
        self.len -= 1;
        self
    }
}

impl fmt::Debug for ConstText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
