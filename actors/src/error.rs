//! Why a start or a decision was refused.

use leasehold_journal::JournalError;
use leasehold_types::ExecutionId;

/// Why an execution was not started. Nothing was written unless the variant says so.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The application has no such agent.
    #[error("[start.unknown-agent] there is no agent {name:?}: the application has {known}")]
    UnknownAgent {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The key was used for another start.
    #[error(
        "[start.key-conflict] the idempotency key was used to start {execution} with another request"
    )]
    KeyConflict {
        /// The execution it started.
        execution: ExecutionId,
    },
    /// The thread belongs to somebody else, or to another tenant.
    #[error("[thread.refused] there is no thread {thread:?} of this owner")]
    ThreadRefused {
        /// The thread.
        thread: String,
    },
    /// Another execution of the thread is still going.
    #[error("[thread.busy] execution {execution} of thread {thread:?} has not ended")]
    ThreadBusy {
        /// The thread.
        thread: String,
        /// The execution that goes on.
        execution: ExecutionId,
    },
    /// The input is larger than an execution takes.
    #[error("[start.input-too-large] the input has {bytes} bytes, the limit is {max}")]
    InputTooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The instance is draining.
    #[error("[start.draining] the instance takes no new work: it is shutting down")]
    Draining,
    /// The store could not say whether the start is durable: repeat it with the same key.
    #[error(
        "[start.unknown] the store did not say whether {execution} was started: ask for it, or repeat with the same idempotency key"
    )]
    Unknown {
        /// The id it has if it was.
        execution: ExecutionId,
    },
    /// The store refused.
    #[error(transparent)]
    Store(#[from] JournalError),
}

/// Why a letter to a tree has no outcome.
#[derive(Debug, thiserror::Error)]
pub enum DecideError {
    /// It is durable, but its outcome did not come within the time waited: it will be applied.
    #[error(
        "[decision.pending] accepted: it is durable and will be applied; no outcome within {waited_ms} ms"
    )]
    Pending {
        /// The time waited.
        waited_ms: u128,
    },
    /// There is no such execution.
    #[error("[execution.unknown] there is no execution {0}")]
    UnknownExecution(ExecutionId),
    /// It is larger than a letter takes.
    #[error("[decision.too-large] the decision has {bytes} bytes, the limit is {max}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The limit.
        max: usize,
    },
    /// The store refused: nothing was accepted.
    #[error(transparent)]
    Store(#[from] JournalError),
}
