//! The call actor: one model call, tool call, send or wait, with its own timer and signal, until it has an outcome.
//!
//! **Supervision.** Its work runs in `post_start`: killing the actor drops the work at its next await, and nothing of it survives
//! but what a blocking body does on its own thread. It ends by itself after one report. If it panics or is killed, its execution
//! journals an error result in its place; parent and siblings go on. It has no children.

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::machine::{CallReport, ModelFailure, ModelReport, Verdict};
use leasehold_execution::record::FinishKind;
use leasehold_models::{Model, ModelError, ModelRequest, ModelSpend, Reservation, Retry};
use leasehold_tools::{CallEnd, CallFrame, CallOutcome, Cut, invoke};
use leasehold_types::{AbortReason, CallId, Clock, Permit, Signal, SpendEntry, Timestamp};
use ractor::{Actor, ActorProcessingErr, ActorRef};

use crate::agent::AgentTool;
use crate::channel::{Ask, Channel, Sent};
use crate::execution::ExecutionMsg;

/// What a call actor is for.
pub(crate) enum Job {
    /// Ask a model.
    Model(Box<ModelJob>),
    /// Run a tool.
    Tool(Box<ToolJob>),
    /// Send a question.
    Send(Box<SendJob>),
    /// Wait for a point in time.
    Wait {
        /// How long.
        after: Duration,
        /// On which clock.
        clock: Arc<dyn Clock>,
    },
}

pub(crate) struct ModelJob {
    pub(crate) turn: u32,
    pub(crate) attempt: u32,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) caller: String,
    pub(crate) request: ModelRequest,
    pub(crate) reservation: Reservation,
    pub(crate) permit: Permit,
    pub(crate) signal: Signal,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
}

pub(crate) struct ToolJob {
    pub(crate) call_id: CallId,
    pub(crate) attempt: u32,
    pub(crate) tool: AgentTool,
    pub(crate) arguments: String,
    /// How long to wait first, where the attempt before it failed.
    pub(crate) wait: Option<Duration>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signal: Signal,
    pub(crate) frame: CallFrame,
    pub(crate) permit: Permit,
}

pub(crate) struct SendJob {
    pub(crate) number: u32,
    pub(crate) attempt: u32,
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) ask: Ask,
    pub(crate) signal: Signal,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) timeout: Duration,
}

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

/// Drives `work` until it ends, `timeout` passes on `clock`, or `signal` is aborted.
async fn within<T>(
    work: impl Future<Output = T>,
    clock: &dyn Clock,
    timeout: Duration,
    signal: &Signal,
) -> Result<T, AbortReason> {
    let mut work = std::pin::pin!(work);
    // Work that only computes ends here, before a timer is made.
    let first =
        std::future::poll_fn(|context| std::task::Poll::Ready(work.as_mut().poll(context))).await;
    if let std::task::Poll::Ready(done) = first {
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

async fn call(job: ToolJob) -> CallReport {
    let ToolJob {
        call_id,
        attempt,
        tool,
        arguments,
        wait,
        clock,
        signal,
        frame,
        permit,
    } = job;
    if let Some(wait) = wait {
        tokio::select! {
            biased;
            _reason = signal.aborted() => {}
            () = clock.sleep(wait) => {}
        }
    }
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

/// What a job's actor reports if it dies before it could.
pub(crate) enum Outstanding {
    Model { turn: u32, attempt: u32 },
    Call { call_id: CallId, attempt: u32 },
    Send { number: u32, attempt: u32 },
    Wait,
}

impl Job {
    pub(crate) fn outstanding(&self) -> Outstanding {
        match self {
            Self::Model(job) => Outstanding::Model {
                turn: job.turn,
                attempt: job.attempt,
            },
            Self::Tool(job) => Outstanding::Call {
                call_id: job.call_id.clone(),
                attempt: job.attempt,
            },
            Self::Send(job) => Outstanding::Send {
                number: job.number,
                attempt: job.attempt,
            },
            Self::Wait { .. } => Outstanding::Wait,
        }
    }
}

impl Outstanding {
    /// The report in place of an actor that died.
    pub(crate) fn died(self, why: &str) -> ExecutionMsg {
        match self {
            Self::Model { turn, attempt } => ExecutionMsg::Model(ModelReport {
                turn,
                attempt,
                result: Err(ModelFailure {
                    error: format!("[call.died] the call's actor died: {why}"),
                    retry: Retry::After(None),
                    may_be_billed: true,
                }),
            }),
            Self::Call { call_id, attempt } => ExecutionMsg::Call(CallReport {
                call_id,
                attempt,
                kind: FinishKind::Panicked,
                text: "Tool error: the call's actor died".to_owned(),
                whole_bytes: None,
                spend: vec![],
                retryable: false,
                outcome_unknown: false,
                fatal: false,
            }),
            Self::Send { number, attempt } => {
                let error = Some(format!("the sending actor died: {why}"));
                ExecutionMsg::Sent {
                    number,
                    attempt,
                    error,
                    decided: None,
                }
            }
            Self::Wait => ExecutionMsg::Tick,
        }
    }
}

/// How long to wait for `until`.
pub(crate) fn wait_for(until: Timestamp, clock: &Arc<dyn Clock>) -> Job {
    Job::Wait {
        after: until.since(clock.now()),
        clock: Arc::clone(clock),
    }
}

/// A rule's answer and the rule's name.
pub(crate) type Decided = Option<(String, Verdict)>;
