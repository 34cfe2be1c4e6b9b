//! Ready channels: a terminal, and rules that answer without a person.

mod rules;
mod terminal;

pub use rules::{AutoApprove, AutoReject};
pub use terminal::Terminal;

pub(crate) use rules::Owner;
pub(crate) use terminal::questions_are_shown_elsewhere;
