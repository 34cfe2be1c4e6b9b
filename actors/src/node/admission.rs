//! Who may wake: within the limit at once, beyond it in order, letters always, and a suspect only with nothing unproven beside it.

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::record::ClaimCause;
use leasehold_lease::ClaimToken;
use leasehold_types::TreeId;
use ractor::{Actor, ActorId, ActorRef};

use super::{Awake, Due, Handled, NodeMsg, State, Suspect};
use crate::claim::ClaimOrder;
use crate::timer::ring_after;
use crate::tree::{Order, TreeActor, TreeMsg};

/// How long a suspect waits for the trees beside it to get somewhere. One that does not, waits on the outside: a call that
/// takes longer than this does not kill its worker at once.
const TRIAL_WAIT_MAX: Duration = Duration::from_secs(60);

impl State {
    pub(super) async fn wake(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        cause: ClaimCause,
    ) -> Handled {
        if let Some(awake) = self.awake.get_mut(&tree) {
            // NODE-2: it may be closing.
            awake.again = Some(cause);
            return Ok(());
        }
        if self.is_draining || self.queued.contains(&tree) || self.is_suspect(tree) {
            return Ok(());
        }
        if self.awake.len() >= self.deps.config.awake_max {
            self.queued.insert(tree);
            self.queue.push_back((tree, cause));
            return Ok(());
        }
        self.start(myself, tree, cause).await
    }

    /// Letters that may end a tree are always admitted, above the limit too.
    pub(super) async fn bell(&mut self, myself: &ActorRef<NodeMsg>, tree: TreeId) -> Handled {
        if let Some(awake) = self.awake.get_mut(&tree) {
            awake.bells += 1;
            let _closing = awake.actor.cast(TreeMsg::Bell);
            return Ok(());
        }
        if self.is_draining || self.is_suspect(tree) {
            return Ok(());
        }
        // NODE-1: it does not start a second time when its turn in the queue comes.
        self.queued.remove(&tree);
        self.start(myself, tree, ClaimCause::Wake).await
    }

    fn is_suspect(&self, tree: TreeId) -> bool {
        self.suspects.iter().any(|suspect| suspect.tree == tree)
    }

    async fn start(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        cause: ClaimCause,
    ) -> Handled {
        let order = ClaimOrder {
            tree,
            cause,
            token: ClaimToken::new(&*self.deps.random),
            alone: false,
            quarantine: None,
            hold: Arc::default(),
        };
        self.spawn(myself, order).await
    }

    pub(super) async fn spawn(&mut self, myself: &ActorRef<NodeMsg>, claim: ClaimOrder) -> Handled {
        let (tree, token, cause, alone) = (claim.tree, claim.token, claim.cause, claim.alone);
        let (hold, last_try) = (Arc::clone(&claim.hold), claim.quarantine.is_some());
        let order = Order {
            claim,
            deps: Arc::clone(&self.deps),
            node: myself.clone(),
            tally: Arc::clone(&self.tally),
        };
        let spawned = Actor::spawn_linked(None, TreeActor, order, myself.get_cell()).await;
        let (actor, _task) = spawned?;
        self.by_actor.insert(actor.get_id(), tree);
        let awake = Awake {
            actor,
            hold,
            token,
            cause,
            alone,
            last_try,
            proven: false,
            bells: 0,
            again: None,
        };
        self.awake.insert(tree, awake);
        Ok(())
    }

    /// Starts what waits for room, and a suspect where it may be tried.
    pub(super) async fn admit(&mut self, myself: &ActorRef<NodeMsg>) -> Handled {
        while self.awake.len() < self.deps.config.awake_max && !self.is_draining {
            let Some((tree, cause)) = self.queue.pop_front() else {
                break;
            };
            if self.queued.remove(&tree) {
                self.start(myself, tree, cause).await?;
            }
        }
        self.try_suspect(myself).await
    }

    pub(super) async fn proven(&mut self, myself: &ActorRef<NodeMsg>, actor: ActorId) -> Handled {
        let tree = self.by_actor.get(&actor);
        if let Some(awake) = tree.and_then(|tree| self.awake.get_mut(tree)) {
            awake.proven = true;
        }
        self.try_suspect(myself).await
    }

    pub(super) async fn trial(&mut self, myself: &ActorRef<NodeMsg>) -> Handled {
        self.timers.retain(|_, due| *due != Due::Trial);
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
            let after = TRIAL_WAIT_MAX - waited;
            return self.say_after(myself, after, Due::Trial).await;
        }
        let Some(suspect) = self.suspects.pop_front() else {
            return Ok(());
        };
        let order = ClaimOrder {
            tree: suspect.tree,
            cause: suspect.cause,
            token: suspect.token,
            alone: true,
            quarantine: None,
            hold: Arc::default(),
        };
        self.spawn(myself, order).await
    }

    pub(super) fn suspect(&mut self, tree: TreeId, was: &Awake) {
        self.suspects.push_back(Suspect {
            tree,
            token: was.token,
            cause: was.cause,
            since: self.deps.clock.uptime(),
        });
    }

    /// One timer for each thing that is due.
    pub(super) async fn say_after(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        after: Duration,
        due: Due,
    ) -> Handled {
        if self.timers.values().any(|known| *known == due) {
            return Ok(());
        }
        let node = myself.clone();
        let ring = Box::new(move || {
            let _gone = node.cast(due.message());
        });
        let timer = ring_after(myself.get_cell(), &self.deps.clock, after, ring).await?;
        self.timers.insert(timer, due);
        Ok(())
    }
}

impl Due {
    pub(super) const fn message(self) -> NodeMsg {
        match self {
            Self::Retry(tree) => NodeMsg::Retry { tree },
            Self::Trial => NodeMsg::Trial,
        }
    }
}
