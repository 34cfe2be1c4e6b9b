//! The node actor: the trees that are awake on this instance, who may wake, and what their ends mean.
//!
//! **Supervision.** A tree actor that fails is started again from the journal under a new epoch, at most three times in 60 s; then the
//! tree is quarantined. No failure of one tree reaches another. If the node itself fails, every tree's actors are killed and the
//! instance must end: what its trees had in flight is in the journal.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::machine::DecisionReply;
use leasehold_execution::record::ClaimCause;
use leasehold_journal::{LetterId, LetterSeq};
use leasehold_lease::ClaimToken;
use leasehold_types::{Epoch, Timestamp, TreeId, Uptime};
use ractor::{Actor, ActorId, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use tokio::sync::oneshot;

use crate::claim::ClaimOrder;
use crate::deps::Deps;
use crate::handle::NodeStats;
use crate::restart::RestartLimiter;
use crate::timer::{Ring, TimerActor};
use crate::tree::{Fault, TreeActor, TreeMsg};

/// How long to wait before a tree that the store could not serve is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How long a suspect waits for the trees beside it to get somewhere. One that does not, waits on the outside: a call that
/// takes longer than this does not kill its worker at once.
const TRIAL_WAIT_MAX: Duration = Duration::from_secs(60);

/// How a tree's actors came to an end without failing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closed {
    /// The execution is over.
    Ended,
    /// It rests until a letter or this time.
    Resting {
        /// When its first timer ends.
        due: Option<Timestamp>,
    },
    /// It was released while steps are left.
    Released,
    /// It waits for an operator.
    Blocked,
    /// A higher epoch is in its journal.
    Fenced {
        /// That epoch.
        by: Epoch,
    },
    /// Another instance holds it.
    HeldElsewhere,
    /// The store does not serve it now; it is tried again.
    Unavailable {
        /// What it said.
        why: String,
    },
    /// Its journal is not what was written; it is left alone.
    Corrupt {
        /// What is wrong.
        why: String,
    },
    /// This instance cannot run it; it is left untouched.
    WaitingForVersion {
        /// What it would take.
        why: String,
    },
    /// There is no such tree.
    Missing,
    /// It has killed its workers and must run without another suspect beside it.
    Suspect,
}

/// Told whenever a tree's actors have ended.
pub(crate) type OnClosed = Arc<dyn Fn(TreeId, &Closed) + Send + Sync>;

/// What a node actor is told.
pub(crate) enum NodeMsg {
    /// Look whether this tree has something to do.
    Wake { tree: TreeId, cause: ClaimCause },
    /// A letter has arrived for this tree.
    Bell { tree: TreeId },
    /// A tree's actors have ended.
    Closed {
        tree: TreeId,
        actor: ActorId,
        how: Closed,
    },
    /// Something came of a tree's epoch.
    Proven { actor: ActorId },
    /// A suspect has waited long enough.
    Trial,
    /// A letter is over.
    Settled { id: LetterId, reply: DecisionReply },
    /// Somebody waits for a letter's outcome.
    Await {
        id: LetterId,
        sender: oneshot::Sender<DecisionReply>,
    },
    /// How it stands.
    Stats(RpcReplyPort<NodeStats>),
    /// Take no new work, let what runs end, release the trees; then answer.
    Drain(RpcReplyPort<()>),
    /// Told when a tree rests or is over, for whoever keeps timers.
    OnClosed(OnClosed),
    /// Kill an actor of a tree, as a defect would.
    Fault { tree: TreeId, fault: Fault },
}

/// Runs one instance's trees.
pub(crate) struct NodeActor;

