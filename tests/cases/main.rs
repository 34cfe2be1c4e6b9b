//! Cases over a whole application: texts that pretend, decisions that come too late, configurations that are gone.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where its premise does not hold"
)]

mod configuration;
mod note;
mod pretence;
mod time;
