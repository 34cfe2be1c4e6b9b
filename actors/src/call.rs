//! The call actor: one model call, tool call, send or wait, with its own timer and signal, until it has an outcome.
//!
//! **Supervision.** Its work runs in `post_start`: killing the actor drops the work at its next await, and nothing of it survives
//! but what a blocking body does on its own thread. It ends by itself after one report. If it panics or is killed, its execution
//! journals an error result in its place; parent and siblings go on. It has no children.

mod job;

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use leasehold_execution::machine::{CallReport, ModelFailure, ModelReport};
use leasehold_execution::record::FinishKind;
use leasehold_models::{ModelError, ModelSpend, Retry};
use leasehold_tools::{CallEnd, CallOutcome, Cut, invoke};
use leasehold_types::{AbortReason, CallId, Clock, PermitRefused, Signal, SpendEntry, StepIntent};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::agent::AgentTool;
use crate::channel::Sent;
use crate::execution::{CALL_NEEDS, ExecutionMsg};

use job::stopped;
pub(crate) use job::{
    Decided, Gate, Job, ModelJob, Outstanding, SendJob, ToolJob, Unreported, wait_for,
};

/// Runs one job and reports to its execution.
pub(crate) struct CallActor;

impl Actor for CallActor {
    type Msg = ();
    type State = Option<(Job, ActorRef<ExecutionMsg>)>;
    type Arguments = (Job, ActorRef<ExecutionMsg>);

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        arguments: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(Some(arguments))
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((job, execution)) = state.take() {
            let report = run(job).await;
            // An execution that is gone needs no report: its successor finds the intent in the journal.
            let _gone = execution.cast(report);
        }
        myself.stop(None);
        Ok(())
    }
}

async fn run(job: Job) -> ExecutionMsg {
    match job {
        Job::Model(job) => ExecutionMsg::Model(ask(*job).await),
        Job::Tool(job) => ExecutionMsg::Call(call(*job).await),
        Job::Send(job) => send(*job).await,
        Job::Wait { after, clock } => {
            clock.sleep(after).await;
            ExecutionMsg::Tick
        }
    }
}

/// Drives `work` until it ends, `timeout` passes on `clock`, or `signal` is aborted; not at all where it is already.
async fn within<T>(
    work: impl Future<Output = T>,
    clock: &dyn Clock,
    timeout: Duration,
    signal: &Signal,
) -> Result<T, AbortReason> {
    if let Some(reason) = signal.reason() {
        return Err(reason);
    }
    let mut work = std::pin::pin!(work);
    // Work that only computes ends here, before a timer is made.
    if let Poll::Ready(done) = poll_fn(|context| Poll::Ready(work.as_mut().poll(context))).await {
        return Ok(done);
    }
    tokio::select! {
        biased;
        reason = signal.aborted() => Err(reason),
        done = &mut work => Ok(done),
        () = clock.sleep(timeout) => Err(AbortReason::TimedOut { after: timeout }),
    }
}

async fn ask(job: ModelJob) -> ModelReport {
    let ModelJob {
        turn,
        attempt,
        model,
        caller,
        request,
        reservation,
        permit,
        ..
    } = job;
    let chat = leasehold_models::ask(&*model, permit, &request, &job.signal);
    let answered = within(chat, &*job.clock, job.timeout, &job.signal).await;
    let result = match answered {
        Ok(Ok(answer)) => {
            let booked = ModelSpend::settle(model.price(), &answer, reservation);
            let spend = SpendEntry {
                caller,
                service: model.name().to_owned(),
                tokens: booked.tokens,
                money: booked.money,
                source: booked.source,
            };
            Ok((answer, spend))
        }
        Ok(Err(error)) => Err(ModelFailure::from(&error)),
        Err(reason @ AbortReason::TimedOut { .. }) => Err(ModelFailure {
            error: format!("[model.timed-out] {reason}"),
            retry: Retry::After(None),
            may_be_billed: true,
        }),
        Err(reason) => Err(ModelFailure::from(&ModelError::Aborted(reason))),
    };
    ModelReport {
        turn,
        attempt,
        result,
    }
}

