//! Jobs: what a call actor is given, and what is reported where it could not.

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::machine::{CallReport, ModelFailure, ModelReport, Verdict};
use leasehold_execution::record::FinishKind;
use leasehold_models::{Model, ModelRequest, Reservation, Retry};
use leasehold_tools::CallFrame;
use leasehold_types::{CallId, Clock, FrameIndex, OwnershipGuard, Permit, Signal, Timestamp};

use crate::agent::AgentTool;
use crate::channel::{Ask, Channel};
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
    /// How long to wait first, where the attempt before it failed, and what lets it begin then.
    pub(crate) wait: Option<(Duration, Gate)>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) signal: Signal,
    pub(crate) frame: CallFrame,
    pub(crate) permit: Permit,
}

/// Lets a call begin that has waited: the lease may be lost by then.
pub(crate) struct Gate {
    pub(crate) guard: OwnershipGuard,
    pub(crate) intent: FrameIndex,
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

/// Why a job has no report of its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unreported<'a> {
    /// Its actor failed or was killed.
    Died(&'a str),
    /// It was stopped before it began.
    Stopped,
    /// This instance lacks what it takes.
    Lacking,
}

impl Outstanding {
    /// The report in place of the job's own.
    pub(crate) fn unreported(self, why: Unreported<'_>) -> ExecutionMsg {
        match self {
            Self::Model { turn, attempt } => ExecutionMsg::Model(ModelReport {
                turn,
                attempt,
                result: Err(ModelFailure {
                    error: why.of_model(),
                    retry: Retry::After(None),
                    may_be_billed: matches!(why, Unreported::Died(_)),
                }),
            }),
            Self::Call { call_id, attempt } => ExecutionMsg::Call(why.of_call(call_id, attempt)),
            Self::Send { number, attempt } => ExecutionMsg::Sent {
                number,
                attempt,
                error: Some(why.of_send()),
                decided: None,
            },
            Self::Wait => ExecutionMsg::Tick,
        }
    }
}

impl Unreported<'_> {
    fn of_model(self) -> String {
        match self {
            Self::Died(why) => format!("[call.died] the call's actor died: {why}"),
            Self::Stopped | Self::Lacking => "stopped before it began".to_owned(),
        }
    }

    fn of_call(self, call_id: CallId, attempt: u32) -> CallReport {
        match self {
            Self::Died(_) => failed(
                call_id,
                attempt,
                FinishKind::Panicked,
                "the call's actor died",
            ),
            Self::Stopped => stopped(call_id, attempt),
            Self::Lacking => failed(call_id, attempt, FinishKind::Error, "the tool is not there"),
        }
    }

    fn of_send(self) -> String {
        match self {
            Self::Died(why) => format!("the sending actor died: {why}"),
            Self::Stopped => "stopped before it was sent".to_owned(),
            Self::Lacking => "no channel serves its role here".to_owned(),
        }
    }
}

/// The report of a call that did not begin.
pub(super) fn stopped(call_id: CallId, attempt: u32) -> CallReport {
    failed(
        call_id,
        attempt,
        FinishKind::Cancelled,
        "stopped before it began",
    )
}

fn failed(call_id: CallId, attempt: u32, kind: FinishKind, why: &str) -> CallReport {
    CallReport {
        call_id,
        attempt,
        kind,
        text: format!("Tool error: {why}"),
        whole_bytes: None,
        spend: vec![],
        retryable: false,
        outcome_unknown: false,
        fatal: false,
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
