//! What the tool contract promises, through its public API alone.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests stand outside their functions"
)]

// The attributes' output names the facade.
extern crate leasehold_tools as leasehold;

mod approvals;
mod bad_input;
mod binding;
mod blocking;
mod invoking;
mod reading;
mod schemas;
mod support;
mod toolboxes;
