//! The node actor: the trees that are awake on this instance, who may wake, and what their ends mean.
//!
//! It never waits for the store: a loss reaches every tree however slow the store is.
//!
//! **Supervision.** A tree actor that fails is started again from the journal under a new epoch, at most three times in 60 s; then the
//! tree is quarantined, and left alone if even that fails. No failure of one tree reaches another. If the node itself fails, every
//! tree's actors are killed and the instance must end: what its trees had in flight is in the journal.
//!
//! - NODE-1: a tree has at most one tree actor here.
//! - NODE-2: no wake and no letter is lost: what comes while a tree is closing is looked at once it is closed.

mod admission;
mod drain;
mod ends;
mod message;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use leasehold_execution::machine::DecisionReply;
use leasehold_execution::record::ClaimCause;
use leasehold_journal::LetterId;
use leasehold_lease::ClaimToken;
use leasehold_types::{LeaseLostReason, TreeId, Uptime};
use ractor::{
    Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent,
};
use tokio::sync::oneshot;

use crate::deps::Deps;
use crate::handle::NodeStats;
use crate::hold::Hold;
use crate::restart::RestartLimiter;
use crate::tally::Tally;
use crate::tree::{Fault, TreeMsg};

pub use message::Closed;
pub(crate) use message::{Left, NodeMsg, OnClosed};

/// The fewest waiters among which those that gave up are looked for.
const WAITERS_MIN: usize = 64;

/// Runs one instance's trees.
pub(crate) struct NodeActor;

struct Awake {
    actor: ActorRef<TreeMsg>,
    hold: Arc<Hold>,
    token: ClaimToken,
    cause: ClaimCause,
    alone: bool,
    /// It is being quarantined: if that fails too, it is left alone.
    last_try: bool,
    /// Something came of its epoch.
    proven: bool,
    /// The bells it was told of.
    bells: u64,
    /// Somebody wanted it looked at while it was awake.
    again: Option<ClaimCause>,
}

/// A tree that must run alone.
struct Suspect {
    tree: TreeId,
    /// The token that a failed actor of it may still hold the key by.
    token: ClaimToken,
    cause: ClaimCause,
    /// When it began to wait.
    since: Uptime,
}

/// What a timer of this node is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Retry(TreeId),
    Trial,
}

pub(crate) struct State {
    deps: Arc<Deps>,
    tally: Arc<Tally>,
    awake: BTreeMap<TreeId, Awake>,
    by_actor: BTreeMap<ActorId, TreeId>,
    queue: VecDeque<(TreeId, ClaimCause)>,
    /// What is in the queue and not awake by now.
    queued: BTreeSet<TreeId>,
    suspects: VecDeque<Suspect>,
    timers: BTreeMap<ActorId, Due>,
    limiters: BTreeMap<TreeId, RestartLimiter>,
    waiters: BTreeMap<LetterId, oneshot::Sender<DecisionReply>>,
    /// The number of waiters at which those that gave up are looked for.
    waiters_full: usize,
    unable: BTreeMap<TreeId, String>,
    restarts: u64,
    draining: Option<RpcReplyPort<()>>,
    is_draining: bool,
    on_closed: Option<OnClosed>,
}

type Handled = Result<(), ActorProcessingErr>;

impl Actor for NodeActor {
    type Msg = NodeMsg;
    type State = State;
    type Arguments = Arc<Deps>;

