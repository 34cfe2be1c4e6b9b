//! Carrying out steps: each takes a permit, becomes a call actor, and reports.

use leasehold_execution::Step;
use leasehold_types::{FrameIndex, PermitRefused, StepIntent};
use ractor::{Actor, ActorRef};

use super::{Drain, ExecutionMsg, Handled, State};
use crate::call::{CallActor, Job, Outstanding, Unreported};

/// The least time a call needs before the lease's deadline: what one round trip to the outside takes at least.
pub(crate) const CALL_NEEDS: std::time::Duration = std::time::Duration::from_millis(50);

impl State {
    pub(super) async fn carry_out(
        &mut self,
        myself: &ActorRef<ExecutionMsg>,
        frame: FrameIndex,
        step: Step,
    ) -> Handled {
        if let Step::Abort(reason) = step {
            self.signal.abort(reason);
            return Ok(());
        }
        let is_held_back = self.drain != Drain::No && matches!(step, Step::AskModel { .. });
        if is_held_back || self.is_over()? {
            return Ok(());
        }
        if self.signal.is_aborted() {
            return self.not_started(myself, &step, Unreported::Stopped);
        }
        let intent = StepIntent {
            frame,
            needs: CALL_NEEDS,
        };
        let permit = match self.guard.permit(self.deps.clock.uptime(), intent) {
            Ok(permit) => permit,
            Err(refused @ PermitRefused::NotDurable { .. }) => return Err(refused.into()),
            Err(PermitRefused::Aborted(_)) => return self.is_over().map(drop),
            Err(PermitRefused::Lost(lost)) => {
                // PERMIT-3: the deadline has passed, and whoever keeps it has not said so yet.
                self.guard.lose(lost.reason);
                return self.is_over().map(drop);
            }
        };
        match self.job(&step, permit) {
            Some(job) => self.start(myself, job).await,
            None => self.not_started(myself, &step, Unreported::Lacking),
        }
    }

    /// SHELL-2.
    fn not_started(
        &self,
        myself: &ActorRef<ExecutionMsg>,
        step: &Step,
        why: Unreported<'_>,
    ) -> Handled {
        let outstanding = match step {
            Step::AskModel { turn, attempt } => Outstanding::Model {
                turn: *turn,
                attempt: *attempt,
            },
            Step::RunCall {
                call_id, attempt, ..
            } => Outstanding::Call {
                call_id: call_id.clone(),
                attempt: *attempt,
            },
            Step::SendQuestion { number, attempt } => Outstanding::Send {
                number: *number,
                attempt: *attempt,
            },
            Step::Abort(_) => return Ok(()),
        };
        myself.cast(outstanding.unreported(why))?;
        Ok(())
    }

    pub(super) async fn start(&mut self, myself: &ActorRef<ExecutionMsg>, job: Job) -> Handled {
        let outstanding = job.outstanding();
        let arguments = (job, myself.clone());
        let (actor, _task) =
            Actor::spawn_linked(None, CallActor, arguments, myself.get_cell()).await?;
        self.calls.insert(actor.get_id(), outstanding);
        Ok(())
    }
}
