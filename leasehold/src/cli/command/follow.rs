//! Following an execution: its steps as they happen, the questions it asks, and its end.

use leasehold_types::ExecutionId;

use super::executions::unexpected;
use super::{Session, exit_of};
use crate::cli::ask::decision;
use crate::cli::door::Door;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::request::{Reply, Request, Until};
use crate::cli::view::{ExecutionView, State};
use crate::cli::{document, render};

impl Session<'_> {
    pub(super) async fn watch(
        &mut self,
        execution: &str,
        from: u64,
        until_rest: bool,
    ) -> Result<Exit, CliError> {
        let until = if until_rest { Until::Rest } else { Until::End };
        let request = Request::Watch {
            execution: execution.to_owned(),
            from,
            until,
        };
        let door = Door::open(self.program, &request).await?;
        let is_running = door.is_running();
        let (out, is_json) = (&mut *self.out, self.global.output == super::Output::Json);
        let colour = out.streams.out_colour;
        let mut last = None;
        let asked = door
            .ask(request, &mut |reply| {
                if let Reply::Event(event) = reply {
                    if is_json {
                        return out.json_line(&document::other(*event));
                    }
                    return out.lines(&render::event(&event, colour));
                }
                let Reply::Execution(view) = reply else {
                    return unexpected(&reply);
                };
                last = Some(*view);
                Ok(())
            })
            .await;
        door.close().await;
        asked?;
        let Some(view) = last else {
            return Err(CliError::Control("told no end".to_owned()));
        };
        if !is_json {
            let lines = render::outcome(&view, self.out.streams.out_colour);
            self.out.lines(&lines)?;
        }
        if !view.state.is_over() {
            self.out.note(&crate::escape::line(&view.why))?;
            if !is_running {
                self.out.note("nothing happens until an instance runs")?;
            }
        }
        Ok(exit_of(view.state))
    }

    /// Follows an execution, asks whoever sits at the terminal what it asks, and tells its end.
    pub(super) async fn follow_to_end(
        &mut self,
        door: &Door,
        execution: ExecutionId,
        from: u64,
    ) -> Result<Exit, CliError> {
        let view = self.follow(door, execution, from, true).await?;
        self.tell_end(&view)?;
        Ok(exit_of(view.state))
    }

    pub(super) async fn follow(
        &mut self,
        door: &Door,
        execution: ExecutionId,
        mut from: u64,
        may_ask: bool,
    ) -> Result<ExecutionView, CliError> {
        loop {
            let view = self.steps(door, execution, from).await?;
            from = view.frames;
            let asks = may_ask && self.out.streams.can_ask && view.state == State::Waiting;
            if !asks || !self.ask(door, &view).await? {
                return Ok(view);
            }
        }
    }

    /// Tells steps until somebody must act, or it is over.
    async fn steps(
        &mut self,
        door: &Door,
        execution: ExecutionId,
        from: u64,
    ) -> Result<ExecutionView, CliError> {
        let request = Request::Watch {
            execution: execution.to_string(),
            from,
            until: Until::Asked,
        };
        let mut last = None;
        let colour = self.out.streams.err_colour;
        door.ask(request, &mut |reply| {
            if let Reply::Event(event) = reply {
                return self.progress(&render::event(&event, colour));
            }
            let Reply::Execution(view) = reply else {
                return unexpected(&reply);
            };
            last = Some(*view);
            Ok(())
        })
        .await?;
        last.ok_or_else(|| CliError::Control("told no end".to_owned()))
    }

    /// Asks about each open pause; says whether one was decided.
    async fn ask(&mut self, door: &Door, view: &ExecutionView) -> Result<bool, CliError> {
        let mut is_decided = false;
        for pause in &view.pauses {
            let lines = render::question(pause, self.now(), self.out.streams.err_colour);
            lines.iter().try_for_each(|line| self.out.note(line))?;
            let stop = self.program.stop();
            let said = tokio::select! {
                said = decision(pause, self.typist, self.out) => said?,
                () = stop.first() => return Err(CliError::Interrupted),
            };
            let Some(verdict) = said else {
                continue;
            };
            let request = Request::Decide {
                pause: pause.pause.to_string(),
                verdict,
                digest: Some(pause.digest.clone()),
                act_as: None,
            };
            let told = door.ask(request, &mut |_| Ok(())).await;
            match told {
                Ok(()) => is_decided = true,
                // It stays open, or somebody else was faster: the execution goes on from where it stands.
                Err(error) if error.exit() == Exit::Refused => {
                    self.out.note(&crate::escape::line(&error.to_string()))?;
                    is_decided = true;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(is_decided)
    }

    /// What it waits for, and what to type.
    fn tell_open(&mut self, view: &ExecutionView) -> Result<(), CliError> {
        if view.pauses.is_empty() {
            return Ok(());
        }
        let lines = render::approvals(&view.pauses, self.now(), self.out.streams.err_colour);
        self.progress(&lines)
    }

    /// The answer on the standard output, everything else beside it.
    pub(super) fn tell_end(&mut self, view: &ExecutionView) -> Result<(), CliError> {
        if self.is_json() {
            return self.out.json(&document::execution(view));
        }
        if let Some(answer) = &view.answer {
            self.out.lines(&crate::escape::block(answer))?;
        }
        if view.state != State::Completed {
            let state = view.state.word();
            let why = crate::escape::line(&view.why);
            self.out
                .note(&format!("{} {state}: {why}", view.execution))?;
            self.tell_open(view)?;
        }
        Ok(())
    }
}
