//! What an instance counts of things that are dropped on purpose. Numbers only: nothing is decided by them.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counters that all actors of an instance share.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    dropped: AtomicU64,
    unreadable: AtomicU64,
}

impl Tally {
    /// Calls whose outcome is not journaled, because the tree's lease was lost under them.
    pub(crate) fn drop_outcomes(&self, count: usize) {
        self.dropped.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Letters that nobody can read.
    pub(crate) fn drop_letters(&self, count: usize) {
        self.unreadable.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn outcomes_dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    pub(crate) fn letters_unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }
}