    async fn pre_start(
        &self,
        _: ActorRef<NodeMsg>,
        deps: Arc<Deps>,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State {
            deps,
            tally: Arc::default(),
            awake: BTreeMap::new(),
            by_actor: BTreeMap::new(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            suspects: VecDeque::new(),
            timers: BTreeMap::new(),
            limiters: BTreeMap::new(),
            waiters: BTreeMap::new(),
            waiters_full: WAITERS_MIN,
            unable: BTreeMap::new(),
            restarts: 0,
            draining: None,
            is_draining: false,
            on_closed: None,
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<NodeMsg>,
        message: NodeMsg,
        state: &mut State,
    ) -> Handled {
        match message {
            NodeMsg::Wake { tree, cause } => state.wake(&myself, tree, cause).await?,
            NodeMsg::Retry { tree } => state.retry(&myself, tree).await?,
            NodeMsg::Bell { tree } => state.bell(&myself, tree).await?,
            NodeMsg::Closed {
                tree,
                actor,
                how,
                left,
                bells,
            } => {
                if let Some(was) = state.forget(actor) {
                    let left = was.left(left, bells);
                    state.closed(&myself, tree, was, how, left).await?;
                }
            }
            NodeMsg::Proven { actor } => state.proven(&myself, actor).await?,
            NodeMsg::Trial => state.trial(&myself).await?,
            NodeMsg::Settled { id, reply } => state.settled(&id, reply),
            NodeMsg::Await { id, sender } => state.wait_for(id, sender),
            NodeMsg::Stats(port) => {
                let _gone = port.send(state.stats());
            }
            NodeMsg::Lose { tree, reason } => state.lose(tree, reason),
            NodeMsg::Drain(port) => state.drain(port),
            NodeMsg::Release(port) => state.release(port),
            NodeMsg::OnClosed(told) => state.on_closed = Some(told),
            NodeMsg::Fault { tree, fault } => state.fault(&myself, tree, fault),
        }
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<NodeMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Handled {
        match event {
            SupervisionEvent::ActorFailed(who, error) => {
                state
                    .failed(&myself, who.get_id(), &error.to_string())
                    .await
            }
            SupervisionEvent::ActorTerminated(who, _, Some(reason)) => {
                state.failed(&myself, who.get_id(), &reason).await
            }
            SupervisionEvent::ActorTerminated(who, _, None) => {
                state.timers.remove(&who.get_id());
                Ok(())
            }
            SupervisionEvent::ActorStarted(_) | SupervisionEvent::ProcessGroupChanged(_) => Ok(()),
        }
    }
}

impl Awake {
    /// What is left of its letters: a bell that it did not hear is a letter that it did not read.
    fn left(&self, left: Left, heard: u64) -> Left {
        if left == Left::Nothing && self.bells > heard {
            return Left::Letters;
        }
        left
    }
}

impl State {
    /// The actor is over, or about to be.
    fn forget(&mut self, actor: ActorId) -> Option<Awake> {
        let tree = self.by_actor.remove(&actor)?;
        self.awake.remove(&tree)
    }

    fn settled(&mut self, id: &LetterId, reply: DecisionReply) {
        if let Some(sender) = self.waiters.remove(id) {
            let _gone = sender.send(reply);
        }
    }

    /// Those that gave up are looked for whenever their number may have doubled: it stays proportional to those that wait.
    fn wait_for(&mut self, id: LetterId, sender: oneshot::Sender<DecisionReply>) {
        if self.waiters.len() >= self.waiters_full {
            self.waiters.retain(|_, waiting| !waiting.is_closed());
            self.waiters_full = (self.waiters.len() * 2).max(WAITERS_MIN);
        }
        self.waiters.insert(id, sender);
    }

    fn stats(&self) -> NodeStats {
        NodeStats {
            awake: self.awake.len(),
            queued: self.queued.len(),
            suspects: self.suspects.len(),
            restarts: self.restarts,
            unable: self.unable.clone(),
            waiters: self.waiters.len(),
            outcomes_dropped: self.tally.outcomes_dropped(),
            letters_unreadable: self.tally.letters_unreadable(),
            late_results: self.deps.pool.late_results(),
        }
    }

    /// D7. It goes past the trees' mailboxes first.
    fn lose(&self, tree: Option<TreeId>, reason: LeaseLostReason) {
        let concerned = |id: &TreeId| tree.is_none_or(|tree| tree == *id);
        for (tree, awake) in self.awake.iter().filter(|(tree, _)| concerned(tree)) {
            awake.hold.lose(*tree, reason);
            let _closing = awake.actor.cast(TreeMsg::Lose(reason));
        }
    }

    fn fault(&self, myself: &ActorRef<NodeMsg>, tree: TreeId, fault: Fault) {
        match (self.awake.get(&tree), fault) {
            (_, Fault::Timers) => {
                let is_timer = |child: &ActorCell| self.timers.contains_key(&child.get_id());
                let timers = myself.get_children().into_iter().filter(is_timer);
                timers.for_each(|timer| timer.kill());
            }
            (Some(awake), Fault::Tree) => awake.actor.kill(),
            (Some(awake), Fault::Lease(reason)) => awake.hold.lose(tree, reason),
            (Some(awake), Fault::Execution | Fault::Call(_)) => {
                let _closing = awake.actor.cast(TreeMsg::Fault(fault));
            }
            (None, Fault::Tree | Fault::Lease(_) | Fault::Execution | Fault::Call(_)) => {}
        }
    }
}
