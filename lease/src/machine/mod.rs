//! The lease machine: how long one session's trees may be moved, and when they are lost.
//!
//! Pure: it reads no clock and does no IO. The caller passes `now` and carries out the actions, in order.
//!
//! - LEASE-1: the deadline is never later than the send time of a confirmed renewal plus TTL less margin.
//! - LEASE-2: losing is final: after it nothing is extended, renewed, claimed or swept.
//! - LEASE-3: at or after the deadline the loss comes first, whatever else the event says.
//! - LEASE-4: a wake later than half the margin closes the gate before anything else; only a renewal sent after it opens it.
//! - LEASE-5: an attempt after one that was not confirmed goes to the next endpoint.
//! - LEASE-6: a tree is not lost by an observation older than its claim.
//! - LEASE-7: a key of the session's that the machine neither holds nor asks for is given back.
//! - LEASE-8: a session holds at most its limit of keys, those asked for included.
//!
//! Source: Gray & Cheriton, "Leases" (1989), section 2: the holder counts from when it asked, the granter from when it
//! answered.

mod event;
mod trees;

use leasehold_types::{LeaseLostReason, Uptime};

use crate::{LeaseTimes, Renewal};

pub use event::{Action, ClaimRefusal, Event};
use trees::{Trees, after_the_end};

/// Decides for one session: when to renew, until when to act, what is lost.
#[derive(Debug, Clone)]
pub struct LeaseMachine {
    times: LeaseTimes,
    state: State,
    trees: Trees,
}

#[derive(Debug, Clone)]
enum State {
    Live(Live),
    Over(LeaseLostReason),
}

#[derive(Debug, Clone)]
struct Live {
    /// When the renewal that counts was sent.
    confirmed_sent: Uptime,
    deadline: Uptime,
    /// The gate is closed since then; only a renewal sent later opens it.
    held_since: Option<Uptime>,
    attempt: AttemptState,
    next_sweep: Uptime,
}

#[derive(Debug, Clone)]
struct AttemptState {
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

impl LeaseMachine {
    /// A session that was opened by a request sent at `sent`. The first renewal is due a renew interval later.
    #[must_use]
    pub fn opened(times: LeaseTimes, sent: Uptime) -> Self {
        let config = times.config();
        Self {
            times,
            state: State::Live(Live {
                confirmed_sent: sent,
                deadline: sent.plus(times.usable()),
                held_since: None,
                attempt: AttemptState {
                    number: 0,
                    endpoint: 0,
                    started: sent,
                    stage: Stage::Settled,
                },
                next_sweep: sent.plus(config.sweep_every),
            }),
            trees: Trees::new(config.keys_per_session_max),
        }
    }

    /// Feeds one event. The caller returns by [`Self::next_deadline`] with [`Event::Tick`].
    pub fn on_event(&mut self, now: Uptime, event: &Event) -> Vec<Action> {
        let State::Live(live) = &self.state else {
            return after_the_end(event);
        };
        if live.deadline <= now {
            let mut actions = self.end(LeaseLostReason::StoreSilent);
            actions.push(Action::Revoke);
            actions.extend(after_the_end(event));
            return actions;
        }
        let mut actions = self.close_gate_after_a_gap(now);
        actions.extend(self.dispatch(now, event));
        actions.extend(self.start_what_is_due(now));
        actions
    }

    fn dispatch(&mut self, now: Uptime, event: &Event) -> Vec<Action> {
        match event {
            Event::Tick => vec![],
            Event::Renewal { attempt, outcome } => self.on_renewal(now, *attempt, outcome),
            Event::SessionGone => self.end(LeaseLostReason::Taken),
            Event::Close => self.close(),
            Event::Wanted { tree } => vec![self.trees.want(*tree, self.is_held())],
            Event::ClaimEnded { tree, won } => self.trees.claim_ended(*tree, *won),
            Event::Released { tree } => self.trees.released(*tree),
            Event::Fenced { tree } => self.trees.fenced(*tree),
            Event::Seen { tree, at, revision } => self.trees.seen(*tree, *at, *revision),
            Event::Swept { at, owned } => self.trees.swept(*at, owned),
        }
    }

    /// When [`Event::Tick`] next changes anything; none once the session is over.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Uptime> {
        match &self.state {
            State::Live(live) => Some(
                live.deadline
                    .min(live.next_attempt(self.times))
                    .min(live.next_sweep),
            ),
            State::Over(_) => None,
        }
    }

