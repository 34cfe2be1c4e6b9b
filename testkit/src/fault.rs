//! Fault points: named after what they cut.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use leasehold_tools::Tool;

/// A point at which an instance can be made to crash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultPoint {
    /// A call of this tool was intended and permitted; its body has not begun.
    BeforeEffect(String),
    /// The body of this tool has returned; its outcome is not journaled.
    AfterEffect(String),
    /// The model of this agent has answered; its answer is not journaled.
    AfterAnswer(String),
}

/// Before the body of `tool` begins: the call is intended and permitted.
#[must_use]
pub fn before_effect_of(tool: impl Tool) -> FaultPoint {
    FaultPoint::BeforeEffect(tool.spec().name.into_owned())
}

/// After the body of `tool` has returned, and before its outcome is journaled.
#[must_use]
pub fn after_effect_of(tool: impl Tool) -> FaultPoint {
    FaultPoint::AfterEffect(tool.spec().name.into_owned())
}

/// After the model of `agent` has answered, and before its answer is journaled.
#[must_use]
pub fn after_answer_of(agent: impl Into<String>) -> FaultPoint {
    FaultPoint::AfterAnswer(agent.into())
}

impl fmt::Display for FaultPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BeforeEffect(tool) => write!(f, "before the effect of {tool}"),
            Self::AfterEffect(tool) => write!(f, "after the effect of {tool}"),
            Self::AfterAnswer(agent) => write!(f, "after an answer of {agent}"),
        }
    }
}

/// The faults that wait for their point, in the order they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Faults(Mutex<Vec<FaultPoint>>);

impl Faults {
    pub(crate) fn arm(&self, point: FaultPoint) {
        self.armed().push(point);
    }

    /// Takes the fault of this point, if one waits: it happens once.
    pub(crate) fn take(&self, point: &FaultPoint) -> bool {
        let mut armed = self.armed();
        let found = armed.iter().position(|armed| armed == point);
        found.map(|at| armed.remove(at)).is_some()
    }

    /// The faults whose point was not reached.
    pub(crate) fn left(&self) -> Vec<FaultPoint> {
        self.armed().clone()
    }

    fn armed(&self) -> MutexGuard<'_, Vec<FaultPoint>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
