//! Headers: few, short and printable, so that none can forge another.
//!
//! - HEADER-1: no name or value holds a line break or a control character.

use std::collections::BTreeMap;

/// Names and values that travel beside a payload. Names are told apart by case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers(BTreeMap<String, String>);

/// Why a header was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The name is not a short word.
    #[error("[bus.header-name-invalid] a header's name of {bytes} bytes: it is 1 to {max} of A-Z, a-z, 0-9 and -", max = Headers::NAME_BYTES_MAX)]
    Name {
        /// Its length; the text itself may be hostile.
        bytes: usize,
    },
    /// The value is too long or not printable ASCII.
    #[error("[bus.header-value-invalid] header {name} has a value of {bytes} bytes: it is printable ASCII, at most {max} bytes", max = Headers::VALUE_BYTES_MAX)]
    Value {
        /// The header.
        name: String,
        /// The value's length.
        bytes: usize,
    },
    /// There are too many.
    #[error("[bus.too-many-headers] a message has more than {max} headers", max = Headers::COUNT_MAX)]
    TooMany,
}

impl Headers {
    /// The longest name, in bytes.
    pub const NAME_BYTES_MAX: usize = 64;
    /// The longest value, in bytes: a trace context and a schema name are shorter.
    pub const VALUE_BYTES_MAX: usize = 1_024;
    /// The most headers of one message.
    pub const COUNT_MAX: usize = 32;

    /// Sets a header; one of the same name is replaced.
    ///
    /// # Errors
    /// The name or value is not as it must be, or there are [`Self::COUNT_MAX`] others.
    pub fn with(mut self, name: &str, value: &str) -> Result<Self, HeaderError> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let names = 1..=Self::NAME_BYTES_MAX;
        if !names.contains(&name.len()) || !name.bytes().all(is_word) {
            return Err(HeaderError::Name { bytes: name.len() });
        }
        let is_printable = |byte: u8| (b' '..=b'~').contains(&byte);
        if value.len() > Self::VALUE_BYTES_MAX || !value.bytes().all(is_printable) {
            let (name, bytes) = (name.to_owned(), value.len());
            return Err(HeaderError::Value { name, bytes });
        }
        self.0.insert(name.to_owned(), value.to_owned());
        if self.0.len() > Self::COUNT_MAX {
            return Err(HeaderError::TooMany);
        }
        Ok(self)
    }

    /// The value of a header.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// All headers, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many bytes they take on the wire, with the separators of a text protocol.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let line = |(name, value): (&String, &String)| name.len() + value.len() + 4;
        self.0.iter().map(line).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // BAD INPUT 56
    #[test]
    fn a_header_that_could_forge_another_is_refused() {
        let with = |name: &str, value: &str| Headers::default().with(name, value);
        assert!(with("trace-Parent", "00-ab~ cd").is_ok());
        let long = "n".repeat(65);
        for name in ["", "a b", "a:b", "a\r\n", "é", &long] {
            assert_eq!(
                with(name, "v"),
                Err(HeaderError::Name { bytes: name.len() }),
                "{name:?}"
            );
        }
        let big = "v".repeat(64 * 1_024);
        for value in ["a\r\nb: c", "a\0", "\u{7f}", "é", &big] {
            assert!(
                matches!(with("a", value), Err(HeaderError::Value { .. })),
                "{value:.9?}"
            );
        }
    }

    #[test]
    fn one_header_past_the_limit_is_refused_and_a_replaced_one_does_not_count() {
        let numbered = |number: usize| format!("h{number}");
        let full = (0..Headers::COUNT_MAX).try_fold(Headers::default(), |headers, number| {
            headers.with(&numbered(number), "v")
        });
        let full = full.unwrap().with("h0", "w").unwrap();
        assert_eq!(full.value("h0"), Some("w"));
        assert_eq!(full.with("one-more", "v"), Err(HeaderError::TooMany));
    }
}
