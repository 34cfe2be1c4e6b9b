//! How the kit fails a test: one place that panics, and a place in the test for each failure.

use std::fmt;
use std::panic::Location;

/// Where in a test something was asked for: a future fails later, and elsewhere.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked(&'static Location<'static>);

impl Asked {
    /// The line that called.
    #[track_caller]
    pub(crate) const fn here() -> Self {
        Self(Location::caller())
    }

    /// Fails the test, naming the line.
    pub(crate) fn fail(self, why: impl fmt::Display) -> ! {
        fail(format_args!("{why}\nasked for at {}", self.0))
    }
}

/// Fails the test.
#[track_caller]
#[expect(
    clippy::panic,
    reason = "a test fails by a panic; it is the kit's whole purpose"
)]
pub(crate) fn fail(why: impl fmt::Display) -> ! {
    panic!("{why}")
}
