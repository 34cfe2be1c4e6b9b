//! The test clock: stands still until a test moves it, and wakes sleepers in the order of their times.
//!
//! It needs no runtime and reads no other clock. Wall clock and uptime move together.
//!
//! - CLOCK-1: a sleeper is registered when it is made, not when it is first polled: what is advanced afterwards counts for it.
//! - CLOCK-2: sleepers are woken in the order of their deadlines, those of one deadline in the order they were made; while
//!   one is woken the clock shows its deadline.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use leasehold_types::{BoxFuture, Clock, Timestamp, Uptime};
use tokio::sync::Notify;

/// The wall clock at the beginning: 2026-01-01T00:00:00Z.
const WALL_START: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// The uptime at the beginning: not zero, so that arithmetic that takes something off shows.
const UPTIME_START: Uptime = Uptime::from_micros(3_600_000_000);

/// A clock that a test moves. Clones share one time.
///
/// ```
/// use leasehold_testkit::TestClock;
/// use leasehold_types::{Clock, seconds};
///
/// let clock = TestClock::new();
/// let before = clock.now();
/// clock.advance(seconds(10));
/// assert_eq!(clock.now().since(before), seconds(10));
/// ```
#[derive(Clone, Default)]
pub struct TestClock(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    registered: Notify,
}

/// A deadline in microseconds since the beginning, and a number that keeps the order of one deadline's sleepers.
type Key = (u64, u64);

#[derive(Default)]
struct State {
    elapsed: u64,
    made: u64,
    sleepers: BTreeMap<Key, Option<Waker>>,
}

impl TestClock {
    /// A clock at its beginning, 2026-01-01T00:00:00Z.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the time, and wakes on the way whoever sleeps until then.
    ///
    /// What a sleeper does once it is awake happens on its own thread, when the clock may have moved on.
    pub fn advance(&self, by: Duration) {
        let target = self.state().elapsed.saturating_add(micros(by));
        while self.wake_next(target) {}
        let mut state = self.state();
        state.elapsed = state.elapsed.max(target);
    }

    /// How long it is until the first sleeper wakes, if there is one.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Duration> {
        let state = self.state();
        let (deadline, _) = state.sleepers.keys().next()?;
        Some(Duration::from_micros(
            deadline.saturating_sub(state.elapsed),
        ))
    }

    /// How many sleep now.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.state().sleepers.len()
    }

    /// Waits until at least `count` sleep.
    pub async fn until_sleeping(&self, count: usize) {
        loop {
            let registered = self.0.registered.notified();
            if self.sleepers() >= count {
                return;
            }
            registered.await;
        }
    }

    /// Moves to the next deadline and wakes everybody who sleeps until then. Whether somebody did.
    pub(crate) fn jump(&self) -> bool {
        let Some(deadline) = self.state().sleepers.keys().next().map(|(at, _)| *at) else {
            return false;
        };
        while self.wake_next(deadline) {}
        true
    }

    /// Wakes the first sleeper whose deadline is not after `target`.
    fn wake_next(&self, target: u64) -> bool {
        let waker = {
            let mut state = self.state();
            let first = state.sleepers.first_entry();
            let Some(first) = first.filter(|first| first.key().0 <= target) else {
                return false;
            };
            let ((deadline, _), waker) = first.remove_entry();
            state.elapsed = state.elapsed.max(deadline);
            waker
        };
        // Not under the lock: a waker may run anything.
        if let Some(waker) = waker {
            waker.wake();
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing in here panics half-way.
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whole microseconds, rounded up: a sleeper never wakes early.
fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX)
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        WALL_START.plus(Duration::from_micros(self.state().elapsed))
    }

    fn uptime(&self) -> Uptime {
        UPTIME_START.plus(Duration::from_micros(self.state().elapsed))
    }

    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        let key = {
            let mut state = self.state();
            let key = (state.elapsed.saturating_add(micros(after)), state.made);
            state.made += 1;
            if !after.is_zero() {
                state.sleepers.insert(key, None);
            }
            key
        };
        self.0.registered.notify_waiters();
        Box::pin(Sleep {
            clock: self.clone(),
            key,
        })
    }
}

