//! The facade held against its contract: what assembly refuses, what it hashes, what it says of itself, whom it asks.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "what fails in a test's own helper fails the test, and a test picks the records it looks at"
)]

mod channels;
mod checks;
mod describe;
mod hash;
mod running;
mod support;
mod tool_checks;
