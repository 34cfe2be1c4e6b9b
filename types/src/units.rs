//! Units are functions, numbers are not units: `seconds(10)`, `kilobytes(256)`.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// `count` milliseconds.
#[must_use]
pub const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// `count` seconds.
#[must_use]
pub const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// `count` minutes.
#[must_use]
pub const fn minutes(count: u32) -> Duration {
    Duration::from_secs(count as u64 * 60)
}

/// `count` hours.
#[must_use]
pub const fn hours(count: u32) -> Duration {
    Duration::from_secs(count as u64 * 3_600)
}

/// `count` days of 24 hours.
#[must_use]
pub const fn days(count: u32) -> Duration {
    Duration::from_secs(count as u64 * 86_400)
}

/// A size in bytes. 1 KB is 1,024 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Size(u64);

impl Size {
    /// A size of `count` bytes.
    #[must_use]
    pub const fn bytes(count: u64) -> Self {
        Self(count)
    }

    /// The size in bytes.
    #[must_use]
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Size {
    /// Writes `128 KB` for whole kilobytes, else `1,500 bytes`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 && self.0.is_multiple_of(1_024) {
            return f.pad(&format!("{} KB", self.0 / 1_024));
        }
        f.pad(&format!("{} bytes", self.0))
    }
}

/// `count` kilobytes of 1,024 bytes.
#[must_use]
pub const fn kilobytes(count: u32) -> Size {
    Size(count as u64 * 1_024)
}
