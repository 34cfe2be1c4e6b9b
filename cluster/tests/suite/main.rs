//! A running instance, over the store in memory and over the embedded one: the same tests, the same outcome.

#![expect(
    clippy::unwrap_used,
    reason = "what fails in a test's own helper fails the test"
)]

mod approvals;
mod poisoned;
mod restarts;
mod runs;
mod starts;
mod support;
mod timers;
mod world;