impl fmt::Debug for TestClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("TestClock")
            .field("elapsed", &Duration::from_micros(state.elapsed))
            .field("sleepers", &state.sleepers.len())
            .finish()
    }
}

struct Sleep {
    clock: TestClock,
    key: Key,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.clock.state();
        match state.sleepers.get_mut(&self.key) {
            Some(waker) => {
                *waker = Some(context.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clock.state().sleepers.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt as _;
    use leasehold_types::seconds;

    use super::*;

    #[test]
    fn time_stands_still_until_it_is_moved() {
        let clock = TestClock::new();
        let (wall, uptime) = (clock.now(), clock.uptime());
        assert_eq!((clock.now(), clock.uptime()), (wall, uptime));
        clock.advance(seconds(5));
        assert_eq!(clock.now().since(wall), seconds(5));
        assert_eq!(clock.uptime().since(uptime), seconds(5));
    }

    #[test]
    fn a_sleeper_wakes_at_its_deadline_and_not_a_microsecond_before() {
        let clock = TestClock::new();
        let mut sleep = clock.sleep(Duration::from_nanos(1_500));
        assert!(sleep.as_mut().now_or_never().is_none());
        clock.advance(Duration::from_micros(1));
        assert!(sleep.as_mut().now_or_never().is_none());
        clock.advance(Duration::from_micros(1));
        assert!(sleep.now_or_never().is_some());
        assert!(clock.sleep(Duration::ZERO).now_or_never().is_some());
    }

    #[test]
    fn sleepers_are_woken_in_the_order_of_their_deadlines() {
        use std::task::Wake;
        struct Noted(&'static str, TestClock, Arc<Mutex<Vec<String>>>);
        impl Wake for Noted {
            fn wake(self: Arc<Self>) {
                let line = format!("{} at {:?}", self.0, self.1.now().since(WALL_START));
                self.2.lock().unwrap().push(line);
            }
        }
        let clock = TestClock::new();
        let order = Arc::default();
        let mut sleepers = Vec::new();
        for (name, after) in [("c", 3), ("a", 1), ("b", 1), ("d", 9)] {
            let mut sleeper = clock.sleep(seconds(after));
            let waker = Arc::new(Noted(name, clock.clone(), Arc::clone(&order))).into();
            let polled = sleeper.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            sleepers.push(sleeper);
        }
        clock.advance(seconds(5));
        let woken = order.lock().unwrap().join(", ");
        assert_eq!(woken, "a at 1s, b at 1s, c at 3s", "CLOCK-2");
        assert_eq!(clock.next_deadline(), Some(seconds(4)));
    }

    #[test]
    fn a_sleeper_counts_from_when_it_was_made_and_is_gone_when_dropped() {
        let clock = TestClock::new();
        let sleep = clock.sleep(seconds(1));
        clock.advance(seconds(1));
        assert!(sleep.now_or_never().is_some(), "CLOCK-1");
        drop(clock.sleep(seconds(1)));
        assert_eq!(clock.sleepers(), 0);
    }

    #[test]
    fn a_wait_for_sleepers_ends_with_the_last_one() {
        let clock = TestClock::new();
        let mut waits = pin!(clock.until_sleeping(2));
        let _one = clock.sleep(seconds(1));
        assert!(waits.as_mut().now_or_never().is_none());
        let _two = clock.sleep(seconds(1));
        assert!(waits.now_or_never().is_some());
    }

    #[test]
    fn a_jump_leads_to_the_next_deadline_alone() {
        let clock = TestClock::new();
        let first = clock.sleep(seconds(2));
        let second = clock.sleep(seconds(7));
        assert!(clock.jump());
        assert_eq!(clock.now().since(WALL_START), seconds(2));
        assert!(first.now_or_never().is_some());
        assert!(clock.jump());
        assert!(second.now_or_never().is_some());
        assert!(!clock.jump(), "nobody sleeps");
    }
}
