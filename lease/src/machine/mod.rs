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
mod term;
mod trees;

use leasehold_types::{LeaseLostReason, Uptime};

use crate::{Expiry, LeaseTimes, Renewal};

pub use event::{Action, ClaimRefusal, Deadline, Event};
use term::Term;
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
    /// None where sessions do not run out.
    term: Option<Term>,
    next_sweep: Uptime,
}

impl LeaseMachine {
    /// A session that was opened by a request sent at `sent`, in a store of this `expiry`.
    ///
    /// Where sessions run out, the first renewal is due a renew interval later. Where they do not, nothing is renewed, no
    /// deadline passes and no gap matters: the lock on the store is the lease.
    #[must_use]
    pub fn opened(times: LeaseTimes, expiry: Expiry, sent: Uptime) -> Self {
        let config = times.config();
        let term = match expiry {
            Expiry::ByTtl => Some(Term::opened(times, sent)),
            Expiry::Never => None,
        };
        Self {
            times,
            state: State::Live(Live {
                term,
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
        if live.term.as_ref().is_some_and(|term| term.is_over(now)) {
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
        let live = self.live()?;
        let term = live.term.as_ref().map(Term::next_deadline);
        Some(term.map_or(live.next_sweep, |term| term.min(live.next_sweep)))
    }

    /// Until when trees of this session may be moved; none once it is over.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let term = self.live()?.term.as_ref();
        Some(term.map_or(Deadline::Never, |term| Deadline::At(term.deadline())))
    }

    /// Whether the gate is closed: after a gap until [`Action::Extend`], and once the session is over.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let term = self.live().map(|live| live.term.as_ref());
        term.is_none_or(|term| term.is_some_and(Term::is_held))
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

    const fn live(&self) -> Option<&Live> {
        match &self.state {
            State::Live(live) => Some(live),
            State::Over(_) => None,
        }
    }

    const fn term(&mut self) -> Option<&mut Term> {
        match &mut self.state {
            State::Live(live) => live.term.as_mut(),
            State::Over(_) => None,
        }
    }

    fn close_gate_after_a_gap(&mut self, now: Uptime) -> Vec<Action> {
        let (promised, gap) = (self.next_deadline(), self.times.gap());
        match self.term() {
            Some(term) if promised.is_some_and(|promised| now.since(promised) > gap) => {
                term.close_gate(now)
            }
            Some(_) | None => vec![],
        }
    }

    fn on_renewal(&mut self, now: Uptime, attempt: u64, outcome: &Renewal) -> Vec<Action> {
        let Some(term) = self.term().filter(|term| term.has_asked(attempt)) else {
            return vec![];
        };
        match outcome {
            // A time that has not come yet is no send time: believing it would extend past what was confirmed.
            Renewal::Confirmed { sent } if *sent > now => term.not_confirmed(attempt),
            Renewal::Confirmed { sent } => term.confirmed(attempt, *sent),
            Renewal::NotConfirmed(_) => term.not_confirmed(attempt),
            Renewal::Gone => self.end(LeaseLostReason::Taken),
        }
    }

    fn start_what_is_due(&mut self, now: Uptime) -> Vec<Action> {
        let State::Live(live) = &mut self.state else {
            return vec![];
        };
        let renew = live.term.as_mut().and_then(|term| term.renew_if_due(now));
        let mut actions: Vec<Action> = renew.into_iter().collect();
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
