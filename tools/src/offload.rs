//! Blocking bodies run beside the runtime: given up at a timeout or abort, never waited for.

use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use futures_util::FutureExt;
use serde_json::Value;

use crate::error::ToolError;
use crate::extract::ToolCall;
use crate::tool::{Tool, ToolFuture};

/// Threads on which blocking tools run.
pub trait BlockingPool: Send + Sync + fmt::Debug {
    /// Runs `work` on a thread that may block. May queue it; dropping it counts as a failed call.
    fn run(&self, work: Box<dyn FnOnce() + Send>);

    /// A body ended after its call was given up: its result is dropped. To be counted.
    fn ended_late(&self) {}

    /// How often it was; zero where it is not counted.
    fn late_results(&self) -> u64 {
        0
    }
}

type Ended = std::thread::Result<Result<Value, ToolError>>;

/// Runs a blocking tool's body on the pool. Dropping the future gives the body up: its result goes nowhere.
pub(crate) fn offloaded(
    pool: &Arc<dyn BlockingPool>,
    tool: Arc<dyn Tool>,
    call: ToolCall,
) -> ToolFuture {
    let slot = Arc::new(Slot::default());
    let sender = Sender(slot.clone());
    let told = Arc::clone(pool);
    pool.run(Box::new(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| tool.call(call).now_or_never()));
        let unready = || ToolError::new("a blocking tool's future was not ready at its first poll");
        let ended = ended.map(|ready| ready.unwrap_or_else(|| Err(unready())));
        if sender.send(ended) == Received::GivenUp {
            told.ended_late();
        }
    }));
    let receiver = Receiver {
        slot,
        pool: Arc::clone(pool),
    };
    Box::pin(async move {
        match receiver.slot.received().await {
            Some(Ok(result)) => result,
            Some(Err(panic)) => resume_unwind(panic),
            None => Err(ToolError::new("the blocking pool dropped the call")),
        }
    })
}

/// Where one result is handed over.
#[derive(Default)]
struct Slot(Mutex<State>);

#[derive(Default)]
enum State {
    #[default]
    Empty,
    Awaited(Waker),
    Full(Ended),
    Closed,
    GivenUp,
}

impl Slot {
    fn swap(&self, state: State) -> State {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *current, state)
    }

    async fn received(&self) -> Option<Ended> {
        poll_fn(
            |context| match self.swap(State::Awaited(context.waker().clone())) {
                State::Empty | State::Awaited(_) => Poll::Pending,
                State::Full(ended) => Poll::Ready(Some(ended)),
                State::Closed | State::GivenUp => Poll::Ready(None),
            },
        )
        .await
    }
}

/// Whether somebody waits for a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Received {
    /// Somebody does, or will.
    Awaited,
    /// The call was given up before.
    GivenUp,
}

/// The call's own end. Dropped with its future.
struct Receiver {
    slot: Arc<Slot>,
    pool: Arc<dyn BlockingPool>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let State::Full(_) = self.slot.swap(State::GivenUp) {
            // It came, and the call was given up before it was fetched.
            self.pool.ended_late();
        }
    }
}

struct Sender(Arc<Slot>);

impl Sender {
    fn send(self, ended: Ended) -> Received {
        match self.0.swap(State::Full(ended)) {
            State::Awaited(waker) => {
                waker.wake();
                Received::Awaited
            }
            State::Empty | State::Full(_) | State::Closed => Received::Awaited,
            State::GivenUp => Received::GivenUp,
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waker = match &*state {
            State::Full(_) | State::Closed | State::GivenUp => return,
            State::Empty => None,
            State::Awaited(waker) => Some(waker.clone()),
        };
        *state = State::Closed;
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
