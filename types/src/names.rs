//! Names people give to workflows, agents and other components.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A component's name: kebab-case, at most 64 bytes, beginning with a letter. Holds no `:`, `/` or `.`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ComponentName(String);

/// Why a component's name was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Longer than [`ComponentName::BYTES_MAX`].
    #[error("[name.too-long] {0:?} has {bytes} bytes, the limit is {max}", bytes = .0.len(), max = ComponentName::BYTES_MAX)]
    TooLong(String),
    /// Not kebab-case.
    #[error(
        "[name.invalid] {0:?} is not kebab-case: a lower-case letter, then lower-case letters and digits, in words joined by single hyphens"
    )]
    Invalid(String),
}

impl ComponentName {
    /// The longest name, in bytes: what every provider takes for a tool's name.
    pub const BYTES_MAX: usize = 64;

    /// Checks a name.
    ///
    /// # Errors
    /// Longer than [`Self::BYTES_MAX`] or not kebab-case.
    pub fn new(text: impl Into<String>) -> Result<Self, NameError> {
        let text = text.into();
        if text.len() > Self::BYTES_MAX {
            return Err(NameError::TooLong(text));
        }
        if !is_kebab_case(&text) {
            return Err(NameError::Invalid(text));
        }
        Ok(Self(text))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_kebab_case(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.split('-').all(|word| {
            !word.is_empty()
                && word
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        })
}

impl fmt::Display for ComponentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for ComponentName {
    type Error = NameError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<ComponentName> for String {
    fn from(name: ComponentName) -> Self {
        name.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_kebab_case() {
        for good in ["a", "support", "refund-card-2", &"a".repeat(64)] {
            assert!(ComponentName::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "-a",
            "a-",
            "a--b",
            "A",
            "a_b",
            "1a",
            "a b",
            "é",
            &"a".repeat(65),
        ] {
            assert!(ComponentName::new(bad).is_err(), "{bad}");
        }
    }
}
