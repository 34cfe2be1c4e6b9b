//! The tree actor: holds one tree's lease and writer; one append in flight, and what arrives meanwhile goes into the next frame.
//!
//! **Supervision.** If its execution actor fails or is killed, it loses its guard (no permit is granted again) and fails too; the node
//! starts the tree again from the journal under a new epoch, so that what is in flight is refused like a stranger's. If it fails
//! itself, ractor kills the execution actor and its calls with it. Other trees notice nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use leasehold_execution::{Entry, Standing};
use leasehold_journal::{AppendOutcome, FRAME_BYTES_MAX, LetterSeq, SealedFrame, Tail, Writer};
use leasehold_lease::Revision;
use leasehold_types::{FrameIndex, LeaseLostReason, OwnershipGuard, TreeId};
use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};

use crate::append::settle_append;
use crate::claim::{ClaimEnd, ClaimOrder, Claimed, claim, give_back};
use crate::deps::Deps;
use crate::execution::{Beginning, Commit, ExecutionActor, ExecutionMsg, Settled, Then};
use crate::look::read_letters;
use crate::node::{Closed, NodeMsg};

/// The most bytes of records in one frame; the rest of [`FRAME_BYTES_MAX`] is the header's.
const BODY_BYTES_MAX: usize = FRAME_BYTES_MAX - 1_024;

/// What a tree actor is told.
pub(crate) enum TreeMsg {
    /// Journal these together.
    Commit(Box<Commit>),
    /// What became of the append in flight.
    Appended(AppendOutcome),
    /// A letter has arrived.
    Bell,
    /// Let what runs end, then release the tree.
    Drain,
    /// Kill an actor below, as a defect would.
    Fault(Fault),
}

/// Which actor of a tree is killed, for tests of supervision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The tree's own.
    Tree,
    /// Its execution's.
    Execution,
    /// That of one running call, by the order in which ractor lists them.
    Call(usize),
}

/// Runs one tree.
pub(crate) struct TreeActor;

pub(crate) struct State {
    tree: TreeId,
    deps: Arc<Deps>,
    node: ActorRef<NodeMsg>,
    /// What to claim, until it is tried.
    order: Option<ClaimOrder>,
    held: Option<Held>,
}

/// What the actor has once the tree is claimed.
struct Held {
    writer: Writer,
    guard: OwnershipGuard,
    revision: Revision,
    execution: ActorRef<ExecutionMsg>,
    cursor: LetterSeq,
    /// The node knows that something came of this epoch.
    proven: bool,
    waiting: VecDeque<Commit>,
    /// The commits of the frame in flight.
    in_flight: Vec<Commit>,
}

impl Actor for TreeActor {
    type Msg = TreeMsg;
    type State = State;
    type Arguments = (ClaimOrder, Arc<Deps>, ActorRef<NodeMsg>);

    async fn pre_start(
        &self,
        _: ActorRef<TreeMsg>,
        (order, deps, node): Self::Arguments,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State {
            tree: order.tree,
            deps,
            node,
            order: Some(order),
            held: None,
        })
    }

    async fn post_start(
        &self,
        myself: ActorRef<TreeMsg>,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        let Some(order) = state.order.take() else {
            return Ok(());
        };
        match claim(&state.deps, &order).await {
            ClaimEnd::Won(claimed) => state.begin(&myself, *claimed).await,
            ClaimEnd::NotNow { how, settled } => {
                state.settle(settled).await;
                state.close(&myself, how)
            }
        }
    }

    async fn handle(
        &self,
        myself: ActorRef<TreeMsg>,
        message: TreeMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            TreeMsg::Commit(commit) => {
                let Some(held) = &mut state.held else {
                    return Ok(());
                };
                held.waiting.push_back(*commit);
                state.append_next(&myself).await
            }
            TreeMsg::Appended(outcome) => state.appended(&myself, outcome).await,
            TreeMsg::Bell => state.read_inbox().await,
            TreeMsg::Fault(fault) => {
                match (&state.held, fault) {
                    (_, Fault::Tree) => myself.kill(),
                    (Some(held), Fault::Execution) => held.execution.kill(),
                    (Some(held), Fault::Call(position)) => {
                        held.execution.cast(ExecutionMsg::Fault(position))?;
                    }
                    (None, Fault::Execution | Fault::Call(_)) => {}
                }
                Ok(())
            }
            TreeMsg::Drain => {
                if let Some(held) = &state.held {
                    held.execution.cast(ExecutionMsg::Drain)?;
                }
                Ok(())
            }
        }
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<TreeMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match event {
            SupervisionEvent::ActorFailed(_, error) => {
                state.lose(LeaseLostReason::Released);
                Err(format!("the execution actor failed: {error}").into())
            }
            SupervisionEvent::ActorTerminated(_, _, reason) => {
                state.lose(LeaseLostReason::Released);
                let reason = reason.unwrap_or_else(|| "it stopped".to_owned());
                Err(format!("the execution actor ended: {reason}").into())
            }
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => Ok(()),
        }
    }
}

