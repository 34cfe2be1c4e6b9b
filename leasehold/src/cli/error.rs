//! Why a command did not do what was asked: a message with its code, and the exit code that scripts see.

use std::fmt::Display;
use std::path::PathBuf;

use leasehold_actors::{DecideError, StartError};
use leasehold_journal::{BlobError, JournalCorruptError, JournalError};
use leasehold_types::ExecutionId;

use super::exit::Exit;

/// The most executions an ambiguous id lists.
pub(super) const CANDIDATES_MAX: usize = 5;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum CliError {
    /// Whoever read the output is gone.
    #[error("the reader of the output is gone")]
    ReaderGone,
    /// The output cannot be written.
    #[error("[cli.output] cannot write: {0}; look at where the output goes")]
    Output(String),
    /// Less of an id than tells anything.
    #[error(
        "[cli.id-too-short] {text:?} is too short to name an execution: give at least {min} characters of its beginning or end"
    )]
    IdTooShort {
        /// What was given.
        text: String,
        /// The least.
        min: usize,
    },
    /// What no id holds.
    #[error(
        "[cli.id-invalid] {0:?} names no execution: ids hold 0-9 and a-z without i, l, o and u"
    )]
    IdInvalid(String),
    /// Nothing fits.
    #[error(
        "[cli.id-unknown] no execution begins or ends with {0:?}: `executions list` shows what there is"
    )]
    IdUnknown(String),
    /// More than one fits.
    #[error("[cli.id-ambiguous] {text:?} fits {count} executions: {}{}", list(candidates), more(*count, candidates))]
    IdAmbiguous {
        /// What was given.
        text: String,
        /// How many fit.
        count: usize,
        /// The newest of them.
        candidates: Vec<ExecutionId>,
    },
    /// Not a pause.
    #[error(
        "[cli.reference-invalid] {0:?} names no pause: write <execution>/<number>, as `approvals list` does"
    )]
    ReferenceInvalid(String),
    /// What was to be approved is not what is open.
    #[error(
        "[cli.digest-mismatch] what is asked has the digest {found}, not {given}: look at it again with `approvals list`"
    )]
    DigestMismatch {
        /// What was given.
        given: String,
        /// What is open.
        found: String,
    },
    /// There is nothing to let go on.
    #[error(
        "[cli.not-blocked] {execution} is {state}, not blocked: only a quarantined execution is let go on"
    )]
    NotBlocked {
        /// The execution.
        execution: ExecutionId,
        /// What it is doing.
        state: &'static str,
    },
    /// Arguments that are no JSON.
    #[error("[cli.arguments-invalid] --arguments is not a JSON object: {0}")]
    ArgumentsInvalid(String),
    /// Somebody wants to be somebody else.
    #[error(
        "[cli.as-refused] user {user} may not act as {wanted:?}: only root may, and only as a user of this machine"
    )]
    AsRefused {
        /// Who asks.
        user: String,
        /// As whom.
        wanted: String,
    },
    /// The store is held by a process that does not answer.
    #[error(
        "[cli.store-locked] the store {directory:?} is open in process {pid}, which does not answer on its socket: wait if it is starting or stopping, else look at that process"
    )]
    StoreLocked {
        /// The store.
        directory: PathBuf,
        /// Who holds it; 0 where nobody knows.
        pid: u32,
    },
    /// There is no store to look into.
    #[error(
        "[cli.no-store] there is no store at {0:?}: nothing was started there yet, or --store names another place"
    )]
    NoStore(PathBuf),
    /// The store, or the instance on it, does not open.
    #[error("{0}")]
    Unavailable(String),
    /// The decision did not count.
    #[error("{0}")]
    Refused(String),
    /// An instance said no.
    #[error("{message}")]
    Remote {
        /// Its words.
        message: String,
        /// The exit code it named.
        exit: Exit,
    },
    /// The instance's socket does not speak as it should.
    #[error(
        "[control.broken] the instance's socket {0}; is it of another release? stop it, or use its own binary"
    )]
    Control(String),
    /// The instance takes no more connections now.
    #[error(
        "[control.busy] the instance serves {0} connections already: try again, or end a `watch`"
    )]
    Busy(usize),
    /// A line that is no request.
    #[error("[control.request-invalid] {0}")]
    RequestInvalid(String),
    /// A protocol this build does not speak.
    #[error(
        "[control.version] the request is of protocol version {found}, this instance speaks {supported}: use the binary of the same release"
    )]
    Version {
        /// What came.
        found: u64,
        /// What is spoken.
        supported: u64,
    },
    /// A user to whom the socket does not belong.
    #[error("[control.not-allowed] the socket is not for user {0}")]
    NotAllowed(u32),
    /// The command needs an instance and there is none.
    #[error("[cli.no-instance] {0}")]
    NoInstance(&'static str),
    /// A start was refused.
    #[error(transparent)]
    Start(#[from] StartError),
    /// A letter was refused.
    #[error(transparent)]
    Decide(#[from] DecideError),
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] JournalError),
    /// The journal is not what was written.
    #[error(transparent)]
    Corrupt(#[from] JournalCorruptError),
    /// A blob is missing.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// The application, or its configuration, is not as it should be.
    #[error("{0}")]
    Wrong(String),
    /// Somebody pressed Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn list(candidates: &[ExecutionId]) -> String {
    let texts: Vec<String> = candidates.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

fn more(count: usize, candidates: &[ExecutionId]) -> String {
    match count.saturating_sub(candidates.len()) {
        0 => String::new(),
        left => format!(" and {left} more"),
    }
}

impl CliError {
    /// A value that JSON cannot hold.
    pub(super) fn unwritable(error: impl Display) -> Self {
        Self::Output(error.to_string())
    }

    /// What the process ends with.
    pub(super) const fn exit(&self) -> Exit {
        match self {
            Self::ReaderGone => Exit::Done,
            Self::Output(_) => Exit::Unavailable,
            Self::Wrong(_) => Exit::Failed,
            Self::ArgumentsInvalid(_) | Self::ReferenceInvalid(_) => Exit::Usage,
            Self::IdTooShort { .. }
            | Self::IdInvalid(_)
            | Self::IdUnknown(_)
            | Self::IdAmbiguous { .. }
            | Self::NoStore(_)
            | Self::NotBlocked { .. }
            | Self::DigestMismatch { .. }
            | Self::AsRefused { .. }
            | Self::Refused(_)
            | Self::RequestInvalid(_)
            | Self::Version { .. }
            | Self::NotAllowed(_)
            | Self::Corrupt(_)
            | Self::Blob(BlobError::Unavailable { .. }) => Exit::Refused,
            Self::StoreLocked { .. }
            | Self::Unavailable(_)
            | Self::Control(_)
            | Self::Busy(_)
            | Self::NoInstance(_) => Exit::Unavailable,
            Self::Remote { exit, .. } => *exit,
            Self::Start(error) => exit_of_start(error),
            Self::Decide(error) => exit_of_decide(error),
            Self::Store(error) | Self::Blob(BlobError::Store(error)) => exit_of_store(error),
            Self::Interrupted => Exit::Interrupted,
        }
    }
}

const fn exit_of_store(error: &JournalError) -> Exit {
    match error {
        JournalError::Poisoned(_) => Exit::FatalStore,
        JournalError::StoreFull(_)
        | JournalError::Overloaded { .. }
        | JournalError::Closed
        | JournalError::Unavailable(_)
        | JournalError::Damaged(_) => Exit::Unavailable,
        JournalError::TooLarge { .. } | JournalError::Frame(_) | JournalError::Corrupt(_) => {
            Exit::Refused
        }
    }
}

const fn exit_of_start(error: &StartError) -> Exit {
    match error {
        StartError::UnknownAgent { .. }
        | StartError::KeyConflict { .. }
        | StartError::ThreadRefused { .. }
        | StartError::ThreadBusy { .. }
        | StartError::InputTooLarge { .. } => Exit::Refused,
        StartError::Draining => Exit::Unavailable,
        StartError::Unknown { .. } => Exit::Pending,
        StartError::Store(error) => exit_of_store(error),
    }
}

const fn exit_of_decide(error: &DecideError) -> Exit {
    match error {
        DecideError::Pending { .. } => Exit::Pending,
        DecideError::UnknownExecution(_) | DecideError::TooLarge { .. } => Exit::Refused,
        DecideError::Store(error) => exit_of_store(error),
    }
}