/// Waits out what the attempt before asked for, and takes a new permit: the lease may be lost by then.
async fn begin(job: &mut ToolJob) -> Result<(), PermitRefused> {
    let Some((wait, gate)) = job.wait.take() else {
        return Ok(());
    };
    tokio::select! {
        biased;
        reason = job.signal.aborted() => return Err(PermitRefused::Aborted(reason)),
        () = job.clock.sleep(wait) => {}
    }
    let step = StepIntent {
        frame: gate.intent,
        needs: CALL_NEEDS,
    };
    match gate.guard.permit(job.clock.uptime(), step) {
        Ok(permit) => {
            job.permit = permit;
            Ok(())
        }
        Err(refused) => {
            if let PermitRefused::Lost(lost) = &refused {
                gate.guard.lose(lost.reason);
            }
            Err(refused)
        }
    }
}

/// Tells what a tool has beside its future that its call is over, however it ended.
struct Over(Signal);

impl Drop for Over {
    fn drop(&mut self) {
        // A reason that came before stays the one that is read.
        if !self.0.is_aborted() {
            let over = AbortReason::Stopped("the call is over".to_owned());
            self.0.abort(over);
        }
    }
}

async fn call(mut job: ToolJob) -> CallReport {
    let _over = Over(job.signal.clone());
    if begin(&mut job).await.is_err() {
        return stopped(job.call_id, job.attempt);
    }
    let ToolJob {
        call_id,
        attempt,
        tool,
        arguments,
        frame,
        permit,
        ..
    } = job;
    let outcome = invoke(permit, &tool.bound, arguments.as_str(), frame).await;
    report(call_id, attempt, &tool, outcome)
}

fn report(call_id: CallId, attempt: u32, tool: &AgentTool, outcome: CallOutcome) -> CallReport {
    let CallOutcome { end, spend } = outcome;
    let kind = match &end {
        CallEnd::Done(_) => FinishKind::Ok,
        CallEnd::InvalidInput(_) => FinishKind::InvalidInput,
        CallEnd::NotStarted(_) | CallEnd::Aborted(_) => FinishKind::Cancelled,
        CallEnd::TimedOut(_) => FinishKind::TimedOut,
        CallEnd::Failed(_) => FinishKind::Error,
        CallEnd::Panicked(_) => FinishKind::Panicked,
        CallEnd::InvalidOutput(_) => FinishKind::InvalidOutput,
    };
    let failure = match &end {
        CallEnd::Failed(error) => (error.is_retryable(), error.is_outcome_unknown()),
        CallEnd::Done(_)
        | CallEnd::InvalidInput(_)
        | CallEnd::NotStarted(_)
        | CallEnd::Aborted(_)
        | CallEnd::TimedOut(_)
        | CallEnd::Panicked(_)
        | CallEnd::InvalidOutput(_) => (false, false),
    };
    if let CallEnd::Panicked(_) | CallEnd::InvalidOutput(_) = &end {
        tracing::warn!(%call_id, tool = %tool.bound.name(), kind = ?kind, "tool broke its contract");
    }
    let fatal = end.is_thrown(tool.bound.spec().on_error);
    let mut text = end.text();
    let cut = Cut::of(&text, tool.result_bound.size);
    if let Some(cut) = &cut {
        text.truncate(cut.kept);
        text.push_str(&cut.to_string());
    }
    CallReport {
        call_id,
        attempt,
        kind,
        text,
        whole_bytes: cut.map(|cut| cut.total as u64),
        spend,
        retryable: failure.0,
        outcome_unknown: failure.1,
        fatal,
    }
}

async fn send(job: SendJob) -> ExecutionMsg {
    let SendJob {
        number,
        attempt,
        channel,
        ask,
        ..
    } = job;
    let name = channel.name().to_owned();
    let sent = within(channel.send(ask), &*job.clock, job.timeout, &job.signal).await;
    let (error, decided) = match sent {
        Ok(Ok(Sent::AwaitReply)) => (None, None),
        Ok(Ok(Sent::Decided(verdict))) => (None, Some(verdict)),
        Ok(Err(error)) => (Some(error.to_string()), None),
        Err(reason) => (Some(reason.to_string()), None),
    };
    ExecutionMsg::Sent {
        number,
        attempt,
        error,
        decided: decided.map(|verdict| (name, verdict)),
    }
}