impl State {
    async fn begin(
        &mut self,
        myself: &ActorRef<TreeMsg>,
        claimed: Claimed,
    ) -> Result<(), ActorProcessingErr> {
        let Claimed {
            machine,
            agent,
            tenant,
            writer,
            guard,
            revision,
            frame,
            steps,
            settled,
            entries,
            cursor,
        } = claimed;
        self.observe(frame, &entries);
        self.settle(settled).await;
        let now = self.deps.clock.now();
        let done = match machine.standing(now) {
            Standing::Ended => Some(Closed::Ended),
            Standing::Blocked => Some(Closed::Blocked),
            Standing::Busy | Standing::Waiting { .. } | Standing::AtRest { .. } => None,
        };
        if let Some(how) = done {
            give_back(&self.deps, self.tree, revision).await;
            return self.close(myself, how);
        }
        let proven = machine.is_proven();
        let beginning = Beginning {
            machine,
            agent,
            tenant,
            guard: guard.clone(),
            tree: myself.clone(),
            deps: Arc::clone(&self.deps),
        };
        let (execution, _task) =
            Actor::spawn_linked(None, ExecutionActor, beginning, myself.get_cell()).await?;
        execution.cast(ExecutionMsg::Durable {
            frame,
            commits: 1,
            steps,
        })?;
        self.held = Some(Held {
            writer,
            guard,
            revision,
            execution,
            cursor,
            proven: false,
            waiting: VecDeque::new(),
            in_flight: vec![],
        });
        if proven {
            self.tell_proven(myself)?;
        }
        // A letter that came between the look and the claim rang for nobody.
        self.read_inbox().await
    }

    /// Seals everything that waits, up to a frame's size, and hands it to the store.
    async fn append_next(&mut self, myself: &ActorRef<TreeMsg>) -> Result<(), ActorProcessingErr> {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        if !held.in_flight.is_empty() {
            return Ok(());
        }
        let mut body = Vec::new();
        while let Some(next) = held.waiting.front() {
            if !body.is_empty() && body.len() + next.body.len() > BODY_BYTES_MAX {
                break;
            }
            let Some(commit) = held.waiting.pop_front() else {
                break;
            };
            if body.is_empty() {
                body.reserve(commit.body.len());
            }
            body.extend_from_slice(&commit.body);
            held.in_flight.push(commit);
        }
        let Some(last) = held.in_flight.last() else {
            return Ok(());
        };
        if body.is_empty() {
            // Nothing to make durable: what was asked for rests on frames that are.
            return self.done(myself, held_frame(&self.held)).await;
        }
        let summary = last.summary.clone();
        for commit in &mut held.in_flight {
            for blob in commit.blobs.drain(..) {
                self.deps.store.put_blob(self.tree, blob).await?;
            }
        }
        let sealed = held.writer.seal(summary, &body)?;
        send(&self.deps, held.writer.tail(), sealed, myself);
        Ok(())
    }

    async fn appended(
        &mut self,
        myself: &ActorRef<TreeMsg>,
        outcome: AppendOutcome,
    ) -> Result<(), ActorProcessingErr> {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        let signal = held.guard.signal().clone();
        let tail = match outcome {
            AppendOutcome::Acked(tail) => Ok(tail),
            unclear @ (AppendOutcome::Refused
            | AppendOutcome::Unknown(_)
            | AppendOutcome::Failed(_)) => {
                settle_append(&self.deps, &mut held.writer, unclear, &signal).await
            }
        };
        match tail {
            Ok(tail) => {
                let frame = held.writer.acked(tail);
                held.guard.acknowledged(frame);
                self.done(myself, frame).await?;
                self.append_next(myself).await
            }
            Err(how) => {
                let is_fenced = matches!(how, Closed::Fenced { .. });
                self.lose(if is_fenced {
                    LeaseLostReason::Fenced
                } else {
                    LeaseLostReason::Released
                });
                self.shut(myself, how).await
            }
        }
    }