struct Awake {
    actor: ActorRef<TreeMsg>,
    token: ClaimToken,
    cause: ClaimCause,
    alone: bool,
    /// Something came of its epoch.
    proven: bool,
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

pub(crate) struct State {
    deps: Arc<Deps>,
    awake: BTreeMap<TreeId, Awake>,
    by_actor: BTreeMap<ActorId, TreeId>,
    queue: VecDeque<(TreeId, ClaimCause)>,
    queued: BTreeSet<TreeId>,
    suspects: VecDeque<Suspect>,
    /// A timer for the first of them is under way.
    trial_waits: bool,
    limiters: BTreeMap<TreeId, RestartLimiter>,
    waiters: BTreeMap<LetterId, oneshot::Sender<DecisionReply>>,
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
            awake: BTreeMap::new(),
            by_actor: BTreeMap::new(),
            queue: VecDeque::new(),
            queued: BTreeSet::new(),
            suspects: VecDeque::new(),
            trial_waits: false,
            limiters: BTreeMap::new(),
            waiters: BTreeMap::new(),
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
            NodeMsg::Wake { tree, cause } => state.wake(&myself, tree, cause).await,
            NodeMsg::Bell { tree } => state.bell(&myself, tree).await,
            NodeMsg::Closed { tree, actor, how } => state.closed(&myself, tree, actor, how).await,
            NodeMsg::Proven { actor } => {
                let tree = state.by_actor.get(&actor);
                if let Some(awake) = tree.and_then(|tree| state.awake.get_mut(tree)) {
                    awake.proven = true;
                }
                state.try_suspect(&myself).await
            }
            NodeMsg::Trial => {
                state.trial_waits = false;
                state.try_suspect(&myself).await
            }
            NodeMsg::Settled { id, reply } => {
                if let Some(sender) = state.waiters.remove(&id) {
                    let _gone = sender.send(reply);
                }
                Ok(())
            }
            NodeMsg::Await { id, sender } => {
                state.waiters.retain(|_, waiting| !waiting.is_closed());
                state.waiters.insert(id, sender);
                Ok(())
            }
            NodeMsg::Stats(port) => {
                let _gone = port.send(state.stats());
                Ok(())
            }
            NodeMsg::Drain(port) => state.drain(port),
            NodeMsg::OnClosed(told) => {
                state.on_closed = Some(told);
                Ok(())
            }
            NodeMsg::Fault { tree, fault } => {
                match state.awake.get(&tree) {
                    Some(awake) if fault == Fault::Tree => awake.actor.kill(),
                    Some(awake) => awake.actor.cast(TreeMsg::Fault(fault))?,
                    None => {}
                }
                Ok(())
            }
        }
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<NodeMsg>,
        event: SupervisionEvent,
        state: &mut State,
    ) -> Handled {
        let failed = match event {
            SupervisionEvent::ActorFailed(who, error) => Some((who, error.to_string())),
            SupervisionEvent::ActorTerminated(who, _, Some(reason)) => Some((who, reason)),
            SupervisionEvent::ActorTerminated(_, _, None)
            | SupervisionEvent::ActorStarted(_)
            | SupervisionEvent::ProcessGroupChanged(_) => None,
        };
        match failed {
            Some((who, error)) => state.failed(&myself, who.get_id(), &error).await,
            None => Ok(()),
        }
    }
}

impl State {
    async fn wake(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        cause: ClaimCause,
    ) -> Handled {
        if self.is_draining || self.awake.contains_key(&tree) || self.queued.contains(&tree) {
            return Ok(());
        }
        if self.awake.len() >= self.deps.config.awake_max {
            self.queued.insert(tree);
            self.queue.push_back((tree, cause));
            return Ok(());
        }
        self.start(myself, tree, cause, None).await
    }

    /// Letters that may end a tree are always admitted, above the limit too.
    async fn bell(&mut self, myself: &ActorRef<NodeMsg>, tree: TreeId) -> Handled {
        if let Some(awake) = self.awake.get(&tree) {
            let _closing = awake.actor.cast(TreeMsg::Bell);
            return Ok(());
        }
        if self.is_draining || self.suspects.iter().any(|suspect| suspect.tree == tree) {
            return Ok(());
        }
        self.start(myself, tree, ClaimCause::Wake, None).await
    }

