//! What the wrapped edges of a test share: which bodies run, where a crash is due, and how it comes.
//!
//! Faults work through the seams the runtime is given, tool and model; nothing in the runtime knows of them.
//!
//! - STAGE-1: nothing of a call that is cut comes back: what it returned is never reported.

use std::collections::BTreeMap;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use leasehold_actors::{Ask, Channel, ChannelError, Channels, Sent};
use leasehold_models::{Model, ModelAnswer, ModelError, ModelRequest, Price, Reservation};
use leasehold_tools::{Body, CallContext, Tool, ToolCall, ToolError, ToolFuture, ToolSpec};
use leasehold_types::{BoxFuture, ExecutionId, Permit, Signal};

use crate::fault::{FaultPoint, Faults};
use crate::pulse::Pulse;

/// What is shared.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) faults: Faults,
    state: Mutex<State>,
}

/// Ends the work of an instance at once.
pub(crate) type Kill = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    bodies: BTreeMap<(ExecutionId, String), u32>,
    /// Crashes that were asked for and not carried out.
    crashes: u32,
    /// Ends the instance's work at once.
    kill: Option<Kill>,
    /// Whoever carries crashes out.
    hand: Option<Thread>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self {
            pulse: Arc::new(Pulse::new()),
            faults: Faults::default(),
            state: Mutex::default(),
        }
    }

    /// The instance that a fault kills from now on.
    pub(crate) fn kills(&self, kill: Option<Kill>) {
        self.state().kill = kill;
    }

    /// Who is told that there is something to do.
    pub(crate) fn call_for(&self, hand: Thread) {
        self.state().hand = Some(hand);
    }

    /// Wakes the hand.
    pub(crate) fn call(&self) {
        if let Some(hand) = &self.state().hand {
            hand.unpark();
        }
    }

    /// How many crashes were asked for and not carried out.
    pub(crate) fn crashes(&self) -> u32 {
        self.state().crashes
    }

    /// So many crashes have been carried out.
    pub(crate) fn crashed(&self, count: u32) {
        {
            let mut state = self.state();
            state.crashes = state.crashes.saturating_sub(count);
        }
        self.pulse.beat();
    }

    /// Whether a body of this tool runs in this execution.
    pub(crate) fn is_running(&self, execution: ExecutionId, tool: &str) -> bool {
        let key = (execution, tool.to_owned());
        self.state().bodies.contains_key(&key)
    }

    /// Kills the instance and has it started again, if a fault waits for this point. Whether it did.
    fn cut(&self, point: &FaultPoint) -> bool {
        if !self.faults.take(point) {
            return false;
        }
        self.crash();
        true
    }

    /// Kills the instance and has it started again.
    pub(crate) fn crash(&self) {
        let kill = {
            let mut state = self.state();
            state.crashes += 1;
            state.kill.clone()
        };
        if let Some(kill) = kill {
            kill();
        }
        self.call();
    }

    fn begins(self: &Arc<Self>, execution: ExecutionId, tool: &str) -> Running {
        let key = (execution, tool.to_owned());
        *self.state().bodies.entry(key.clone()).or_default() += 1;
        self.pulse.beat();
        Running {
            stage: Arc::clone(self),
            key,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("bodies", &self.bodies)
            .field("crashes", &self.crashes)
            .finish_non_exhaustive()
    }
}

/// A body that runs, until dropped.
struct Running {
    stage: Arc<Stage>,
    key: (ExecutionId, String),
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.stage.state();
        if let Some(count) = state.bodies.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                state.bodies.remove(&self.key);
            }
        }
        drop(state);
        self.stage.pulse.beat();
    }
}

/// A tool with its fault points around it. What it is stays the same.
pub(crate) struct StagedTool {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) stage: Arc<Stage>,
}

impl Tool for StagedTool {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        let spec = self.tool.spec();
        let name = spec.name.into_owned();
        let (before, after) = (
            FaultPoint::BeforeEffect(name.clone()),
            FaultPoint::AfterEffect(name.clone()),
        );
        let running = match call.take::<CallContext>() {
            Ok(context) => self.stage.begins(context.execution_id(), &name),
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let (tool, stage) = (Arc::clone(&self.tool), Arc::clone(&self.stage));
        match spec.body {
            Body::Async => Box::pin(async move {
                if stage.cut(&before) {
                    pending::<()>().await;
                }
                let result = tool.call(call).await;
                if stage.cut(&after) {
                    pending::<()>().await;
                }
                drop(running);
                result
            }),
            // Done when this returns: its thread waits where a future would stay pending.
            Body::Blocking => {
                if stage.cut(&before) {
                    stage.wait_for_the_crash();
                    return given_up();
                }
                let result = futures_util::FutureExt::now_or_never(tool.call(call));
                if stage.cut(&after) {
                    stage.wait_for_the_crash();
                    return given_up();
                }
                drop(running);
                match result {
                    Some(result) => Box::pin(std::future::ready(result)),
                    None => Box::pin(pending()),
                }
            }
        }
    }
}

impl Stage {
    /// Blocks a blocking body's thread until the instance it ran on is gone: then its result goes nowhere.
    fn wait_for_the_crash(&self) {
        while self.crashes() > 0 {
            std::thread::yield_now();
        }
    }
}

/// What a blocking body returns that nobody waits for any more.
fn given_up() -> ToolFuture {
    let error = ToolError::new("the instance crashed").outcome_unknown();
    Box::pin(std::future::ready(Err(error)))
}

/// A model with its fault point behind it.
#[derive(Debug)]
pub(crate) struct StagedModel {
    pub(crate) agent: String,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) stage: Arc<Stage>,
}

impl Model for StagedModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn chat<'a>(
        &'a self,
        permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let answered = self.model.chat(permit, request, signal).await;
            let point = FaultPoint::AfterAnswer(self.agent.clone());
            if answered.is_ok() && self.stage.cut(&point) {
                pending::<()>().await;
            }
            answered
        })
    }

    fn estimate(&self, request: &ModelRequest) -> Reservation {
        self.model.estimate(request)
    }
}

/// The channel of every role: leaves the question to the test.
#[derive(Debug)]
pub(crate) struct TheTest;

impl Channel for TheTest {
    fn name(&self) -> &'static str {
        "test"
    }

    fn send(&self, _: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

impl Channels for TheTest {
    fn channel(&self, _: &str) -> Option<Arc<dyn Channel>> {
        Some(Arc::new(Self))
    }
}