    /// Until when trees of this session may be moved: exclusive. None once it is over.
    #[must_use]
    pub const fn deadline(&self) -> Option<Uptime> {
        match &self.state {
            State::Live(live) => Some(live.deadline),
            State::Over(_) => None,
        }
    }

    /// Whether the gate is closed after a gap: no permit until [`Action::Extend`].
    #[must_use]
    pub const fn is_held(&self) -> bool {
        match &self.state {
            State::Live(live) => live.held_since.is_some(),
            State::Over(_) => true,
        }
    }

    /// Why the session ended, if it did.
    #[must_use]
    pub const fn lost(&self) -> Option<LeaseLostReason> {
        match &self.state {
            State::Live(_) => None,
            State::Over(reason) => Some(*reason),
        }
    }

    /// How many more trees the session can take.
    #[must_use]
    pub fn room(&self) -> usize {
        match &self.state {
            State::Live(_) => self.trees.room(),
            State::Over(_) => 0,
        }
    }

    fn close_gate_after_a_gap(&mut self, now: Uptime) -> Vec<Action> {
        let promised = self.next_deadline();
        let State::Live(live) = &mut self.state else {
            return vec![];
        };
        if promised.is_none_or(|promised| now.since(promised) <= self.times.gap()) {
            return vec![];
        }
        live.held_since = Some(now);
        // What was asked before the gap cannot open the gate: ask again at once.
        vec![Action::Hold, live.begin_attempt(now, self.times)]
    }

    fn on_renewal(&mut self, now: Uptime, attempt: u64, outcome: &Renewal) -> Vec<Action> {
        let State::Live(live) = &mut self.state else {
            return vec![];
        };
        if attempt == 0 || attempt > live.attempt.number {
            return vec![];
        }
        match outcome {
            // A time that has not come yet is no send time: believing it would extend past what was confirmed.
            Renewal::Confirmed { sent } if *sent > now => live.not_confirmed(attempt),
            Renewal::Confirmed { sent } => live.confirmed(attempt, *sent, self.times),
            Renewal::NotConfirmed(_) => live.not_confirmed(attempt),
            Renewal::Gone => self.end(LeaseLostReason::Taken),
        }
    }

    fn start_what_is_due(&mut self, now: Uptime) -> Vec<Action> {
        let State::Live(live) = &mut self.state else {
            return vec![];
        };
        let mut actions = vec![];
        if live.next_attempt(self.times) <= now {
            actions.push(live.begin_attempt(now, self.times));
        }
        if live.next_sweep <= now {
            live.next_sweep = now.plus(self.times.config().sweep_every);
            actions.push(Action::Sweep);
        }
        actions
    }

    fn close(&mut self) -> Vec<Action> {
        let mut actions = self.end(LeaseLostReason::Released);
        actions.push(Action::Revoke);
        actions
    }

    fn end(&mut self, reason: LeaseLostReason) -> Vec<Action> {
        self.state = State::Over(reason);
        let mut actions = self.trees.lose_all(reason);
        actions.push(Action::SessionOver { reason });
        actions
    }
}

impl Live {
    fn next_attempt(&self, times: LeaseTimes) -> Uptime {
        let after = match self.attempt.stage {
            Stage::Settled => times.config().renew_every,
            Stage::Waiting => times.config().attempt_timeout,
            Stage::Failed => times.retry_pause(),
        };
        self.attempt.started.plus(after)
    }

    fn begin_attempt(&mut self, now: Uptime, times: LeaseTimes) -> Action {
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
            timeout: times.config().attempt_timeout,
        }
    }

    fn not_confirmed(&mut self, attempt: u64) -> Vec<Action> {
        if attempt == self.attempt.number && self.attempt.stage == Stage::Waiting {
            self.attempt.stage = Stage::Failed;
        }
        vec![]
    }

    fn confirmed(&mut self, attempt: u64, sent: Uptime, times: LeaseTimes) -> Vec<Action> {
        if attempt == self.attempt.number {
            self.attempt.stage = Stage::Settled;
        }
        if self.held_since.is_some_and(|since| sent < since) {
            return vec![];
        }
        let was_held = self.held_since.take().is_some();
        if sent > self.confirmed_sent {
            self.confirmed_sent = sent;
            self.deadline = sent.plus(times.usable());
        } else if !was_held {
            return vec![];
        }
        assert!(
            self.deadline == self.confirmed_sent.plus(times.usable()),
            "LEASE-1: the deadline follows from the send time of a confirmed renewal"
        );
        vec![Action::Extend {
            deadline: self.deadline,
        }]
    }
}
