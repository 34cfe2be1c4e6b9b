//! The term of a session: what was confirmed, until when it counts, and which attempt to renew it is under way.
//!
//! Guards LEASE-1, LEASE-4 and LEASE-5.

use leasehold_types::Uptime;

use super::Action;
use crate::LeaseTimes;

#[derive(Debug, Clone)]
pub(super) struct Term {
    times: LeaseTimes,
    /// When the renewal that counts was sent.
    confirmed_sent: Uptime,
    deadline: Uptime,
    /// The gate is closed since then; only a renewal sent later opens it.
    held_since: Option<Uptime>,
    attempt: Attempt,
}

#[derive(Debug, Clone)]
struct Attempt {
    /// The number of the latest attempt; 0 before the first.
    number: u64,
    endpoint: u32,
    started: Uptime,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Confirmed: the next attempt is a renewal in its turn.
    Settled,
    /// Not answered yet: the next attempt is when this one has timed out.
    Waiting,
    /// Answered without confirmation: the next attempt is after the retry pause.
    Failed,
}

impl Term {
    pub(super) fn opened(times: LeaseTimes, sent: Uptime) -> Self {
        Self {
            times,
            confirmed_sent: sent,
            deadline: sent.plus(times.usable()),
            held_since: None,
            attempt: Attempt {
                number: 0,
                endpoint: 0,
                started: sent,
                stage: Stage::Settled,
            },
        }
    }

    pub(super) const fn deadline(&self) -> Uptime {
        self.deadline
    }

    pub(super) fn is_over(&self, now: Uptime) -> bool {
        self.deadline <= now
    }

    pub(super) const fn is_held(&self) -> bool {
        self.held_since.is_some()
    }

    pub(super) const fn has_asked(&self, attempt: u64) -> bool {
        attempt > 0 && attempt <= self.attempt.number
    }

    pub(super) fn next_deadline(&self) -> Uptime {
        self.deadline.min(self.next_attempt())
    }

    fn next_attempt(&self) -> Uptime {
        let after = match self.attempt.stage {
            Stage::Settled => self.times.config().renew_every,
            Stage::Waiting => self.times.config().attempt_timeout,
            Stage::Failed => self.times.retry_pause(),
        };
        self.attempt.started.plus(after)
    }

    /// What was asked before the gap cannot open the gate: asks again at once.
    pub(super) fn close_gate(&mut self, now: Uptime) -> Vec<Action> {
        self.held_since = Some(now);
        vec![Action::Hold, self.begin_attempt(now)]
    }

    pub(super) fn renew_if_due(&mut self, now: Uptime) -> Option<Action> {
        (self.next_attempt() <= now).then(|| self.begin_attempt(now))
    }

    fn begin_attempt(&mut self, now: Uptime) -> Action {
        let attempt = &mut self.attempt;
        if attempt.stage != Stage::Settled {
            attempt.endpoint = attempt.endpoint.wrapping_add(1);
        }
        attempt.number += 1;
        attempt.started = now;
        attempt.stage = Stage::Waiting;
        Action::Renew {
            attempt: attempt.number,
            endpoint: attempt.endpoint,
            timeout: self.times.config().attempt_timeout,
        }
    }

    pub(super) fn not_confirmed(&mut self, attempt: u64) -> Vec<Action> {
        if attempt == self.attempt.number && self.attempt.stage == Stage::Waiting {
            self.attempt.stage = Stage::Failed;
        }
        vec![]
    }

    pub(super) fn confirmed(&mut self, attempt: u64, sent: Uptime) -> Vec<Action> {
        if attempt == self.attempt.number {
            self.attempt.stage = Stage::Settled;
        }
        if self.held_since.is_some_and(|since| sent < since) {
            return vec![];
        }
        let was_held = self.held_since.take().is_some();
        if sent > self.confirmed_sent {
            self.confirmed_sent = sent;
            self.deadline = sent.plus(self.times.usable());
        } else if !was_held {
            return vec![];
        }
        assert!(
            self.deadline == self.confirmed_sent.plus(self.times.usable()),
            "LEASE-1: the deadline follows from the send time of a confirmed renewal"
        );
        vec![Action::Extend {
            deadline: self.deadline,
        }]
    }
}
