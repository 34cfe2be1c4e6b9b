//! The execution actor: owns one execution's machine, starts its calls, and hands what it decides to the tree.
//!
//! **Supervision.** A call actor that panics or is killed becomes an error result or a failed attempt; its siblings go on.
//! If this actor fails, ractor kills its call actors, its tree actor ends with a failure, and the node starts the tree again from
//! the journal under a new epoch. It never stops because a child did.
//!
//! - SHELL-1: after the lease is lost nothing is decided any more: outcomes that come then are dropped and counted.
//! - SHELL-2: every step that is carried out is reported once, also where it could not begin: the machine never waits in vain.

mod jobs;
mod letters;
mod message;
mod resting;
mod steps;

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_execution::spill::spill;
use leasehold_execution::{Context, Event, Machine, Output, Standing, write_entries};
use leasehold_types::{OwnershipGuard, Signal, Tenant};
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, SupervisionEvent};

use crate::agent::Agent;
use crate::call::{Outstanding, Unreported};
use crate::deps::Deps;
use crate::hold::lost;
use crate::tally::Tally;
use crate::tree::TreeMsg;

pub(crate) use letters::apply_letter;
pub(crate) use message::{Arrived, Beginning, Commit, ExecutionMsg, Settled, Then};
pub(crate) use steps::CALL_NEEDS;

/// Runs one execution.
pub(crate) struct ExecutionActor;

pub(crate) struct State {
    machine: Machine,
    agent: Arc<Agent>,
    tenant: Tenant,
    guard: OwnershipGuard,
    signal: Signal,
    tree: ActorRef<TreeMsg>,
    deps: Arc<Deps>,
    tally: Arc<Tally>,
    calls: BTreeMap<ActorId, Outstanding>,
    /// The last commit asked the tree to rest or end: nothing more is decided under this epoch.
    closing: bool,
    /// A wait is under way.
    waits: bool,
    drain: Drain,
    /// Commits that are not durable yet.
    undurable: usize,
}

/// How far a drain has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Drain {
    No,
    /// No model is asked any more; reports of calls that have ended may still be in the mailbox.
    Asked,
    /// Every call that is not in `calls` has reported.
    Read,
}

type Handled = Result<(), ActorProcessingErr>;

impl Actor for ExecutionActor {
    type Msg = ExecutionMsg;
    type State = State;
    type Arguments = Beginning;

