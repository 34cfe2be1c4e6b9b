//! The pulse: counts what happened, so that whoever waits looks again, and so that it is known whether everybody has looked.
//!
//! - PULSE-1: a waiter says it has seen a beat only after a look that began after it: time never passes while somebody has
//!   something new to look at.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// Beats, and who waits for them.
#[derive(Debug)]
pub(crate) struct Pulse {
    beats: watch::Sender<u64>,
    waiters: Mutex<Waiters>,
}

/// By a number of its own, the beat each waiter has seen; none while it has not looked.
#[derive(Debug, Default)]
struct Waiters {
    made: u64,
    seen: BTreeMap<u64, Option<u64>>,
}

impl Pulse {
    pub(crate) fn new() -> Self {
        Self {
            beats: watch::Sender::new(0),
            waiters: Mutex::default(),
        }
    }

    /// Something happened.
    pub(crate) fn beat(&self) {
        self.beats.send_modify(|beats| *beats += 1);
    }

    /// Whether somebody waits.
    pub(crate) fn has_waiters(&self) -> bool {
        !self.waiters().seen.is_empty()
    }

    /// Whether somebody waits, and all who do have looked at everything that happened.
    pub(crate) fn all_wait(&self) -> bool {
        let now = *self.beats.borrow();
        let waiters = self.waiters();
        !waiters.seen.is_empty() && waiters.seen.values().all(|seen| *seen == Some(now))
    }

    /// Looks after each beat until there is something. `began` is told once somebody waits.
    pub(crate) async fn until<T>(
        &self,
        began: impl FnOnce(),
        mut look: impl AsyncFnMut() -> Option<T>,
    ) -> T {
        let mut beats = self.beats.subscribe();
        let place = self.enter();
        began();
        loop {
            let beat = *beats.borrow_and_update();
            if let Some(found) = look().await {
                return found;
            }
            place.has_seen(beat);
            // It has a sender: this pulse.
            let _changed = beats.changed().await;
        }
    }

    fn enter(&self) -> Place<'_> {
        let mut waiters = self.waiters();
        waiters.made += 1;
        let number = waiters.made;
        waiters.seen.insert(number, None);
        Place {
            pulse: self,
            number,
        }
    }

    fn waiters(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among those who wait, left when dropped.
struct Place<'a> {
    pulse: &'a Pulse,
    number: u64,
}

impl Place<'_> {
    fn has_seen(&self, beat: u64) {
        self.pulse.waiters().seen.insert(self.number, Some(beat));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.pulse.waiters().seen.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering};

    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn nobody_counts_as_waiting_before_all_have_looked_at_the_last_beat() {
        let (pulse, there) = (Pulse::new(), AtomicBool::new(false));
        assert!(!pulse.all_wait(), "nobody waits");
        {
            let look = async || there.load(Ordering::SeqCst).then_some(());
            let mut one = pin!(pulse.until(|| (), look));
            let mut other = pin!(pulse.until(|| (), look));
            assert!(one.as_mut().now_or_never().is_none());
            assert!(pulse.all_wait());
            assert!(other.as_mut().now_or_never().is_none());
            pulse.beat();
            assert!(one.as_mut().now_or_never().is_none());
            assert!(!pulse.all_wait(), "PULSE-1: the other has not looked");
            assert!(other.as_mut().now_or_never().is_none());
            assert!(pulse.all_wait());
            there.store(true, Ordering::SeqCst);
            pulse.beat();
            assert!(one.now_or_never().is_some());
        }
        assert!(!pulse.all_wait(), "both have left");
    }
}
