//! A clock that moves when a test says so.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use leasehold_types::{BoxFuture, Clock, Timestamp, Uptime};
use tokio::sync::{Notify, oneshot};

/// Waits that [`TestClock::flow`] lets pass.
const SHORT: Duration = Duration::from_secs(1);

/// Where it begins.
const BEGIN: Timestamp = Timestamp::from_millis(1_700_000_000_000);

#[derive(Debug, Default)]
pub(crate) struct TestClock {
    state: Mutex<State>,
    slept: Notify,
}

#[derive(Debug, Default)]
struct State {
    since: Duration,
    sleepers: Vec<Sleeper>,
}

#[derive(Debug)]
struct Sleeper {
    until: Duration,
    after: Duration,
    waker: oneshot::Sender<()>,
}

impl TestClock {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn advance(&self, by: Duration) {
        let mut state = self.state();
        state.since += by;
        let since = state.since;
        let (due, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut state.sleepers)
            .into_iter()
            .partition(|sleeper| sleeper.until <= since);
        state.sleepers = rest;
        drop(state);
        for sleeper in due {
            // Whoever gave up waiting is not there any more.
            let _gone = sleeper.waker.send(());
        }
    }

    fn sleeps_for(&self, after: Duration) -> bool {
        let mut state = self.state();
        state.sleepers.retain(|sleeper| !sleeper.waker.is_closed());
        state.sleepers.iter().any(|sleeper| sleeper.after == after)
    }

    /// Waits until somebody sleeps that went to sleep for `after`.
    pub(crate) async fn asleep_for(&self, after: Duration) {
        loop {
            let slept = self.slept.notified();
            if self.sleeps_for(after) {
                return;
            }
            slept.await;
        }
    }

    /// Lets somebody who sleeps for `after` wake, once there is one.
    pub(crate) async fn pass(&self, after: Duration) {
        self.asleep_for(after).await;
        self.advance(after);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        BEGIN.plus(self.state().since)
    }

    fn uptime(&self) -> Uptime {
        Uptime::from_micros(0).plus(self.state().since)
    }

    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        let (waker, woken) = oneshot::channel();
        let mut state = self.state();
        let until = state.since + after;
        state.sleepers.push(Sleeper {
            until,
            after,
            waker,
        });
        drop(state);
        self.slept.notify_one();
        Box::pin(async move {
            // The clock outlives every sleeper of a test.
            let _woken = woken.await;
        })
    }
}

impl TestClock {
    /// Lets short waits pass as they come, for as long as it is polled: whatever can go on without a person goes on.
    pub(crate) async fn flow(&self) {
        loop {
            for _ in 0..64 {
                tokio::task::yield_now().await;
            }
            let next = {
                let mut state = self.state();
                state.sleepers.retain(|sleeper| !sleeper.waker.is_closed());
                let since = state.since;
                let left = state.sleepers.iter().map(|sleeper| sleeper.until - since);
                left.min()
            };
            if let Some(next) = next.filter(|next| *next <= SHORT) {
                self.advance(next);
            }
        }
    }

    /// Drives `work` while short waits pass.
    pub(crate) async fn flowing<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = work => done,
            () = self.flow() => std::future::pending().await,
        }
    }
}
