//! `run`: starts an execution and follows it until it rests or ends.

use std::io::Read as _;

use super::Session;
use super::executions::unexpected;
use crate::cli::args::Run;
use crate::cli::door::Door;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::request::{Reply, Request};

/// The most bytes of an input that is read from the standard input; an execution takes fewer and says how many.
const INPUT_BYTES_MAX: u64 = 1 << 20;

impl Session<'_> {
    pub(super) async fn run(&mut self, run: &Run) -> Result<Exit, CliError> {
        let request = Request::Start {
            agent: run.agent.clone(),
            input: input(run)?,
            thread: run.thread.clone(),
            key: run.idempotency_key.clone(),
        };
        let door = Door::open(self.program, &request).await?;
        let ended = self.start(&door, request, run).await;
        door.close().await;
        ended
    }

    async fn start(&mut self, door: &Door, request: Request, run: &Run) -> Result<Exit, CliError> {
        let mut started = None;
        door.ask(request, &mut |reply| {
            let Reply::Started { execution } = reply else {
                return unexpected(&reply);
            };
            started = Some(execution);
            Ok(())
        })
        .await?;
        let Some(execution) = started else {
            return Err(CliError::Control("told no execution".to_owned()));
        };
        self.progress(&[format!("execution {execution}")])?;
        let view = self.follow(door, execution, 0, !run.no_ask).await?;
        self.tell_end(&view)?;
        Ok(super::exit_of(view.state))
    }
}

fn input(run: &Run) -> Result<String, CliError> {
    if run.input.as_slice() != ["-"] {
        return Ok(run.input.join(" "));
    }
    let mut text = String::new();
    std::io::stdin()
        .take(INPUT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| {
            CliError::Refused(format!(
                "[cli.input] the standard input cannot be read: {error}"
            ))
        })?;
    Ok(text)
}
