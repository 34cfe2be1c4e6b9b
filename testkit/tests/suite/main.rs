//! Tests of the testkit by what it promises, and of the runtime through it: each module is about one part.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tools for tests: what fails in them fails the test, and one is there to panic"
)]

mod approvals;
mod bank;
mod cancels;
mod crashes;
mod kit;
mod time;
mod tools;
