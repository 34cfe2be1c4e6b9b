//! A tool's own error: a message for the model, a chain of causes for operators.
//!
//! It is not a `std::error::Error`, so that `?` turns every such error into one.

use std::error::Error;
use std::fmt;

/// What a tool's body returns.
pub type ToolResult<T> = Result<T, ToolError>;

/// Why a tool failed. The model reads its `Display` and goes on; operators read [`ToolError::causes`].
///
/// ```
/// # use leasehold_tools::{ToolError, ToolResult};
/// fn pages(text: &str) -> ToolResult<u32> {
///     let pages = text.parse()?;
///     if pages == 0 {
///         return Err(ToolError::new("a document has at least one page"));
///     }
///     Ok(pages)
/// }
/// assert_eq!(pages("x").unwrap_err().to_string(), "invalid digit found in string");
/// ```
pub struct ToolError(Box<Inner>);

struct Inner {
    message: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
    again: Again,
    outcome: Outcome,
}

/// Whether the same call may succeed when it is made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Unsaid,
    MaySucceed,
}

/// Whether the tool knows what it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Known,
    Unknown,
}

impl ToolError {
    /// The longest chain of causes that is followed: one may be a ring.
    pub const CAUSES_MAX: usize = 16;

    /// An error with a message written for the model.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            message: message.into(),
            cause: None,
            again: Again::Unsaid,
            outcome: Outcome::Known,
        }))
    }

    /// Keeps the error behind the message, for operators only.
    #[must_use]
    pub fn caused_by(mut self, cause: impl Error + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Box::new(cause));
        self
    }

    /// Says that the same call may succeed later: a retry policy may repeat it, with the same idempotency key.
    #[must_use]
    pub fn retryable(mut self) -> Self {
        self.0.again = Again::MaySucceed;
        self
    }

    /// Says that the effect may have happened: a `write` is then treated as if it had been cut off.
    #[must_use]
    pub fn outcome_unknown(mut self) -> Self {
        self.0.outcome = Outcome::Unknown;
        self
    }

    /// Whether [`ToolError::retryable`] was said.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.0.again == Again::MaySucceed
    }

    /// Whether [`ToolError::outcome_unknown`] was said.
    #[must_use]
    pub fn is_outcome_unknown(&self) -> bool {
        self.0.outcome == Outcome::Unknown
    }

    /// The error it was made from, if that is an `E`.
    #[must_use]
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.cause.as_ref()?.downcast_ref()
    }

    /// The messages of all causes, nearest first, at most [`Self::CAUSES_MAX`].
    #[must_use]
    pub fn causes(&self) -> Vec<String> {
        let mut next: Option<&(dyn Error + 'static)> = match &self.0.cause {
            Some(cause) => Some(cause.as_ref()),
            None => None,
        };
        let mut causes = Vec::new();
        while let (Some(cause), true) = (next, causes.len() < Self::CAUSES_MAX) {
            causes.push(cause.to_string());
            next = cause.source();
        }
        causes
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        let mut converted = Self::new(error.to_string());
        converted.0.cause = Some(Box::new(error));
        converted
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("message", &self.0.message)
            .field("causes", &self.causes())
            .field("again", &self.0.again)
            .field("outcome", &self.0.outcome)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("no order {order}")]
    struct NoOrder {
        order: String,
        source: fmt::Error,
    }

    fn fails() -> ToolResult<()> {
        let order = "A-1".to_owned();
        Err(NoOrder {
            order,
            source: fmt::Error,
        })?;
        Ok(())
    }

    // CONTRACT T6
    #[test]
    fn any_error_becomes_one_that_the_model_reads_and_that_keeps_its_causes() {
        let error = fails().unwrap_err();
        assert_eq!(error.to_string(), "no order A-1");
        assert_eq!(error.downcast_ref::<NoOrder>().unwrap().order, "A-1");
        let causes = ["no order A-1".to_owned(), fmt::Error.to_string()];
        assert_eq!(error.causes(), causes);
    }

    // CONTRACT T6
    #[test]
    fn an_error_is_made_of_a_message_and_says_what_it_knows() {
        let error = ToolError::new("sold out");
        assert!(!error.is_retryable() && !error.is_outcome_unknown());
        let error = error.retryable().outcome_unknown().caused_by(fmt::Error);
        assert!(error.is_retryable() && error.is_outcome_unknown());
        assert_eq!(error.to_string(), "sold out");
        assert!(error.downcast_ref::<fmt::Error>().is_some());
    }
}
