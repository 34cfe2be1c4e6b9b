//! How an execution ended, to be held against what a test wants of it.

use leasehold_execution::record::{Ended, Outcome};
use leasehold_types::{Amount, Money, TokenUsage};

use crate::fail::{Asked, fail};
use crate::timeline::{Timeline, outcome};

/// What a test wants of an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    Any,
    Answer(String),
    Failure,
    Cancel,
}

/// How an execution ended.
#[derive(Debug, Clone)]
pub struct Ending {
    ended: Ended,
    timeline: Timeline,
}

impl Ending {
    pub(crate) fn checked(ended: Ended, timeline: Timeline, wanted: &Wanted, asked: Asked) -> Self {
        let fits = match (&ended.outcome, wanted) {
            (_, Wanted::Any) => true,
            (Outcome::Completed { answer }, Wanted::Answer(right)) => answer == right,
            (
                Outcome::Failed { .. }
                | Outcome::LimitExceeded { .. }
                | Outcome::BudgetExceeded { .. },
                Wanted::Failure,
            )
            | (Outcome::Cancelled { .. }, Wanted::Cancel) => true,
            (
                Outcome::Completed { .. }
                | Outcome::Failed { .. }
                | Outcome::Cancelled { .. }
                | Outcome::LimitExceeded { .. }
                | Outcome::BudgetExceeded { .. },
                Wanted::Answer(_) | Wanted::Failure | Wanted::Cancel,
            ) => false,
        };
        if !fits {
            let wanted = match wanted {
                Wanted::Any => "an end".to_owned(),
                Wanted::Answer(right) => format!("completed: {right:?}"),
                Wanted::Failure => "a failure".to_owned(),
                Wanted::Cancel => "cancelled".to_owned(),
            };
            let ended = outcome(&ended.outcome);
            asked.fail(format_args!(
                "[testkit.other-end] it ended otherwise\n  wanted {wanted}\n  ended  {ended}\n{timeline}"
            ));
        }
        Self { ended, timeline }
    }

    /// The outcome as it is in the journal.
    #[must_use]
    pub const fn outcome(&self) -> &Outcome {
        &self.ended.outcome
    }

    /// What it says of itself: the answer, the error with its code, or why it was cancelled.
    #[must_use]
    pub fn text(&self) -> &str {
        match &self.ended.outcome {
            Outcome::Completed { answer } => answer,
            Outcome::Failed { error }
            | Outcome::LimitExceeded { error, .. }
            | Outcome::BudgetExceeded { error } => error,
            Outcome::Cancelled { reason, .. } => reason,
        }
    }

    /// Asserts what it spent for certain.
    ///
    /// # Panics
    /// It spent something else.
    #[track_caller]
    pub fn spent(self, amount: impl Into<Amount>) -> Self {
        self.assert_money("spent", self.ended.settled, &amount.into());
        self
    }

    /// Asserts what it may have spent beyond that: calls whose end nobody saw.
    ///
    /// # Panics
    /// It may have spent something else.
    #[track_caller]
    pub fn possibly_spent(self, amount: impl Into<Amount>) -> Self {
        self.assert_money("possibly spent", self.ended.possible, &amount.into());
        self
    }

    #[track_caller]
    fn assert_money(&self, what: &str, found: Money, wanted: &Amount) {
        match wanted.money() {
            Ok(wanted) if wanted == found => {}
            Ok(wanted) => fail(format_args!(
                "{what} {found}, wanted {wanted}\n{}",
                self.timeline
            )),
            Err(error) => fail(error),
        }
    }

    /// The tokens it used.
    #[must_use]
    pub const fn tokens(&self) -> TokenUsage {
        self.ended.tokens
    }

    /// What it may have spent beyond what is certain.
    #[must_use]
    pub const fn possible(&self) -> Money {
        self.ended.possible
    }

    /// What it did.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }
}
