//! What an execution is: the records of its journal, and the pure machine that folds them and says what comes next.
//!
//! No IO, no clock, no chance, no async: all of it is an argument.

pub mod call_id;
pub mod history;
pub mod ledger;
pub mod letter;
pub mod machine;
pub mod plan;
pub mod record;
pub mod spill;
pub mod texts;
mod wire;

pub use machine::{Context, Event, Machine, Output, Standing, Step};
pub use plan::{AfterAnswer, Limits, Plan, PlannedApproval, PlannedTool, Review, Reviewed};
pub use record::{Entry, Record};
pub use wire::{
    READER_VERSION, RECORD_BYTES_MAX, RECORD_KINDS, RecordError, read_entries, write_entries,
};
