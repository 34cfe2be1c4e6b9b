//! A clock the test moves, and a seeded source of numbers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use event_listener::Event;
use leasehold_types::{BoxFuture, Clock, Random, Timestamp, Uptime};

/// Stands still until [`ManualClock::advance`]. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ManualClock(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    now: Mutex<Uptime>,
    moved: Event,
}

impl ManualClock {
    pub(crate) fn advance(&self, time: Duration) {
        let mut now = self.0.now.lock().unwrap();
        *now = now.plus(time);
        drop(now);
        self.0.moved.notify(usize::MAX);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::default()
    }
    fn uptime(&self) -> Uptime {
        *self.0.now.lock().unwrap()
    }
    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        let clock = self.clone();
        let end = clock.uptime().plus(after);
        Box::pin(async move {
            loop {
                let moved = clock.0.moved.listen();
                if clock.uptime() >= end {
                    return;
                }
                moved.await;
            }
        })
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
