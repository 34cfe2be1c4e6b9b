//! What can be wrong with a configuration.

use std::fmt;
use std::path::PathBuf;

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file that was named is not there or cannot be read.
    #[error("[config.unreadable] {path:?} cannot be read: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        why: String,
    },
    /// The file is no TOML.
    #[error("[config.not-toml] {path:?} is not TOML: {why}")]
    NotToml {
        /// The file.
        path: PathBuf,
        /// Where, and what is wrong there.
        why: String,
    },
    /// A key that is no setting.
    #[error("[config.unknown-key] {key:?} in {place} is no setting: there are {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it was read.
        place: String,
        /// The settings there are.
        known: String,
    },
    /// A value that a setting cannot have.
    #[error("[config.invalid] {key} = {value:?} in {place}: {why}")]
    Invalid {
        /// The setting.
        key: &'static str,
        /// The value.
        value: String,
        /// Where it was read.
        place: String,
        /// What it may be.
        why: String,
    },
}

/// Everything that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    /// One line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            let joint = if at == 0 { "" } else { "\n" };
            write!(f, "{joint}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}
