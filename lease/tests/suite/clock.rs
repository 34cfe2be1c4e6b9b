//! A clock the test moves, and a seeded source of numbers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leasehold_types::{BoxFuture, Clock, Random, Timestamp, Uptime};

/// Stands still until [`ManualClock::advance`].
#[derive(Debug, Default)]
pub(crate) struct ManualClock {
    now: Mutex<Uptime>,
}

impl ManualClock {
    pub(crate) fn advance(&self, time: Duration) {
        let mut now = self.now.lock().unwrap();
        *now = now.plus(time);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
    fn uptime(&self) -> Uptime {
        *self.now.lock().unwrap()
    }
    fn sleep(&self, _after: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// Splitmix64 from a seed.
#[derive(Debug)]
pub(crate) struct Seeded(pub(crate) AtomicU64);

impl Random for Seeded {
    fn next_u64(&self) -> u64 {
        let mut mixed = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
