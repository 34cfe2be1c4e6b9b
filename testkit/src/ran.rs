//! What came of a tool that was run by itself.

use std::fmt;

use leasehold_tools::{CallEnd, Dto};
use leasehold_types::{AbortReason, Money, SpendEntry};
use serde_json::Value;

use crate::fail::fail;

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// The whole output.
    pub output: Value,
    /// What the tool recorded.
    pub spend: Vec<SpendEntry>,
}

impl Ran {
    /// The output as the tool's own type.
    ///
    /// # Panics
    /// It is another type's.
    #[must_use]
    #[track_caller]
    pub fn read<T: Dto>(&self) -> T {
        match T::deserialize(&self.output) {
            Ok(output) => output,
            Err(error) => fail(format_args!("the output is none of the type's: {error}")),
        }
    }

    /// The sum of what it recorded.
    #[must_use]
    pub fn spent(&self) -> Money {
        sum(&self.spend)
    }
}

fn sum(spend: &[SpendEntry]) -> Money {
    let amounts = spend.iter().map(|entry| entry.money);
    amounts.fold(Money::ZERO, Money::saturating_add)
}

/// Why a call gave nothing. Its `Display` is the message that the model reads behind `Tool error: `.
#[derive(Debug)]
pub struct Failed {
    /// How it ended.
    pub end: CallEnd,
    /// What the tool recorded until then.
    pub spend: Vec<SpendEntry>,
}

impl Failed {
    /// The error that the tool's own was made from, if that is an `E`.
    #[must_use]
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        match &self.end {
            CallEnd::Failed(error) => error.downcast_ref(),
            CallEnd::Done(_)
            | CallEnd::InvalidInput(_)
            | CallEnd::NotStarted(_)
            | CallEnd::Aborted(_)
            | CallEnd::TimedOut(_)
            | CallEnd::Panicked(_)
            | CallEnd::InvalidOutput(_) => None,
        }
    }

    /// Why its signal was aborted, if that ended it.
    #[must_use]
    pub const fn aborted(&self) -> Option<&AbortReason> {
        match &self.end {
            CallEnd::NotStarted(reason) | CallEnd::Aborted(reason) => Some(reason),
            CallEnd::Done(_)
            | CallEnd::InvalidInput(_)
            | CallEnd::TimedOut(_)
            | CallEnd::Failed(_)
            | CallEnd::Panicked(_)
            | CallEnd::InvalidOutput(_) => None,
        }
    }

    /// The sum of what the tool recorded until then.
    #[must_use]
    pub fn spent(&self) -> Money {
        sum(&self.spend)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.end.text();
        f.pad(text.strip_prefix("Tool error: ").unwrap_or(&text))
    }
}
