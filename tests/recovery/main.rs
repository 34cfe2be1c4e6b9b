//! The whole stack over the embedded store, in processes that are killed: what was acked is there, no effect is made twice,
//! and the end is that of a run without a crash.
//!
//! Each test starts this program again as a child with a job (`worker`), lets the child die at a planned point, starts the
//! next one, and then holds store and outside world against each other (`check`).

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "support of tests: what fails here fails the test"
)]
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "an oracle looks at the records it is about"
)]

mod agent;
mod blocking;
mod check;
mod clock;
mod job;
mod local;
mod model;
mod money;
mod outside;
mod person;
mod points;
mod poison;
mod processes;
mod random;
mod site;
mod states;
mod store;
mod story;
mod tools;
mod worker;