    async fn start(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        cause: ClaimCause,
        quarantine: Option<String>,
    ) -> Handled {
        let token = ClaimToken::new(&*self.deps.random);
        let order = ClaimOrder {
            tree,
            cause,
            token,
            alone: false,
            quarantine,
        };
        self.spawn(myself, order).await
    }

    async fn spawn(&mut self, myself: &ActorRef<NodeMsg>, order: ClaimOrder) -> Handled {
        let (tree, token, cause, alone) = (order.tree, order.token, order.cause, order.alone);
        let arguments = (order, Arc::clone(&self.deps), myself.clone());
        let (actor, _task) =
            Actor::spawn_linked(None, TreeActor, arguments, myself.get_cell()).await?;
        self.by_actor.insert(actor.get_id(), tree);
        self.awake.insert(
            tree,
            Awake {
                actor,
                token,
                cause,
                alone,
                proven: false,
            },
        );
        Ok(())
    }

    fn forget(&mut self, actor: ActorId) -> Option<(TreeId, Awake)> {
        let tree = self.by_actor.remove(&actor)?;
        let awake = self.awake.remove(&tree)?;
        Some((tree, awake))
    }

    async fn closed(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        actor: ActorId,
        how: Closed,
    ) -> Handled {
        let Some((_, was)) = self.forget(actor) else {
            return Ok(());
        };
        if let Some(told) = &self.on_closed {
            told(tree, &how);
        }
        self.unable.remove(&tree);
        match &how {
            Closed::Resting { .. } | Closed::Blocked | Closed::Ended => {
                self.look_again(myself, tree).await?;
            }
            Closed::Suspect => self.suspects.push_back(Suspect {
                tree,
                token: was.token,
                cause: was.cause,
                since: self.deps.clock.uptime(),
            }),
            Closed::Unavailable { why } => {
                tracing::warn!(%tree, why, "tree cannot be served now");
                self.later(myself, tree).await?;
            }
            Closed::Corrupt { why } | Closed::WaitingForVersion { why } => {
                tracing::error!(%tree, why, "tree is left alone");
                self.unable.insert(tree, why.clone());
                self.refuse_letters(tree, why).await;
            }
            Closed::Missing | Closed::Released | Closed::Fenced { .. } | Closed::HeldElsewhere => {}
        }
        if how == Closed::Ended {
            self.limiters.remove(&tree);
        }
        self.admit(myself).await?;
        self.drained();
        Ok(())
    }

    /// A letter that came while a tree was closing rang for nobody.
    async fn look_again(&mut self, myself: &ActorRef<NodeMsg>, tree: TreeId) -> Handled {
        let letters = self.deps.store.letters(tree, LetterSeq::default()).await;
        if letters.is_ok_and(|letters| !letters.is_empty()) {
            self.bell(myself, tree).await?;
        }
        Ok(())
    }

    /// Letters for a tree that cannot be moved here are answered at once; unblocking it is a claim.
    async fn refuse_letters(&mut self, tree: TreeId, why: &str) {
        let letters = self
            .deps
            .store
            .letters(tree, LetterSeq::default())
            .await
            .unwrap_or_default();
        for letter in letters {
            if let Some(sender) = self.waiters.remove(&letter.letter.id) {
                let _gone = sender.send(DecisionReply::Invalid(why.to_owned()));
            }
        }
    }

    async fn later(&self, myself: &ActorRef<NodeMsg>, tree: TreeId) -> Handled {
        let cause = ClaimCause::Takeover;
        self.say_after(myself, RETRY_AFTER, NodeMsg::Wake { tree, cause })
            .await
    }

    async fn say_after(
        &self,
        myself: &ActorRef<NodeMsg>,
        after: Duration,
        message: NodeMsg,
    ) -> Handled {
        let node = myself.clone();
        let ring: Ring = Box::new(move || {
            let _gone = node.cast(message);
        });
        let arguments = (Arc::clone(&self.deps.clock), after, ring);
        Actor::spawn_linked(None, TimerActor, arguments, myself.get_cell()).await?;
        Ok(())
    }

