//! The command line: what there is to say, and nothing about how it is done.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::view::State;

/// The most executions or pauses of one list.
const LIST_MAX: u64 = 10_000;

/// The command line of an application.
#[derive(Debug, Parser)]
#[command(
    about = "Runs this application's agents, and looks after their executions",
    after_help = "Executions may be named by at least 4 characters of the beginning or end of their id.\nExit codes: 0 done, 1 failed, 2 usage, 3 refused or not found, 4 store locked or unavailable,\n5 waits for a decision, 6 cancelled, 7 accepted but not known yet, 74 the store cannot go on.",
    disable_help_subcommand = true,
    propagate_version = true,
    version
)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Global {
    /// The store's directory, in place of the configured one
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(super) store: Option<PathBuf>,
    /// The environment, in place of the configured one
    #[arg(long, global = true, value_name = "NAME")]
    pub(super) environment: Option<String>,
    /// How results are written
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    pub(super) output: Output,
    /// No progress on the standard error
    #[arg(long, short, global = true)]
    pub(super) quiet: bool,
}

/// How results are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Output {
    /// For people
    #[default]
    Text,
    /// For scripts: JSON with a schema number
    Json,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Run an instance in the foreground and print what happens
    Dev,
    /// Start an execution and follow it until it rests or ends
    Run(Run),
    /// Check the application for every environment it declares
    Check,
    /// Describe agents, tools and models, without key or network
    Describe {
        /// As JSON, like --output json
        #[arg(long)]
        json: bool,
    },
    /// Look after executions
    #[command(subcommand, visible_alias = "execution")]
    Executions(Executions),
    /// Decide what waits for a decision
    #[command(subcommand, visible_alias = "approval")]
    Approvals(Approvals),
    /// Look into the journal
    #[command(subcommand)]
    Journal(Journal),
    /// Check the store, the disk, the clocks and the keys
    Doctor,
    /// Print a completion script
    Completion {
        /// For this shell
        shell: clap_complete::Shell,
    },
}

/// `run`.
#[derive(Debug, Args)]
pub(super) struct Run {
    /// The agent
    pub(super) agent: String,
    /// What it is asked; several words are joined with spaces, `-` reads the standard input
    #[arg(required = true)]
    pub(super) input: Vec<String>,
    /// The conversation it belongs to
    #[arg(long)]
    pub(super) thread: Option<String>,
    /// The key of this start: the same key gives the same execution
    #[arg(long, value_name = "KEY")]
    pub(super) idempotency_key: Option<String>,
    /// Ask nobody at this terminal: stop where a decision is needed
    #[arg(long)]
    pub(super) no_ask: bool,
}

/// `executions …`.
#[derive(Debug, Subcommand)]
pub(super) enum Executions {
    /// List executions, the newest first
    List {
        /// How many at most
        #[arg(long, short = 'n', default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..=LIST_MAX))]
        limit: u64,
        /// Only those in this state
        #[arg(long, value_enum)]
        state: Option<State>,
    },
    /// Show one: where it stands, why, and how it came there
    Show {
        /// Its id, or enough of it
        execution: String,
    },
    /// Follow one until it ends
    Watch {
        /// Its id, or enough of it
        execution: String,
        /// The first frame to tell of
        #[arg(long, default_value_t = 0)]
        from: u64,
        /// End where it rests, too
        #[arg(long)]
        until_rest: bool,
    },
    /// Cancel one
    Cancel {
        /// Its id, or enough of it
        execution: String,
        /// Why
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Let a quarantined one go on
    Retry {
        /// Its id, or enough of it
        execution: String,
        /// Follow it until it rests or ends
        #[arg(long)]
        follow: bool,
    },
    /// Continue one that waits for a message
    Say {
        /// Its id, or enough of it
        execution: String,
        /// What to say
        #[arg(required = true)]
        text: Vec<String>,
        /// Follow it until it rests or ends
        #[arg(long)]
        follow: bool,
    },
}

/// `approvals …`.
#[derive(Debug, Subcommand)]
pub(super) enum Approvals {
    /// List what waits for a decision, the oldest first
    List {
        /// Only those of this execution
        #[arg(long, value_name = "ID")]
        execution: Option<String>,
        /// How many at most
        #[arg(long, short = 'n', default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=LIST_MAX))]
        limit: u64,
    },
    /// Approve a call
    Approve {
        /// The pause: <execution>/<number>
        pause: String,
        /// Run it with these arguments instead
        #[arg(long, value_name = "JSON")]
        arguments: Option<String>,
        #[command(flatten)]
        how: Decide,
    },
    /// Reject a call
    Reject {
        /// The pause: <execution>/<number>
        pause: String,
        /// Why, for the model
        #[arg(long, default_value = "")]
        reason: String,
        #[command(flatten)]
        how: Decide,
    },
}

/// What both decisions take.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Decide {
    /// Only if what is asked still has this digest; at least 8 characters of it
    #[arg(long)]
    pub(super) digest: Option<String>,
    /// Act as this user of the machine; only root may
    #[arg(long = "as", value_name = "USER")]
    pub(super) act_as: Option<String>,
    /// Follow the execution until it rests or ends
    #[arg(long)]
    pub(super) follow: bool,
}

/// `journal …`.
#[derive(Debug, Subcommand)]
pub(super) enum Journal {
    /// Print an execution's journal, frame by frame
    Dump {
        /// Its id, or enough of it
        execution: String,
        /// Records as they are stored, one a line; pauses' secrets included
        #[arg(long)]
        raw: bool,
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn parsed(line: &str) -> Result<Cli, ErrorKind> {
        let words = std::iter::once("shop").chain(line.split_whitespace());
        Cli::try_parse_from(words).map_err(|error| error.kind())
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    // CONTRACT O2
    #[test]
    fn every_command_of_the_contract_is_there() {
        let lines = [
            "dev",
            "check",
            "describe --json",
            "run support Refund A-1042",
            "executions list --output json",
            "executions show abcd",
            "executions watch abcd --from 3",
            "executions cancel abcd --reason over",
            "executions retry abcd",
            "executions say abcd hello there",
            "approvals list",
            "approvals approve abcd/1 --arguments {} --as dana --follow",
            "approvals reject abcd/1 --reason no --digest 01234567",
            "journal dump abcd --raw",
            "doctor --store here",
            "completion bash",
        ];
        for line in lines {
            assert!(parsed(line).is_ok(), "{line}");
        }
    }

    #[test]
    fn what_is_no_command_line_is_told_so() {
        let cases = [
            ("", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
            (
                "executions",
                ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand,
            ),
            ("run support", ErrorKind::MissingRequiredArgument),
            ("executions show", ErrorKind::MissingRequiredArgument),
            ("executions list --limit 0", ErrorKind::ValueValidation),
            ("executions list --limit 10001", ErrorKind::ValueValidation),
            ("executions list --state odd", ErrorKind::InvalidValue),
            ("approvals approve", ErrorKind::MissingRequiredArgument),
            ("describe --yaml", ErrorKind::UnknownArgument),
            ("deploy", ErrorKind::InvalidSubcommand),
        ];
        for (line, kind) in cases {
            assert_eq!(parsed(line).map(|_| ()), Err(kind), "{line}");
        }
    }

    #[test]
    fn the_words_of_an_input_are_joined() {
        let Ok(Cli {
            command: Command::Run(run),
            ..
        }) = parsed("run support Refund A-1042 now")
        else {
            panic!("it is `run`");
        };
        assert_eq!(run.input.join(" "), "Refund A-1042 now");
    }
}
