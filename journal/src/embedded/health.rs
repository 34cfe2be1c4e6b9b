//! Whether the store still works.
//!
//! - HEALTH-1: after one failed fsync nothing is accepted, answered or synced again by this process.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};

use super::config::{FatalHook, StoreFatal};
use crate::{JournalError, unpoisoned};

const OPEN: u8 = 0;
const POISONED: u8 = 1;
const CLOSED: u8 = 2;

pub(super) struct Health {
    state: AtomicU8,
    why: Mutex<String>,
    fatal: FatalHook,
}

impl Health {
    pub(super) fn new(fatal: FatalHook) -> Self {
        let state = AtomicU8::new(OPEN);
        let why = Mutex::default();
        Self { state, why, fatal }
    }

    /// Refuses once the store is poisoned or closed.
    pub(super) fn check(&self) -> Result<(), JournalError> {
        match self.state.load(Ordering::Acquire) {
            OPEN => Ok(()),
            CLOSED => Err(JournalError::Closed),
            _ => Err(JournalError::Poisoned(unpoisoned(&self.why).clone())),
        }
    }

    /// Stops the store for good; nobody is told yet. Says whether this call did it.
    pub(super) fn poison(&self, why: &str) -> bool {
        let mut first = unpoisoned(&self.why);
        if self.state.load(Ordering::Acquire) == POISONED {
            return false;
        }
        why.clone_into(&mut first);
        self.state.store(POISONED, Ordering::Release);
        true
    }

    /// Tells the process that it must end.
    pub(super) fn tell(&self) {
        let why = unpoisoned(&self.why).clone();
        (self.fatal)(StoreFatal { why });
    }

    /// Stops and tells, in one.
    pub(super) fn fail(&self, why: &str) {
        if self.poison(why) {
            self.tell();
        }
    }

    pub(super) fn close(&self) {
        // A poisoned store stays poisoned.
        let _why = unpoisoned(&self.why);
        if self.state.load(Ordering::Acquire) == OPEN {
            self.state.store(CLOSED, Ordering::Release);
        }
    }
}

impl std::fmt::Debug for Health {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Health").field(&self.check()).finish()
    }
}
