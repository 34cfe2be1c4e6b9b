//! The tree actor: holds one tree's lease and writer; one append in flight, and what arrives meanwhile goes into the next frame.
//!
//! **Supervision.** If its execution actor fails or is killed, it loses its guard (no permit is granted again) and fails too; the node
//! starts the tree again from the journal under a new epoch, so that what is in flight is refused like a stranger's. If it fails
//! itself, ractor kills the execution actor and its calls with it, and its guard is lost as it is dropped. Other trees notice nothing.

mod ending;
mod inbox;
mod writing;

use std::collections::VecDeque;
use std::sync::Arc;

use leasehold_execution::{Entry, Standing};
use leasehold_journal::{AppendOutcome, LetterSeq, Writer};
use leasehold_lease::Revision;
use leasehold_types::{FrameIndex, LeaseLostReason, OwnershipGuard, TreeId};
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SupervisionEvent};

use crate::claim::{ClaimEnd, ClaimOrder, Claimed, claim, give_back};
use crate::deps::Deps;
use crate::execution::{Beginning, Commit, ExecutionActor, ExecutionMsg};
use crate::node::{Closed, NodeMsg};
use crate::tally::Tally;

/// What a tree actor is told.
pub(crate) enum TreeMsg {
    /// Journal these together.
    Commit(Box<Commit>),
    /// What became of the append in flight.
    Appended(AppendOutcome),
    /// A letter has arrived.
    Bell,
    /// The inbox could not be read before.
    ReadAgain,
    /// Let what runs end, then release the tree.
    Drain,
    /// Release the tree now; what runs is cut off.
    Release,
    /// The lease is lost.
    Lose(LeaseLostReason),
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
    /// Every timer of the node.
    Timers,
    /// Its lease is lost and nobody's mailbox is told of it, as by a watchdog on a thread of its own.
    Lease(LeaseLostReason),
}

/// Runs one tree.
pub(crate) struct TreeActor;

/// What a tree actor begins with.
pub(crate) struct Order {
    pub(crate) claim: ClaimOrder,
    pub(crate) deps: Arc<Deps>,
    pub(crate) node: ActorRef<NodeMsg>,
    pub(crate) tally: Arc<Tally>,
}

pub(crate) struct State {
    tree: TreeId,
    deps: Arc<Deps>,
    node: ActorRef<NodeMsg>,
    tally: Arc<Tally>,
    /// What to claim, until it is tried.
    order: Option<ClaimOrder>,
    held: Option<Held>,
    /// The bells that were heard.
    bells: u64,
    /// A letter is over and could not be settled.
    unsettled: bool,
    /// A timer for the inbox is under way.
    reads_again: bool,
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

impl Drop for Held {
    /// However the actor ends: nothing may begin under this epoch any more, and what a tool has beside its future hears of it.
    fn drop(&mut self) {
        self.guard.lose(LeaseLostReason::Released);
    }
}

type Handled = Result<(), ActorProcessingErr>;

impl Actor for TreeActor {
    type Msg = TreeMsg;
    type State = State;
    type Arguments = Order;

    async fn pre_start(
        &self,
        _: ActorRef<TreeMsg>,
        order: Order,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State {
            tree: order.claim.tree,
            deps: order.deps,
            node: order.node,
            tally: order.tally,
            order: Some(order.claim),
            held: None,
            bells: 0,
            unsettled: false,
            reads_again: false,
        })
    }

    async fn post_start(&self, myself: ActorRef<TreeMsg>, state: &mut State) -> Handled {
        let Some(order) = state.order.take() else {
            return Ok(());
        };
        match claim(&state.deps, &order, &state.tally).await {
            ClaimEnd::Won(claimed) => state.begin(&myself, *claimed).await,
            ClaimEnd::NotNow { how, settled } => {
                state.settle(settled).await;
                state.close(&myself, how).await
            }
        }
    }

