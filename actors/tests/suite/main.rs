//! The actors as a whole: an instance over a store in memory, on a clock that only a test moves.

mod appends;
mod approvals;
mod cancels;
mod channels;
mod drains;
mod letters;
mod losing;
mod starts;
mod supervision;
mod support;
