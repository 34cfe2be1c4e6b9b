//! The lease machine against tables and random histories, and the contract suite against the local store.

#![expect(clippy::unwrap_used, reason = "what tests share fails as a test fails")]

mod clock;
mod local;
mod loss;
mod machine;
mod properties;
