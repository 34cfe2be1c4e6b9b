//! Decisions: `approvals list`, `approve`, `reject`; `executions cancel`, `retry`, `say`.

use super::Session;
use super::executions::unexpected;
use crate::cli::args::Decide;
use crate::cli::ask::checked_arguments;
use crate::cli::door::Door;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::request::{Reply, Request, Say};
use crate::cli::view::{About, DecidedView};
use crate::cli::{document, render};

impl Session<'_> {
    pub(super) async fn approvals(
        &mut self,
        execution: Option<&str>,
        limit: u64,
    ) -> Result<Exit, CliError> {
        let request = Request::Approvals {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            execution: execution.map(str::to_owned),
        };
        let mut pauses = Vec::new();
        let mut left_out = None;
        for reply in self.ask_once(request).await? {
            if let Reply::Pause(pause) = reply {
                pauses.push(*pause);
            } else if let Reply::More { of } = reply {
                left_out = Some(of);
            } else {
                return unexpected(&reply);
            }
        }
        if self.is_json() {
            self.out.json(&document::approvals(&pauses, left_out))?;
            return Ok(Exit::Done);
        }
        let lines = render::approvals(&pauses, self.now(), self.out.streams.out_colour);
        self.out.lines(&lines)?;
        if left_out.is_some() {
            self.out
                .note("more wait than are shown: --limit shows more")?;
        }
        Ok(Exit::Done)
    }

    pub(super) async fn approve(
        &mut self,
        pause: &str,
        arguments: Option<&str>,
        how: &Decide,
    ) -> Result<Exit, CliError> {
        arguments.map(checked_arguments).transpose()?;
        let arguments = arguments.map(str::to_owned);
        self.decide(pause, Say::Approve { arguments }, how).await
    }

    pub(super) async fn reject(
        &mut self,
        pause: &str,
        reason: &str,
        how: &Decide,
    ) -> Result<Exit, CliError> {
        let reason = reason.to_owned();
        self.decide(pause, Say::Reject { reason }, how).await
    }

    async fn decide(&mut self, pause: &str, verdict: Say, how: &Decide) -> Result<Exit, CliError> {
        let request = Request::Decide {
            pause: pause.to_owned(),
            verdict,
            digest: how.digest.clone(),
            act_as: how.act_as.clone(),
        };
        self.change(request, how.follow).await
    }

    pub(super) async fn cancel(&mut self, execution: &str, reason: &str) -> Result<Exit, CliError> {
        let request = Request::Cancel {
            execution: execution.to_owned(),
            reason: reason.to_owned(),
        };
        self.change(request, false).await
    }

    pub(super) async fn retry(&mut self, execution: &str, follow: bool) -> Result<Exit, CliError> {
        let execution = execution.to_owned();
        self.change(Request::Retry { execution }, follow).await
    }

    pub(super) async fn say(
        &mut self,
        execution: &str,
        text: &str,
        follow: bool,
    ) -> Result<Exit, CliError> {
        let open = Request::Approvals {
            limit: 100,
            execution: Some(execution.to_owned()),
        };
        let pauses = self.ask_once(open).await?;
        let waits = |reply: &Reply| {
            let Reply::Pause(pause) = reply else {
                return None;
            };
            (pause.about == About::Input).then_some(pause.pause)
        };
        let Some(pause) = pauses.iter().find_map(waits) else {
            return Err(CliError::Refused(format!(
                "[cli.no-message-awaited] {execution} waits for no message: `executions show` tells what it waits for"
            )));
        };
        let text = text.to_owned();
        let how = Decide {
            follow,
            ..Decide::default()
        };
        self.decide(&pause.to_string(), Say::Message { text }, &how)
            .await
    }

    /// Changes something, tells what became of it, and follows the execution where that is wanted.
    async fn change(&mut self, request: Request, follow: bool) -> Result<Exit, CliError> {
        let door = Door::open(self.program, &request).await?;
        let changed = self.changed(&door, request, follow).await;
        // A call that was set going ends first; then it is known what came of it.
        if !door.is_instance() && matches!(&changed, Ok((view, _)) if view.goes_on) && !follow {
            self.progress(&["letting what runs now come to its end …".to_owned()])?;
        }
        door.close().await;
        let (mut view, exit) = changed?;
        if follow {
            return Ok(exit);
        }
        if view.goes_on {
            view = self.after(view).await;
        }
        self.tell_decided(&view, false)?;
        Ok(Exit::Done)
    }

    async fn changed(
        &mut self,
        door: &Door,
        request: Request,
        follow: bool,
    ) -> Result<(DecidedView, Exit), CliError> {
        let mut decided = None;
        door.ask(request, &mut |reply| {
            if let Reply::Decided(view) = reply {
                decided = Some(*view);
                return Ok(());
            }
            unexpected(&reply)
        })
        .await?;
        let nothing = || CliError::Control("told nothing".to_owned());
        let view = decided.ok_or_else(nothing)?;
        if !follow {
            return Ok((view, Exit::Done));
        }
        self.progress(&render::decided(&view, true))?;
        let exit = self.follow_to_end(door, view.execution, view.from).await?;
        Ok((view, exit))
    }

    /// Where it stands once the instance that was opened for the decision is gone, or still with the one that runs.
    async fn after(&self, view: DecidedView) -> DecidedView {
        let execution = view.execution.to_string();
        let request = Request::Show { execution };
        let door = Door::open(self.program, &request).await;
        let Ok(door) = door else {
            return view;
        };
        let mut now = view;
        let goes_on = door.is_instance();
        let asked = door
            .ask(request, &mut |reply| {
                if let Reply::Execution(shown) = reply {
                    now.state = shown.state;
                    now.goes_on = goes_on && !shown.state.is_over();
                }
                Ok(())
            })
            .await;
        // It was decided all the same; where it stands is only told beside it.
        drop(asked);
        door.close().await;
        now
    }
}
