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
}

type Ended = std::thread::Result<Result<Value, ToolError>>;

/// Runs a blocking tool's body on the pool. Dropping the future gives the body up: its result goes nowhere.
pub(crate) fn offloaded(
    pool: &dyn BlockingPool,
    tool: Arc<dyn Tool>,
    call: ToolCall,
) -> ToolFuture {
    let slot = Arc::new(Slot::default());
    let sender = Sender(slot.clone());
    pool.run(Box::new(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| tool.call(call).now_or_never()));
        let unready = || ToolError::new("a blocking tool's future was not ready at its first poll");
        sender.send(ended.map(|ready| ready.unwrap_or_else(|| Err(unready()))));
    }));
    Box::pin(async move {
        match slot.received().await {
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
                State::Closed => Poll::Ready(None),
            },
        )
        .await
    }
}

struct Sender(Arc<Slot>);

impl Sender {
    fn send(self, ended: Ended) {
        if let State::Awaited(waker) = self.0.swap(State::Full(ended)) {
            waker.wake();
        }
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        let mut state = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        let waker = match &*state {
            State::Full(_) | State::Closed => return,
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
