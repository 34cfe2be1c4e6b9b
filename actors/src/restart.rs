//! Restart intensity: how often a tree's actors may fail before the tree is quarantined. Pure.

use std::collections::VecDeque;
use std::time::Duration;

use leasehold_types::Uptime;

/// Restarts of one tree within [`RESTART_WINDOW`] after which it is quarantined.
pub const RESTARTS_MAX: usize = 3;

/// The time within which restarts count together.
pub const RESTART_WINDOW: Duration = Duration::from_secs(60);

/// Counts the restarts of one tree.
#[derive(Debug, Clone, Default)]
pub struct RestartLimiter(VecDeque<Uptime>);

impl RestartLimiter {
    /// Whether nothing failed lately: it need not be kept.
    #[must_use]
    pub fn is_idle(&self, now: Uptime) -> bool {
        let recent = |failed: &Uptime| now.since(*failed) < RESTART_WINDOW;
        !self.0.iter().any(recent)
    }

    /// Takes note of a failure at `now`, and says whether the tree may be started again.
    pub fn may_restart(&mut self, now: Uptime) -> bool {
        self.0.retain(|failed| now.since(*failed) < RESTART_WINDOW);
        self.0.push_back(now);
        self.0.len() <= RESTARTS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT R11
    #[test]
    fn the_fourth_failure_within_a_minute_is_one_too_many() {
        let at = |seconds: u64| Uptime::from_micros(seconds * 1_000_000);
        let mut limiter = RestartLimiter::default();
        assert!(
            [0, 10, 20]
                .into_iter()
                .all(|second| limiter.may_restart(at(second)))
        );
        assert!(!limiter.may_restart(at(59)));
        assert!(
            !limiter.may_restart(at(60)),
            "three others within the minute before"
        );
        assert!(limiter.may_restart(at(130)));
    }
}
