//! Subjects and filters under any text, and the contract suite against the local bus, bare and with faults.

#![expect(clippy::unwrap_used, reason = "what tests share fails as a test fails")]

mod clock;
mod local;
mod subjects;