    /// The commits in flight are durable: their observers, senders and steps hear of it.
    async fn done(
        &mut self,
        myself: &ActorRef<TreeMsg>,
        frame: FrameIndex,
    ) -> Result<(), ActorProcessingErr> {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        let commits = std::mem::take(&mut held.in_flight);
        let count = commits.len();
        let proven = commits.iter().any(|commit| commit.proven);
        let mut steps = Vec::new();
        let mut then = Then::Continue;
        let mut settled = Vec::new();
        for commit in commits {
            if !commit.entries.is_empty() {
                self.deps
                    .observer
                    .durable(self.tree, frame, &commit.entries);
            }
            steps.extend(commit.steps);
            settled.extend(commit.settled);
            then = commit.then;
        }
        if then == Then::Continue {
            held.execution.cast(ExecutionMsg::Durable {
                frame,
                commits: count,
                steps,
            })?;
        }
        if !settled.is_empty() {
            self.settle(settled).await;
        }
        if proven {
            self.tell_proven(myself)?;
        }
        match then {
            Then::Continue => Ok(()),
            Then::Rest(due) => self.shut(myself, Closed::Resting { due }).await,
            Then::End => self.shut(myself, Closed::Ended).await,
            Then::Block => self.shut(myself, Closed::Blocked).await,
            Then::Release => self.shut(myself, Closed::Released).await,
        }
    }

    async fn read_inbox(&mut self) -> Result<(), ActorProcessingErr> {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        let letters = match read_letters(&self.deps, self.tree, held.cursor).await {
            Ok(letters) => letters,
            Err(error) => {
                tracing::warn!(tree = %self.tree, error, "inbox cannot be read now");
                return Ok(());
            }
        };
        held.cursor = letters.cursor;
        for arrived in letters.arrived {
            held.execution.cast(ExecutionMsg::Letter(arrived))?;
        }
        let unreadable = letters.unreadable;
        self.settle(unreadable).await;
        Ok(())
    }

    /// Ends letters and tells their senders.
    async fn settle(&self, settled: Vec<Settled>) {
        for Settled { seq, id, reply } in settled {
            if let Err(error) = self.deps.store.settle(self.tree, seq).await {
                // It is read again by the next owner, whose machine knows the decision.
                tracing::warn!(tree = %self.tree, %error, "letter could not be settled");
            }
            let _gone = self.node.cast(NodeMsg::Settled { id, reply });
        }
    }

    /// Tells the node, once, that something came of this epoch.
    fn tell_proven(&mut self, myself: &ActorRef<TreeMsg>) -> Result<(), ActorProcessingErr> {
        if let Some(held) = &mut self.held
            && !held.proven
        {
            held.proven = true;
            let actor = myself.get_id();
            self.node.cast(NodeMsg::Proven { actor })?;
        }
        Ok(())
    }

    fn observe(&self, frame: FrameIndex, entries: &[Entry]) {
        if self.deps.observer.is_interested() {
            self.deps.observer.durable(self.tree, frame, entries);
        }
    }

    fn lose(&self, reason: LeaseLostReason) {
        if let Some(held) = &self.held {
            held.guard.lose(reason);
        }
    }

    /// Ends the actors, gives the lease back, and tells the node.
    async fn shut(
        &mut self,
        myself: &ActorRef<TreeMsg>,
        how: Closed,
    ) -> Result<(), ActorProcessingErr> {
        if let Some(held) = self.held.take() {
            held.guard.lose(LeaseLostReason::Released);
            // The execution actor is killed with this one; nothing of it may act in between.
            give_back(&self.deps, self.tree, held.revision).await;
        }
        self.close(myself, how)
    }

    fn close(&self, myself: &ActorRef<TreeMsg>, how: Closed) -> Result<(), ActorProcessingErr> {
        self.node.cast(NodeMsg::Closed {
            tree: self.tree,
            actor: myself.get_id(),
            how,
        })?;
        myself.stop(None);
        Ok(())
    }
}

fn held_frame(held: &Option<Held>) -> FrameIndex {
    let next = held
        .as_ref()
        .map_or(0, |held| held.writer.next_index().get());
    FrameIndex::new(next.saturating_sub(1))
}

fn send(deps: &Deps, tail: Tail, sealed: SealedFrame, myself: &ActorRef<TreeMsg>) {
    let myself = myself.clone();
    let done = move |outcome| {
        // A tree that is gone needs no answer: its successor reads the journal.
        let _gone = myself.cast(TreeMsg::Appended(outcome));
    };
    deps.store.append(tail, sealed, Box::new(done));
}
