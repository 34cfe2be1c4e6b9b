//! The provider clients against servers on this machine that speak each provider's protocol.
//!
//! No name is looked up, no port is fixed, and no time is waited for: the clock's waits end at once where a test says so, and never otherwise.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests fail the test they serve"
)]

mod anthropic;
mod failures;
mod gemini;
mod openai;
mod server;
mod support;
mod transport;
mod usage;
