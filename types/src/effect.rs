//! Effect classes: what a second run of a tool would do.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a second run of a tool would do. Decides what recovery may do with a call that was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Computes; touches nothing. Runs again.
    Pure,
    /// Reads the outside world, changes nothing. Runs again.
    Read,
    /// Changes the outside world once per idempotency key, for as long as the key is retained.
    Idempotent {
        /// How long the other side remembers the key, in seconds.
        retention_s: u64,
    },
    /// Changes the outside world each time it runs. After a crash its outcome is uncertain.
    Write,
}

impl Effect {
    /// The class of a tool whose other side remembers a key for `retention`.
    #[must_use]
    pub const fn idempotent(retention: Duration) -> Self {
        Self::Idempotent {
            retention_s: retention.as_secs(),
        }
    }

    /// The class's one word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pure => "pure",
            Self::Read => "read",
            Self::Idempotent { .. } => "idempotent",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
