//! The commands: each asks through a door and writes what it is told.

mod approvals;
mod executions;
mod follow;
mod run;

use leasehold_types::Clock;

use super::args::{Approvals, Command, Executions, Global, Journal, Output};
use super::ask::Typist;
use super::document;
use super::door::{Door, Program};
use super::error::CliError;
use super::exit::Exit;
use super::out::Out;
use super::render;
use super::request::{Reply, Request};
use super::view::{DecidedView, State};

/// What every command works with.
pub(super) struct Session<'a> {
    pub(super) program: &'a dyn Program,
    pub(super) global: &'a Global,
    pub(super) out: &'a mut Out,
    pub(super) typist: &'a mut dyn Typist,
}

impl Session<'_> {
    fn is_json(&self) -> bool {
        self.global.output == Output::Json
    }

    fn now(&self) -> leasehold_types::Timestamp {
        self.clock().now()
    }

    fn clock(&self) -> std::sync::Arc<dyn Clock> {
        self.program.clock()
    }

    /// Asks for one thing through a door of its own, and gives back all that was told.
    async fn ask_once(&self, request: Request) -> Result<Vec<Reply>, CliError> {
        let door = Door::open(self.program, &request).await?;
        let mut told = Vec::new();
        let asked = door
            .ask(request, &mut |reply| {
                told.push(reply);
                Ok(())
            })
            .await;
        door.close().await;
        asked.map(|()| told)
    }

    /// Progress, unless it is not wanted.
    fn progress(&mut self, lines: &[String]) -> Result<(), CliError> {
        if self.global.quiet {
            return Ok(());
        }
        lines.iter().try_for_each(|line| self.out.note(line))
    }
}

/// Runs a command that works on the store. None: it is another one.
pub(super) async fn run(
    session: &mut Session<'_>,
    command: &Command,
) -> Option<Result<Exit, CliError>> {
    let ended = match command {
        Command::Run(run) => session.run(run).await,
        Command::Executions(Executions::List { limit, state }) => {
            session.list(*limit, *state).await
        }
        Command::Executions(Executions::Show { execution }) => session.show(execution).await,
        Command::Executions(Executions::Watch {
            execution,
            from,
            until_rest,
        }) => session.watch(execution, *from, *until_rest).await,
        Command::Executions(Executions::Cancel { execution, reason }) => {
            session.cancel(execution, reason).await
        }
        Command::Executions(Executions::Retry { execution, follow }) => {
            session.retry(execution, *follow).await
        }
        Command::Executions(Executions::Say {
            execution,
            text,
            follow,
        }) => session.say(execution, &text.join(" "), *follow).await,
        Command::Approvals(Approvals::List { execution, limit }) => {
            session.approvals(execution.as_deref(), *limit).await
        }
        Command::Approvals(Approvals::Approve {
            pause,
            arguments,
            how,
        }) => session.approve(pause, arguments.as_deref(), how).await,
        Command::Approvals(Approvals::Reject { pause, reason, how }) => {
            session.reject(pause, reason, how).await
        }
        Command::Journal(Journal::Dump { execution, raw }) => session.dump(execution, *raw).await,
        Command::Dev
        | Command::Check
        | Command::Describe { .. }
        | Command::Doctor
        | Command::Completion { .. } => return None,
    };
    Some(ended)
}

/// What a command that followed an execution ends with.
pub(super) const fn exit_of(state: State) -> Exit {
    match state {
        State::Completed => Exit::Done,
        State::Waiting | State::Blocked => Exit::Waiting,
        State::Cancelled => Exit::Cancelled,
        State::Failed | State::LimitExceeded | State::BudgetExceeded => Exit::Failed,
        State::Unreadable => Exit::Refused,
        // It goes on without this command.
        State::Starting | State::Running => Exit::Done,
    }
}

impl Session<'_> {
    /// Tells what became of a decision.
    fn tell_decided(&mut self, view: &DecidedView, is_followed: bool) -> Result<(), CliError> {
        if self.is_json() {
            return self.out.json(&document::decided(view));
        }
        self.out.lines(&render::decided(view, is_followed))
    }
}