    async fn pre_start(
        &self,
        _: ActorRef<ExecutionMsg>,
        begin: Beginning,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State {
            machine: begin.machine,
            agent: begin.agent,
            tenant: begin.tenant,
            signal: begin.guard.signal().child(),
            guard: begin.guard,
            tree: begin.tree,
            deps: begin.deps,
            tally: begin.tally,
            calls: BTreeMap::new(),
            closing: false,
            waits: false,
            drain: Drain::No,
            undurable: 1,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<ExecutionMsg>,
        message: ExecutionMsg,
        state: &mut State,
    ) -> Handled {
        match message {
            ExecutionMsg::Durable {
                frame,
                commits,
                steps,
            } => {
                state.undurable = state.undurable.saturating_sub(commits);
                for step in steps {
                    state.carry_out(&myself, frame, step).await?;
                }
                state.rest_if_idle(&myself).await
            }
            ExecutionMsg::Model(report) => state.on(Event::Model(report)),
            ExecutionMsg::Call(report) => state.on(Event::Call(report)),
            ExecutionMsg::Sent {
                number,
                attempt,
                error,
                decided,
            } => state.sent(number, attempt, error, decided),
            ExecutionMsg::Letter(arrived) => state.letter(arrived),
            ExecutionMsg::Tick => {
                state.waits = false;
                state.on(Event::Tick)?;
                state.rest_if_idle(&myself).await
            }
            ExecutionMsg::Drain => state.drain(&myself),
            ExecutionMsg::Read(call) => state.read(&myself, call).await,
            ExecutionMsg::Release => state.release(&myself),
            ExecutionMsg::Fault(position) => {
                if let Some(call) = myself.get_children().get(position) {
                    call.kill();
                }
                Ok(())
            }
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<ExecutionMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Handled {
        match event {
            SupervisionEvent::ActorTerminated(who, _, None) => {
                state.call_ended(&myself, who.get_id())
            }
            SupervisionEvent::ActorTerminated(who, _, Some(reason)) => {
                state.call_died(&myself, who.get_id(), &reason)
            }
            SupervisionEvent::ActorFailed(who, error) => {
                state.call_died(&myself, who.get_id(), &error.to_string())
            }
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => Ok(()),
        }
    }
}

impl Drop for State {
    /// SHELL-1: what still runs when the lease is lost has no outcome for anybody.
    fn drop(&mut self) {
        if !self.closing && lost(self.guard.signal()).is_some() {
            let is_call = |call: &&Outstanding| !matches!(call, Outstanding::Wait);
            let outstanding = self.calls.values().filter(is_call).count();
            self.tally.drop_outcomes(outstanding);
        }
    }
}

impl State {
    fn on(&mut self, event: Event) -> Handled {
        if self.is_over()? {
            return Ok(());
        }
        let context = Context {
            now: self.deps.clock.now(),
            random: &*self.deps.random,
        };
        let output = self.machine.on(context, event);
        self.commit(output, vec![])
    }

    /// Whether nothing is decided any more under this epoch. Where the lease is lost, the tree learns of it here at the latest.
    fn is_over(&self) -> Result<bool, ActorProcessingErr> {
        if self.closing {
            return Ok(true);
        }
        let Some(reason) = lost(self.guard.signal()) else {
            return Ok(false);
        };
        self.tree.cast(TreeMsg::Lose(reason))?;
        Ok(true)
    }

    /// Hands an output to the tree. What it asks for is done once it is durable.
    fn commit(&mut self, output: Output, settled: Vec<Settled>) -> Handled {
        if output.entries.is_empty() && settled.is_empty() && output.steps.is_empty() {
            return Ok(());
        }
        let then = match self.machine.standing(self.deps.clock.now()) {
            Standing::Ended => Then::End,
            Standing::Blocked => Then::Block,
            Standing::Busy | Standing::Waiting { .. } | Standing::AtRest { .. } => Then::Continue,
        };
        self.closing = then != Then::Continue;
        self.send(output, settled, then)
    }

    fn send(&mut self, output: Output, settled: Vec<Settled>, then: Then) -> Handled {
        let spilled = spill(write_entries(&output.entries)?)?;
        let interested = self.deps.observer.is_interested();
        let commit = Commit {
            body: spilled.body,
            blobs: spilled.blobs,
            entries: if interested { output.entries } else { vec![] },
            summary: self.machine.summary(),
            steps: output.steps,
            settled,
            then,
            proven: self.machine.is_proven(),
        };
        self.undurable += 1;
        self.tree.cast(TreeMsg::Commit(Box::new(commit)))?;
        Ok(())
    }

    /// A call's actor is over by itself: its report is in the mailbox already.
    fn call_ended(&mut self, myself: &ActorRef<ExecutionMsg>, call: ActorId) -> Handled {
        if self.drain != Drain::No {
            // It counts as running until its report is read.
            myself.cast(ExecutionMsg::Read(Some(call)))?;
            return Ok(());
        }
        let ended = self.calls.remove(&call);
        if !self.closing && ended.is_some_and(|call| !matches!(call, Outstanding::Wait)) {
            let is_lost = lost(self.guard.signal()).is_some();
            self.tally.drop_outcomes(usize::from(is_lost));
        }
        Ok(())
    }

    /// A call's actor failed or was killed, and has not reported.
    fn call_died(
        &mut self,
        myself: &ActorRef<ExecutionMsg>,
        call: ActorId,
        reason: &str,
    ) -> Handled {
        if let Some(call) = self.calls.remove(&call) {
            tracing::warn!(execution = %self.machine.execution(), reason, "call actor died");
            myself.cast(call.unreported(Unreported::Died(reason)))?;
        }
        Ok(())
    }
}