    async fn handle(
        &self,
        myself: ActorRef<TreeMsg>,
        message: TreeMsg,
        state: &mut State,
    ) -> Handled {
        match message {
            TreeMsg::Commit(commit) => {
                let Some(held) = &mut state.held else {
                    return Ok(());
                };
                held.waiting.push_back(*commit);
                state.append_next(&myself).await
            }
            TreeMsg::Appended(outcome) => state.appended(&myself, outcome).await,
            TreeMsg::Bell => {
                state.bells += 1;
                state.read_inbox(&myself).await
            }
            TreeMsg::ReadAgain => {
                state.reads_again = false;
                state.read_inbox(&myself).await
            }
            TreeMsg::Drain => state.tell(ExecutionMsg::Drain),
            TreeMsg::Release => state.tell(ExecutionMsg::Release),
            TreeMsg::Lose(reason) => state.lost(&myself, reason).await,
            TreeMsg::Fault(fault) => state.fault(&myself, fault),
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<TreeMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Handled {
        match event {
            SupervisionEvent::ActorFailed(who, error) => {
                state.child_ended(&myself, &who, &error.to_string())
            }
            SupervisionEvent::ActorTerminated(who, _, reason) => {
                let reason = reason.unwrap_or_else(|| "it stopped".to_owned());
                state.child_ended(&myself, &who, &reason)
            }
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => Ok(()),
        }
    }
}

impl State {
    async fn begin(&mut self, myself: &ActorRef<TreeMsg>, claimed: Claimed) -> Handled {
        self.observe(claimed.frame, &claimed.entries);
        self.settle(claimed.settled).await;
        let done = match claimed.machine.standing(self.deps.clock.now()) {
            Standing::Ended => Some(Closed::Ended),
            Standing::Blocked => Some(Closed::Blocked),
            Standing::Busy | Standing::Waiting { .. } | Standing::AtRest { .. } => None,
        };
        if let Some(how) = done {
            give_back(&self.deps, self.tree, claimed.revision).await;
            return self.close(myself, how).await;
        }
        let proven = claimed.machine.is_proven();
        let beginning = Beginning {
            machine: claimed.machine,
            agent: claimed.agent,
            tenant: claimed.tenant,
            guard: claimed.guard.clone(),
            tree: myself.clone(),
            deps: Arc::clone(&self.deps),
            tally: Arc::clone(&self.tally),
        };
        let (execution, _task) =
            Actor::spawn_linked(None, ExecutionActor, beginning, myself.get_cell()).await?;
        execution.cast(ExecutionMsg::Durable {
            frame: claimed.frame,
            commits: 1,
            steps: claimed.steps,
        })?;
        self.held = Some(Held {
            writer: claimed.writer,
            guard: claimed.guard,
            revision: claimed.revision,
            execution,
            cursor: claimed.cursor,
            proven: false,
            waiting: VecDeque::new(),
            in_flight: vec![],
        });
        if proven {
            self.tell_proven(myself)?;
        }
        // A letter that came between the look and the claim rang for nobody.
        self.read_inbox(myself).await
    }

    /// The end of the execution actor is this one's too. A timer that was killed rings at once.
    fn child_ended(&self, myself: &ActorRef<TreeMsg>, who: &ActorCell, why: &str) -> Handled {
        let Some(held) = &self.held else {
            return Ok(());
        };
        if who.get_id() == held.execution.get_id() {
            held.guard.lose(LeaseLostReason::Released);
            return Err(format!("the execution actor ended: {why}").into());
        }
        myself.cast(TreeMsg::ReadAgain)?;
        Ok(())
    }

    fn tell(&self, message: ExecutionMsg) -> Handled {
        if let Some(held) = &self.held {
            held.execution.cast(message)?;
        }
        Ok(())
    }

    /// Tells the node, once, that something came of this epoch.
    fn tell_proven(&mut self, myself: &ActorRef<TreeMsg>) -> Handled {
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

    fn fault(&self, myself: &ActorRef<TreeMsg>, fault: Fault) -> Handled {
        match (&self.held, fault) {
            (_, Fault::Tree) => myself.kill(),
            (Some(held), Fault::Execution) => held.execution.kill(),
            (Some(_), Fault::Call(position)) => self.tell(ExecutionMsg::Fault(position))?,
            (None, Fault::Execution | Fault::Call(_)) | (_, Fault::Timers | Fault::Lease(_)) => {}
        }
        Ok(())
    }
}
