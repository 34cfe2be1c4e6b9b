//! Rest, drain and release: how the execution's actor comes to an end with steps left, or with none to do.

use leasehold_execution::{Context, Standing};
use leasehold_types::AbortReason;
use ractor::{ActorId, ActorRef};

use super::{Drain, ExecutionMsg, Handled, State, Then};
use crate::call::{Outstanding, wait_for};

/// What the journal says of a tree that a going instance gives back.
const GOING: &str = "the instance is shutting down";

impl State {
    /// Gives the lease back, or waits for a near timer, once nothing runs.
    pub(super) async fn rest_if_idle(&mut self, myself: &ActorRef<ExecutionMsg>) -> Handled {
        if self.closing {
            return Ok(());
        }
        let standing = self.machine.standing(self.deps.clock.now());
        match standing {
            Standing::AtRest { due } => self.rest(Then::Rest(due)),
            Standing::Busy | Standing::Waiting { .. } if self.drain != Drain::No => {
                self.release_if_idle()
            }
            Standing::Waiting { until } if !self.waits => {
                self.waits = true;
                self.start(myself, wait_for(until, &self.deps.clock)).await
            }
            Standing::Waiting { .. } | Standing::Busy | Standing::Ended | Standing::Blocked => {
                Ok(())
            }
        }
    }

    fn rest(&mut self, then: Then) -> Handled {
        if self.is_over()? {
            return Ok(());
        }
        let context = Context {
            now: self.deps.clock.now(),
            random: &*self.deps.random,
        };
        let output = if then == Then::Release {
            self.machine.release(context, GOING.to_owned())
        } else {
            self.machine.rest(context)
        };
        self.closing = true;
        self.send(output, vec![], then)
    }

    /// Gives the tree back once no call runs, each has reported, and nothing waits to become durable.
    fn release_if_idle(&mut self) -> Handled {
        let is_call = |call: &Outstanding| !matches!(call, Outstanding::Wait);
        if self.calls.values().any(is_call) || self.undurable > 0 || self.drain != Drain::Read {
            return Ok(());
        }
        self.rest(Then::Release)
    }

    pub(super) fn drain(&mut self, myself: &ActorRef<ExecutionMsg>) -> Handled {
        self.drain = Drain::Asked;
        // Calls that are over by now have their reports before this in the mailbox.
        myself.cast(ExecutionMsg::Read(None))?;
        Ok(())
    }

    pub(super) async fn read(
        &mut self,
        myself: &ActorRef<ExecutionMsg>,
        call: Option<ActorId>,
    ) -> Handled {
        match call {
            Some(call) => drop(self.calls.remove(&call)),
            None => self.drain = Drain::Read,
        }
        self.rest_if_idle(myself).await
    }

    /// The grace is over: what runs is cut off, as by a crash, and the tree is given back.
    pub(super) fn release(&mut self, myself: &ActorRef<ExecutionMsg>) -> Handled {
        if self.closing {
            return Ok(());
        }
        self.signal.abort(AbortReason::Stopped(GOING.to_owned()));
        myself.get_children().iter().for_each(|call| call.kill());
        self.calls.clear();
        self.rest(Then::Release)
    }
}
