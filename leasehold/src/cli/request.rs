//! What a command asks of whoever has the store, and what it is told: one type for the socket and for the process itself.

use serde::{Deserialize, Serialize};

use super::view::{
    DecidedView, EventView, ExecutionRow, ExecutionView, FrameView, PauseView, State,
};

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Request {
    /// The newest executions.
    List {
        /// How many at most.
        limit: usize,
        /// Only those in this state.
        #[serde(default)]
        state: Option<State>,
    },
    /// One execution with its timeline.
    Show {
        /// Its id, or enough of it.
        execution: String,
    },
    /// One execution as it goes on.
    Watch {
        /// Its id, or enough of it.
        execution: String,
        /// The first frame that is told.
        from: u64,
        /// What ends it.
        until: Until,
    },
    /// Its journal, frame by frame.
    Dump {
        /// Its id, or enough of it.
        execution: String,
        /// Whether records stand as they are stored, secrets included.
        raw: bool,
    },
    /// The open pauses.
    Approvals {
        /// How many at most.
        limit: usize,
        /// Only those of this execution.
        #[serde(default)]
        execution: Option<String>,
    },
    /// Decide a pause.
    Decide {
        /// Its reference, the execution's id shortened or not.
        pause: String,
        /// What is decided.
        verdict: Say,
        /// The beginning of the digest of what was shown.
        #[serde(default)]
        digest: Option<String>,
        /// As whom, where that is not the user itself.
        #[serde(default)]
        act_as: Option<String>,
    },
    /// Cancel an execution.
    Cancel {
        /// Its id, or enough of it.
        execution: String,
        /// Why.
        reason: String,
    },
    /// Let a quarantined execution go on.
    Retry {
        /// Its id, or enough of it.
        execution: String,
    },
    /// Start an execution.
    Start {
        /// The agent.
        agent: String,
        /// What it is asked.
        input: String,
        /// The conversation it belongs to.
        #[serde(default)]
        thread: Option<String>,
        /// The key of this start.
        #[serde(default)]
        key: Option<String>,
    },
}

/// What ends a watch, besides the execution's own end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Until {
    /// Nothing.
    End,
    /// A rest.
    Rest,
    /// A rest in which somebody must act: a pause is open, or it is blocked.
    Asked,
}

/// What is said to a pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Say {
    /// The call may run.
    Approve {
        /// With these arguments, as JSON text.
        #[serde(default)]
        arguments: Option<String>,
    },
    /// It may not.
    Reject {
        /// Why, for the model.
        reason: String,
    },
    /// What the person says next.
    Message {
        /// The text.
        text: String,
    },
}

impl Request {
    /// Whether it takes a running instance: it changes something, or starts something.
    pub(super) const fn needs_instance(&self) -> bool {
        match self {
            Self::Decide { .. } | Self::Cancel { .. } | Self::Retry { .. } | Self::Start { .. } => {
                true
            }
            Self::List { .. }
            | Self::Show { .. }
            | Self::Watch { .. }
            | Self::Dump { .. }
            | Self::Approvals { .. } => false,
        }
    }
}

/// What is told, in order; the last of a request is none of these but its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", content = "it", rename_all = "snake_case")]
pub(super) enum Reply {
    /// One execution of a list, the newest first.
    Row(Box<ExecutionRow>),
    /// One execution, whole.
    Execution(Box<ExecutionView>),
    /// Something that happened in the execution that is watched.
    Event(Box<EventView>),
    /// One frame of a dump.
    Frame(Box<FrameView>),
    /// One open pause.
    Pause(Box<PauseView>),
    /// What became of a decision.
    Decided(Box<DecidedView>),
    /// The execution that was started.
    Started {
        /// Its id.
        execution: leasehold_types::ExecutionId,
    },
    /// There are more than were asked for.
    More {
        /// How many were looked at, in all.
        of: u64,
    },
    /// What was asked goes on for a while; a client may wait for more.
    StillThere,
}
