//! The exit codes: stable, one meaning each, listed in `docs/cli.md`.

use std::process::ExitCode;

/// How a command ended, as scripts see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// It did what was asked; an execution it followed completed.
    Done,
    /// The execution failed or met a limit or budget; a check or `doctor` found an error.
    Failed,
    /// The command line is not one.
    Usage,
    /// There is no such thing, or it was refused; nothing changed.
    Refused,
    /// The store is locked, or cannot be opened or reached.
    Unavailable,
    /// The execution waits for a decision, or is blocked.
    Waiting,
    /// The execution was cancelled.
    Cancelled,
    /// It is durable and will be applied; its outcome is not known yet.
    Pending,
    /// The store cannot go on: `EX_IOERR` of sysexits.h.
    FatalStore,
    /// Somebody interrupted the command: 128 and the number of SIGINT.
    Interrupted,
}

impl Exit {
    /// Every code, in order, for the documentation's test and for reading one off the wire.
    pub(super) const ALL: [Self; 10] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::Refused,
        Self::Unavailable,
        Self::Waiting,
        Self::Cancelled,
        Self::Pending,
        Self::FatalStore,
        Self::Interrupted,
    ];

    /// The number the process ends with.
    pub(super) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Unavailable => 4,
            Self::Waiting => 5,
            Self::Cancelled => 6,
            Self::Pending => 7,
            Self::FatalStore => 74,
            Self::Interrupted => 130,
        }
    }

    /// The exit with this number; a refusal where there is none, so that no unknown number reads as success.
    pub(super) fn of_code(code: u8) -> Self {
        let known = Self::ALL.into_iter().find(|exit| exit.code() == code);
        known.unwrap_or(Self::Refused)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT O2
    #[test]
    fn exit_codes_are_the_documented_ones() {
        let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/cli.md");
        let docs = std::fs::read_to_string(docs).unwrap();
        for exit in Exit::ALL {
            let row = format!("| {} |", exit.code());
            assert!(docs.contains(&row), "docs/cli.md has no row {row}");
            assert_eq!(Exit::of_code(exit.code()), exit);
        }
        assert_eq!(Exit::of_code(200), Exit::Refused);
    }
}
