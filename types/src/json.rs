//! The one bounded JSON decoder for text that others wrote: models, channels, callers.
//!
//! It never rounds, guesses, repairs or keeps the last of two equal keys, and stops at the first byte past a limit.
//!
//! - JSON-1: a number is read exactly as an `i64` or `u64`, or as the nearest `f64` of a decimal; what fits neither is refused.
//! - JSON-2: no object has two keys that are equal after NFC.
//! - JSON-3: nesting deeper than the limit is refused before the rest is read.
//!
//! Source: RFC 8259 for the grammar, RFC 7493 (I-JSON) for what is refused beyond it.

use serde_json::Value;

use reader::Reader;

pub use error::JsonError;

mod error;
mod keys;
mod number;
mod reader;
mod text;

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

#[cfg(test)]
mod tests;