    /// Starts what waits for room, and a suspect where it may be tried.
    async fn admit(&mut self, myself: &ActorRef<NodeMsg>) -> Handled {
        while self.awake.len() < self.deps.config.awake_max && !self.is_draining {
            let Some((tree, cause)) = self.queue.pop_front() else {
                break;
            };
            self.queued.remove(&tree);
            self.start(myself, tree, cause, None).await?;
        }
        self.try_suspect(myself).await
    }

    /// Starts one suspect, once everything beside it has got somewhere: if the worker dies then, it is the suspect's doing.
    ///
    /// A tree beside it that has died less often may be the one that kills: it is not waited for longer than [`TRIAL_WAIT_MAX`].
    async fn try_suspect(&mut self, myself: &ActorRef<NodeMsg>) -> Handled {
        let Some(first) = self.suspects.front() else {
            return Ok(());
        };
        let on_trial = |awake: &Awake| awake.alone && !awake.proven;
        if self.is_draining || self.awake.values().any(on_trial) {
            return Ok(());
        }
        let is_alone = self.awake.values().all(|awake| awake.proven);
        let waited = self.deps.clock.uptime().since(first.since);
        if !is_alone && waited < TRIAL_WAIT_MAX {
            return self.wait_for_trial(myself, TRIAL_WAIT_MAX - waited).await;
        }
        let Some(Suspect {
            tree, token, cause, ..
        }) = self.suspects.pop_front()
        else {
            return Ok(());
        };
        let (alone, quarantine) = (true, None);
        let order = ClaimOrder {
            tree,
            cause,
            token,
            alone,
            quarantine,
        };
        self.spawn(myself, order).await
    }

    async fn wait_for_trial(&mut self, myself: &ActorRef<NodeMsg>, after: Duration) -> Handled {
        if self.trial_waits {
            return Ok(());
        }
        self.trial_waits = true;
        self.say_after(myself, after, NodeMsg::Trial).await
    }

    /// A tree's actors failed: again under a new epoch, or quarantine.
    async fn failed(&mut self, myself: &ActorRef<NodeMsg>, actor: ActorId, error: &str) -> Handled {
        let Some((tree, awake)) = self.forget(actor) else {
            return Ok(());
        };
        self.restarts += 1;
        let limiter = self.limiters.entry(tree).or_default();
        let quarantine = if limiter.may_restart(self.deps.clock.uptime()) {
            tracing::warn!(%tree, error, "tree actor failed, started again");
            None
        } else {
            tracing::error!(%tree, error, "tree actors failed too often, quarantined");
            Some(format!(
                "its actors failed more than 3 times in 60 s, last: {error}"
            ))
        };
        // The key stays ours: the same token is recognised, the epoch is a new one.
        let Awake { token, alone, .. } = awake;
        let cause = ClaimCause::Restart;
        self.spawn(
            myself,
            ClaimOrder {
                tree,
                cause,
                token,
                alone,
                quarantine,
            },
        )
        .await
    }

    fn drain(&mut self, port: RpcReplyPort<()>) -> Handled {
        self.is_draining = true;
        self.draining = Some(port);
        for awake in self.awake.values() {
            let _gone = awake.actor.cast(TreeMsg::Drain);
        }
        self.drained();
        Ok(())
    }

    fn drained(&mut self) {
        if self.awake.is_empty()
            && let Some(port) = self.draining.take()
        {
            let _gone = port.send(());
        }
    }

    fn stats(&self) -> NodeStats {
        NodeStats {
            awake: self.awake.len(),
            queued: self.queue.len(),
            suspects: self.suspects.len(),
            restarts: self.restarts,
            unable: self.unable.clone(),
        }
    }
}
