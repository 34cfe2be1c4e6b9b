//! The actors as a whole: an instance over a store in memory, on a clock that only a test moves.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what fails in a helper of a test fails the test"
)]

mod appends;
mod approvals;
mod cancels;
mod channels;
mod drains;
mod letters;
mod losing;
mod nodes;
mod sizes;
mod starts;
mod supervision;
mod support;
