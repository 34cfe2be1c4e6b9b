//! Time: points on the wall clock, and the seam to the clock itself.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A boxed future that can move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A point in time: microseconds since 1970-01-01T00:00:00Z, before it negative.
///
/// For people and for durable timers. Leases never use it: they count [`Uptime`].
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The point `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// The point `millis` milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis.saturating_mul(1_000))
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Whole milliseconds since the epoch.
    #[must_use]
    pub const fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }

    /// The point `after` later, or the last point there is.
    #[must_use]
    pub fn plus(self, after: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(after.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    /// The time from `earlier` to here; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Time since the machine started, suspended time included (`CLOCK_BOOTTIME`). For leases and deadlines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uptime(u64);

impl Uptime {
    /// The point `micros` microseconds after the machine started.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// Microseconds since the machine started.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// The point `after` later, or the last point there is.
    #[must_use]
    pub fn plus(self, after: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(after.as_micros()).unwrap_or(u64::MAX)),
        )
    }

    /// The time from `earlier` to here; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

/// Where time comes from: the system's clocks in production, a clock that a test moves elsewhere.
pub trait Clock: Send + Sync + fmt::Debug {
    /// The wall clock. May jump in either direction.
    fn now(&self) -> Timestamp;
    /// Time since the machine started, suspended time included. Never goes back.
    fn uptime(&self) -> Uptime;
    /// Ends once `after` has passed on [`Clock::uptime`]; at once for zero. Dropping it cancels it.
    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()>;
}
