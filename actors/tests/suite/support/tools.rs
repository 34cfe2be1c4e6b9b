//! Tools that a test holds by the hand.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use leasehold_tools::{CallContext, ToolCall};
use leasehold_types::{AbortReason, Effect, Signal};
use serde_json::json;
use tokio::sync::{Notify, Semaphore};

use super::{TestTool, tool};

/// Knows of each run of a tool that waits to be let go.
#[derive(Debug)]
pub(crate) struct Hand {
    pub(crate) runs: AtomicU32,
    pub(crate) dropped: AtomicU32,
    running: Notify,
    gate: Semaphore,
    signals: Mutex<Vec<Signal>>,
    pub(crate) keys: Mutex<Vec<String>>,
}

struct Dropped(Arc<Hand>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Hand {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            runs: AtomicU32::new(0),
            dropped: AtomicU32::new(0),
            running: Notify::new(),
            gate: Semaphore::new(0),
            signals: Mutex::default(),
            keys: Mutex::default(),
        })
    }

    /// A tool of this class whose runs wait to be let go.
    pub(crate) fn tool(self: &Arc<Self>, name: &'static str, effect: Effect) -> TestTool {
        let hand = Arc::clone(self);
        tool(name, effect, move |call: ToolCall| {
            let context: CallContext = call.take().unwrap();
            let key = context.idempotency_key().to_string();
            hand.keys.lock().unwrap().push(key);
            hand.signals.lock().unwrap().push(context.signal().clone());
            hand.runs.fetch_add(1, Ordering::SeqCst);
            let dropped = Dropped(Arc::clone(&hand));
            Box::pin(async move {
                dropped.0.running.notify_one();
                dropped.0.gate.acquire().await.unwrap().forget();
                Ok(json!({"done": true}))
            })
        })
    }

    pub(crate) async fn running(&self) {
        self.running.notified().await;
    }

    /// Lets so many runs go on, now or later.
    pub(crate) fn let_go(&self, runs: usize) {
        self.gate.add_permits(runs);
    }

    pub(crate) fn runs(&self) -> u32 {
        self.runs.load(Ordering::SeqCst)
    }

    /// Waits until so many runs were dropped or have ended.
    pub(crate) async fn gone(&self, runs: u32) {
        while self.dropped.load(Ordering::SeqCst) < runs {
            tokio::task::yield_now().await;
        }
    }

    /// Why the signal of a run was aborted, by the order of the runs.
    pub(crate) fn reason(&self, run: usize) -> Option<AbortReason> {
        self.signals.lock().unwrap()[run].reason()
    }
}
