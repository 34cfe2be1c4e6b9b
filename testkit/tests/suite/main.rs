//! Tests of the testkit by what it promises: each module is about one part of it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tools for tests: what fails in them fails the test, and one is there to panic"
)]

mod tools;
