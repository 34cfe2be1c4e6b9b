//! Why a JSON text was refused, and at which byte.

/// Why a text was refused, and at which byte.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonError {
    /// Not JSON, not UTF-8, or more than one value.
    #[error("[json.invalid] not JSON at byte {at}")]
    Invalid {
        /// The first byte that is wrong, or the text's length where it ends too early.
        at: usize,
    },
    /// A `\u` escape names half a surrogate pair.
    #[error("[json.lone-surrogate] half a surrogate pair at byte {at}")]
    LoneSurrogate {
        /// Where the escape begins.
        at: usize,
    },
    /// Longer than the limit; nothing was read.
    #[error("[json.too-large] {bytes} bytes, the limit is {max}")]
    TooLarge {
        /// The text's length.
        bytes: usize,
        /// The most.
        max: usize,
    },
    /// Nested deeper than the limit.
    #[error("[json.too-deep] nested deeper than {max} levels at byte {at}")]
    TooDeep {
        /// Where the first level too many opens.
        at: usize,
        /// The most.
        max: usize,
    },
    /// More values than the limit.
    #[error("[json.too-many-values] more than {max} values at byte {at}")]
    TooManyValues {
        /// Where the first value too many begins.
        at: usize,
        /// The most.
        max: usize,
    },
    /// A string longer than the limit.
    #[error("[json.string-too-long] a string of more than {max} bytes at byte {at}")]
    StringTooLong {
        /// Where the string begins.
        at: usize,
        /// The most.
        max: usize,
    },
    /// An object with more keys than the limit.
    #[error("[json.too-many-keys] more than {max} keys in one object at byte {at}")]
    TooManyKeys {
        /// Where the first key too many begins.
        at: usize,
        /// The most.
        max: usize,
    },
    /// A key that the object has already, perhaps in another Unicode form.
    #[error("[json.duplicate-key] the second of two equal keys at byte {at}")]
    DuplicateKey {
        /// Where the second one begins.
        at: usize,
    },
    /// A key with a character that no reader would see.
    #[error("[json.key-invalid] an invisible or control character in the key at byte {at}")]
    KeyInvalid {
        /// Where the key begins.
        at: usize,
    },
    /// A number that could only be kept by rounding it.
    #[error("[json.number-inexact] a number too large or too small to be exact at byte {at}")]
    NumberInexact {
        /// Where the number begins.
        at: usize,
    },
    /// U+0000 in a string value.
    #[error("[json.nul] the character U+0000 in the string at byte {at}")]
    Nul {
        /// Where the string begins.
        at: usize,
    },
}

impl JsonError {
    /// The message without its code, as a model reads it: `not JSON at byte 12`.
    #[must_use]
    pub fn issue(&self) -> String {
        let text = self.to_string();
        match text.split_once("] ") {
            Some((_code, issue)) => issue.to_owned(),
            None => text,
        }
    }
}
