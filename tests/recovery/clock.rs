//! A clock that runs faster than the machine's: waits and timeouts of the reference execution take a moment.

use std::time::Duration;

use leasehold_actors::SystemClock;
use leasehold_types::{BoxFuture, Clock, Timestamp, Uptime};

/// How much faster: half a second of backoff is 25 ms, a tool's timeout of an hour still three minutes.
const FACTOR: u32 = 20;

/// Where both clocks show the same: before any run, so that the fast one is ahead and the same in every process.
const ZERO: Timestamp = Timestamp::from_millis(1_700_000_000_000);

/// The system's clocks, sped up.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FastClock;

impl Clock for FastClock {
    fn now(&self) -> Timestamp {
        ZERO.plus(SystemClock.now().since(ZERO).saturating_mul(FACTOR))
    }

    fn uptime(&self) -> Uptime {
        Uptime::from_micros(SystemClock.uptime().as_micros() * u64::from(FACTOR))
    }

    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(after / FACTOR)
    }
}
