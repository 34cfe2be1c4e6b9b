//! What the edges of a test share: which bodies run, where a crash is due, and how it comes.
//!
//! - STAGE-1: nothing of a call that is cut comes back: what it returned is never reported.
//! - STAGE-2: between a crash and the next life no body begins, and the next life begins once every future of the last is gone.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;

use leasehold_tools::Body;
use leasehold_types::ExecutionId;

use crate::fault::{FaultPoint, Faults};
use crate::pulse::Pulse;

/// What is shared.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) faults: Faults,
    state: Mutex<State>,
    over: Condvar,
}

/// Whose body, and of which tool.
type BodyKey = (ExecutionId, String);

/// The bodies of one tool in one execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Bodies {
    all: u32,
    /// Those that have got as far as they come by themselves: futures at their first await, blocking ones at once.
    under_way: u32,
}

/// Ends the work of an instance at once.
pub(crate) type Kill = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    bodies: BTreeMap<BodyKey, Bodies>,
    /// How many of the bodies are futures: they end with their instance.
    futures: u32,
    /// Whether the instance is on its way down.
    is_dying: bool,
    /// Whether the test is over.
    is_over: bool,
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
            over: Condvar::new(),
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

    /// Waits until no future of the last life is left.
    pub(crate) async fn until_dropped(&self) {
        let dropped = async || (self.state().futures == 0).then_some(());
        self.pulse.until(|| (), dropped).await;
    }

    /// The next life begins.
    pub(crate) fn revive(&self) {
        self.state().is_dying = false;
    }

    /// So many crashes have been carried out.
    pub(crate) fn crashed(&self, count: u32) {
        {
            let mut state = self.state();
            state.crashes = state.crashes.saturating_sub(count);
        }
        self.pulse.beat();
    }

    /// Whether a body of this tool is under way in this execution.
    pub(crate) fn is_running(&self, execution: ExecutionId, tool: &str) -> bool {
        let key = (execution, tool.to_owned());
        let bodies = self.state().bodies.get(&key).copied();
        bodies.unwrap_or_default().under_way > 0
    }

    /// Whether any body runs in this execution.
    pub(crate) fn has_bodies(&self, execution: ExecutionId) -> bool {
        let state = self.state();
        let mut running = state.bodies.keys();
        running.any(|(of, _)| *of == execution)
    }

    /// Kills the instance and has it started again, if a fault waits for this point. Whether it did.
    pub(crate) fn cut(&self, point: &FaultPoint) -> bool {
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
            state.is_dying = true;
            state.kill.clone()
        };
        if let Some(kill) = kill {
            kill();
        }
        self.call();
    }

    /// Takes note of a body; none where the instance is on its way down.
    pub(crate) fn begins(
        self: &Arc<Self>,
        body: Body,
        execution: ExecutionId,
        tool: &str,
    ) -> Option<Running> {
        let key = (execution, tool.to_owned());
        {
            let mut state = self.state();
            if state.is_dying {
                return None;
            }
            state.bodies.entry(key.clone()).or_default().all += 1;
            state.futures += u32::from(body == Body::Async);
        }
        let mut running = Running {
            stage: Arc::clone(self),
            body,
            key,
            is_under_way: false,
        };
        if body == Body::Blocking {
            running.is_under_way();
        }
        Some(running)
    }

    /// Blocks a blocking body's thread until the test is over: before, somebody might still wait for its result.
    pub(crate) fn wait_for_the_end(&self) {
        let state = self.state();
        let over = self.over.wait_while(state, |state| !state.is_over);
        drop(over.unwrap_or_else(PoisonError::into_inner));
    }

    /// The test is over: what waits for that goes on.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.is_over = true;
        state.kill = None;
        drop(state);
        self.over.notify_all();
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
pub(crate) struct Running {
    stage: Arc<Stage>,
    body: Body,
    key: BodyKey,
    is_under_way: bool,
}

impl Running {
    /// The body has got as far as it comes by itself.
    pub(crate) fn is_under_way(&mut self) {
        self.is_under_way = true;
        if let Some(bodies) = self.stage.state().bodies.get_mut(&self.key) {
            bodies.under_way += 1;
        }
        self.stage.pulse.beat();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.stage.state();
        state.futures -= u32::from(self.body == Body::Async);
        if let Some(bodies) = state.bodies.get_mut(&self.key) {
            bodies.all -= 1;
            bodies.under_way -= u32::from(self.is_under_way);
            if bodies.all == 0 {
                state.bodies.remove(&self.key);
            }
        }
        drop(state);
        self.stage.pulse.beat();
    }
}

/// A model call that is under way, until dropped.
pub(crate) struct Chat(Arc<Stage>);

impl Chat {
    pub(crate) fn new(stage: &Arc<Stage>) -> Self {
        stage.state().futures += 1;
        Self(Arc::clone(stage))
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        self.0.state().futures -= 1;
        self.0.pulse.beat();
    }
}
