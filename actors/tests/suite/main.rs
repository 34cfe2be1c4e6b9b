//! The actors as a whole: an instance over a store in memory, on a clock that only a test moves.

mod appends;
mod channels;
mod letters;
mod losing;
mod supervision;
mod support;
