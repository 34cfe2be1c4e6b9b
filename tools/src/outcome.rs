//! How a call ended: for the runtime by cause, for the model as a value or a text.

use std::time::Duration;

use leasehold_types::{AbortReason, SpendEntry};
use serde_json::Value;

use crate::error::ToolError;
use crate::issue::{InvalidInput, Issues};
use crate::tool::OnError;
use crate::wire::ToolOutcome;

/// How a call ended, and what it spent until then.
#[derive(Debug)]
pub struct CallOutcome {
    /// How.
    pub end: CallEnd,
    /// What the tool recorded, whatever the end was.
    pub spend: Vec<SpendEntry>,
}

/// How a call ended.
#[derive(Debug)]
pub enum CallEnd {
    /// With a result that fits the output's schema.
    Done(Value),
    /// The arguments did not fit; nothing ran.
    InvalidInput(InvalidInput),
    /// The signal was aborted before the body started; nothing ran.
    NotStarted(AbortReason),
    /// The signal was aborted while the body ran: its future was dropped.
    Aborted(AbortReason),
    /// The body took longer than it may: its future was dropped.
    TimedOut(Duration),
    /// The tool's own error.
    Failed(ToolError),
    /// The body panicked; the text is for operators only.
    Panicked(String),
    /// The tool broke its contract: the result does not fit the output's schema.
    InvalidOutput(Issues),
}

impl CallEnd {
    /// Whether the tool's body ran at all: if not, there is no effect to look for.
    #[must_use]
    pub const fn is_started(&self) -> bool {
        !matches!(self, Self::InvalidInput(_) | Self::NotStarted(_))
    }

    /// Whether a tool that declares [`OnError::Throw`] ends the execution with this.
    #[must_use]
    pub const fn is_thrown(&self, on_error: OnError) -> bool {
        let own = matches!(
            self,
            Self::Failed(_) | Self::Panicked(_) | Self::TimedOut(_) | Self::InvalidOutput(_)
        );
        own && matches!(on_error, OnError::Throw)
    }

    /// The result as it is journaled.
    #[must_use]
    pub fn into_outcome(self) -> ToolOutcome {
        match (self.failure(), self) {
            (None, Self::Done(value)) => ToolOutcome::Ok { value },
            (failure, _) => ToolOutcome::Error {
                message: failure.unwrap_or_default(),
            },
        }
    }

    /// The whole text that the model reads, before bound and masking.
    #[must_use]
    pub fn text(&self) -> String {
        match (self.failure(), self) {
            (None, Self::Done(value)) => value.to_string(),
            (failure, _) => ToolOutcome::Error {
                message: failure.unwrap_or_default(),
            }
            .text(),
        }
    }

    /// What the model is told where there is no output.
    fn failure(&self) -> Option<String> {
        Some(match self {
            Self::Done(_) => return None,
            Self::InvalidInput(invalid) => invalid.to_string(),
            Self::NotStarted(reason) | Self::Aborted(reason) => reason.to_string(),
            Self::TimedOut(after) => AbortReason::TimedOut { after: *after }.to_string(),
            Self::Failed(error) => error.to_string(),
            // What a panic says may hold anything; operators have it.
            Self::Panicked(_) => "the tool panicked".to_owned(),
            Self::InvalidOutput(issues) => format!("invalid output: {issues}"),
        })
    }
}
