//! Where in the program something was declared, so that a mistake is found again.

use std::fmt;
use std::panic::Location;

/// A line of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(&'static Location<'static>);

impl Place {
    /// The line that called.
    #[track_caller]
    pub(crate) const fn here() -> Self {
        Self(Location::caller())
    }
}

impl fmt::Display for Place {
    /// Writes `src/main.rs:40:10`, as the compiler does.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
