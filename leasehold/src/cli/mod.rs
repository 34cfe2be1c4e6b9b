//! The command line of an application's own binary.
//!
//! Every command asks the instance that holds the store, over its socket, or the store itself where no instance runs: the same
//! request, the same reply, the same words.
//!
//! - CLI-1: whatever models, tools and people wrote is escaped before it is printed.
//! - CLI-2: a command changes something only by what an instance would do too: a letter or a start.

mod about;
mod args;
mod ask;
mod command;
mod control;
mod desk;
mod dev;
mod doctor;
mod document;
mod door;
mod error;
mod exit;
#[cfg(test)]
mod fixture;
mod frames;
#[cfg(test)]
mod golden;
mod ids;
mod out;
mod program;
mod render;
mod request;
mod stop;
mod story;
mod table;
#[cfg(test)]
mod tests;
mod user;
mod view;
mod when;
#[cfg(test)]
mod whole;
#[cfg(test)]
mod world;

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _};
use leasehold_cluster::config::variable;

use self::args::{Cli, Command};
use self::ask::Terminal;
use self::command::Session;
use self::error::CliError;
use self::exit::Exit;
use self::out::{Out, Streams};
use self::program::Configured;
use self::stop::Stop;
use crate::App;
use crate::escape::line;

/// How long threads that still block may take when the process ends: a read of the terminal never ends by itself.
const THREADS_WAIT: Duration = Duration::from_millis(200);

/// Runs the command line that the process was started with.
pub(crate) fn main(app: App, arguments: &[OsString]) -> ExitCode {
    // Every command that an execution can ask under shows its questions.
    crate::channels::questions_are_shown_elsewhere();
    let name = program_name(arguments, &app);
    let mut out = Out::standard(streams());
    let cli = match parse(arguments, &name) {
        Ok(cli) => cli,
        Err(error) => return told_usage(&error, &mut out).into(),
    };
    let ended = with_runtime(app, &name, &cli, &mut out);
    let exit = ended.unwrap_or_else(|error| told(&error, &mut out));
    exit.into()
}

/// What the program is called: as it was started, else as the application.
fn program_name(arguments: &[OsString], app: &App) -> String {
    let started = arguments.first().map(Path::new).and_then(Path::file_name);
    started.map_or_else(
        || app.name().to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

fn parse(arguments: &[OsString], name: &str) -> Result<Cli, clap::Error> {
    let command = Cli::command().display_name(name).bin_name(name);
    let matches = command.try_get_matches_from(arguments)?;
    Cli::from_arg_matches(&matches)
}

/// The streams of this process. Colour is off without a terminal, with `NO_COLOR`, and on a terminal that says it is dumb.
fn streams() -> Streams {
    let may = variable("NO_COLOR").is_none() && variable("TERM").as_deref() != Some("dumb");
    let (out, err) = (
        std::io::stdout().is_terminal(),
        std::io::stderr().is_terminal(),
    );
    Streams {
        out_colour: may && out,
        err_colour: may && err,
        can_ask: err && std::io::stdin().is_terminal(),
    }
}

/// Help and versions are no mistakes.
fn told_usage(error: &clap::Error, out: &mut Out) -> Exit {
    let text = error.render().to_string();
    let text = text.trim_end();
    let is_wanted = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let told = if is_wanted {
        out.line(text)
    } else {
        out.note(text)
    };
    // Nobody reads it: there is nobody to tell.
    drop(told);
    if is_wanted { Exit::Done } else { Exit::Usage }
}

fn with_runtime(app: App, name: &str, cli: &Cli, out: &mut Out) -> Result<Exit, CliError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| {
            CliError::Unavailable(format!(
                "[cli.no-runtime] no threads can be started: {error}"
            ))
        })?;
    let (stop, signals) = Stop::new();
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = run(app, name, cli, out, stop.clone()) => ended,
            () = signals.listen() => Err(CliError::Interrupted),
            () = stop.second() => Err(CliError::Interrupted),
        }
    });
    runtime.shutdown_timeout(THREADS_WAIT);
    ended
}

/// Runs a command until it ends; at the first word of `stop` it comes to an orderly end.
async fn run(app: App, name: &str, cli: &Cli, out: &mut Out, stop: Stop) -> Result<Exit, CliError> {
    let configured = Configured::load(app, &cli.global, stop)?;
    let mut typist = Terminal::standard();
    let mut session = Session {
        program: &configured,
        global: &cli.global,
        out,
        typist: &mut typist,
    };
    carry_out(&configured, &mut session, &cli.command, name).await
}

async fn carry_out(
    configured: &Configured,
    session: &mut Session<'_>,
    command: &Command,
    name: &str,
) -> Result<Exit, CliError> {
    if let Some(ended) = command::run(session, command).await {
        return ended;
    }
    match command {
        Command::Dev => dev::dev(session, configured.app.name()).await,
        Command::Check => about::check(configured, session),
        Command::Describe { json } => about::describe(configured, session, *json),
        Command::Doctor => about::doctor(configured, session).await,
        Command::Completion { shell } => about::completion(*shell, name, session),
        Command::Run(_) | Command::Executions(_) | Command::Approvals(_) | Command::Journal(_) => {
            Ok(Exit::Done)
        }
    }
}

/// Tells an error, one line each.
fn told(error: &CliError, out: &mut Out) -> Exit {
    let exit = error.exit();
    if !matches!(error, CliError::ReaderGone) {
        for text in error.to_string().lines() {
            // Nobody reads it: the exit code says it all the same.
            drop(out.note(&format!("error: {}", line(text))));
        }
    }
    exit
}

/// A count with its noun: `1 call`, `2 calls`.
fn counted(number: usize, noun: &str) -> String {
    if number == 1 {
        return format!("1 {noun}");
    }
    format!("{number} {noun}s")
}
