//! The machine, fed with events and held against the records and steps it makes. No runtime, no clock, no network.
//!
//! A test is a script (`script.rs` has its words) and what its last command leads to. After every command the bench checks what
//! always holds: replaying the journal gives the same checkpoint, and each model request has one result for each call.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "the whole binary is a test: what cannot be is its failure, and a search for one record passes over all others"
)]

mod approvals;
mod bench;
mod bounds;
mod calls;
mod catalogue;
mod decisions;
mod desk;
mod limits;
mod messages;
mod reading;
mod recovery;
mod replay;
mod script;
mod spend;
mod stops;
mod words;
