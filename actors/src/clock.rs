//! The machine's own clocks, chance and threads, behind the seams.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leasehold_tools::BlockingPool;
use leasehold_types::{BoxFuture, Clock, Random, Timestamp, Uptime};
use rustix::time::{ClockId, clock_gettime};

/// The system's clocks: `CLOCK_REALTIME` for people, `CLOCK_BOOTTIME` for deadlines.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

fn micros(id: ClockId) -> i64 {
    let time = clock_gettime(id);
    time.tv_sec
        .saturating_mul(1_000_000)
        .saturating_add(time.tv_nsec / 1_000)
}

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(micros(ClockId::Realtime))
    }

    fn uptime(&self) -> Uptime {
        Uptime::from_micros(micros(ClockId::Boottime).unsigned_abs())
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "this is the clock seam's own implementation"
    )]
    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(after))
    }
}

/// The operating system's random numbers, fit for secrets.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsRandom;

impl Random for OsRandom {
    /// # Panics
    /// The operating system gives no random numbers: nothing safe can be done without them.
    #[expect(
        clippy::expect_used,
        reason = "without random numbers no id is safe: stop"
    )]
    fn next_u64(&self) -> u64 {
        getrandom::u64().expect("the operating system gives random numbers")
    }
}

/// Blocking tools run on the runtime's blocking threads.
#[derive(Debug, Clone)]
pub struct TokioPool {
    runtime: tokio::runtime::Handle,
    late: Arc<AtomicU64>,
}

impl TokioPool {
    /// The pool of the runtime that `handle` belongs to.
    #[must_use]
    pub fn new(handle: tokio::runtime::Handle) -> Self {
        Self {
            runtime: handle,
            late: Arc::default(),
        }
    }
}

impl BlockingPool for TokioPool {
    fn run(&self, work: Box<dyn FnOnce() + Send>) {
        // A blocking body cannot be stopped, only given up: nobody waits for the handle.
        drop(self.runtime.spawn_blocking(work));
    }

    fn ended_late(&self) {
        let count = self.late.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(
            count,
            "a blocking tool ended after its call was given up, its result is dropped"
        );
    }

    fn late_results(&self) -> u64 {
        self.late.load(Ordering::Relaxed)
    }
}
