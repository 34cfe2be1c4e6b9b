//! The handle of an instance: start, decide, cancel, retry, wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use leasehold_execution::record::ClaimCause;
use leasehold_journal::{FollowCursor, JournalError};
use leasehold_types::{
    LeaseLostReason, Owner, PauseId, PauseRef, Principal, Tenant, ThreadId, TreeId, TreeSummary,
};
use ractor::{Actor, ActorRef, RpcReplyPort};

use crate::deps::Deps;
use crate::node::{NodeActor, NodeMsg, OnClosed};
use crate::tree::Fault;

/// The longest that releasing the trees takes, once their grace is over.
const RELEASE_MAX: Duration = Duration::from_secs(2);

/// What to start.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// The agent, which is the workflow too where it runs by itself.
    pub agent: String,
    /// What it is asked.
    pub input: String,
    /// Whose execution it is.
    pub owner: Owner,
    /// The owner's tenant.
    pub tenant: Tenant,
    /// The conversation it belongs to.
    pub thread: Option<ThreadId>,
    /// Who starts it.
    pub started_by: Principal,
    /// The caller's key: the same key gives the same execution.
    pub idempotency_key: Option<String>,
}

/// Which pause is answered.
#[derive(Debug, Clone, Copy)]
pub enum PauseTarget {
    /// By its public reference.
    Reference(PauseRef),
    /// By its secret, in this tree.
    Secret(TreeId, PauseId),
}

/// How an instance stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeStats {
    /// Trees that are awake.
    pub awake: usize,
    /// Trees that wait for room.
    pub queued: usize,
    /// Trees that wait to run alone.
    pub suspects: usize,
    /// Tree actors that were started again.
    pub restarts: u64,
    /// Trees that this instance cannot move, and why.
    pub unable: BTreeMap<TreeId, String>,
    /// Letters whose senders are still told of.
    pub waiters: usize,
    /// Calls whose outcome was dropped because the lease was lost under them.
    pub outcomes_dropped: u64,
    /// Letters that were dropped because nobody can read them.
    pub letters_unreadable: u64,
    /// Blocking tools that ended after their call was given up.
    pub late_results: u64,
}

/// An instance that runs trees. Clones share it.
#[derive(Debug, Clone)]
pub struct Node {
    pub(crate) actor: ActorRef<NodeMsg>,
    pub(crate) deps: Arc<Deps>,
    /// It takes no new work any more.
    pub(crate) draining: Arc<AtomicBool>,
}

impl Node {
    /// Starts an instance. Trees left over from before are woken by whoever keeps them, with [`Node::wake`].
    ///
    /// # Errors
    /// The actor system refused to start it.
    pub async fn spawn(deps: Deps) -> Result<Self, ractor::SpawnErr> {
        let deps = Arc::new(deps);
        let (actor, _task) = Actor::spawn(None, NodeActor, Arc::clone(&deps)).await?;
        let bell = actor.clone();
        deps.store.listen(Arc::new(move |tree| {
            let _gone = bell.cast(NodeMsg::Bell { tree });
        }));
        Ok(Self {
            actor,
            deps,
            draining: Arc::default(),
        })
    }

    /// What the instance works with.
    #[must_use]
    pub fn deps(&self) -> &Deps {
        &self.deps
    }

    /// Has `told` called whenever a tree's actors have ended.
    pub fn on_closed(&self, told: OnClosed) {
        let _gone = self.actor.cast(NodeMsg::OnClosed(told));
    }

    /// Has the instance look at a tree: it claims it if there is something to do.
    pub fn wake(&self, tree: TreeId, cause: ClaimCause) {
        let _gone = self.actor.cast(NodeMsg::Wake { tree, cause });
    }

    /// How the instance stands; empty once it is gone.
    pub async fn stats(&self) -> NodeStats {
        match self.actor.call(NodeMsg::Stats, None).await {
            Ok(ractor::rpc::CallResult::Success(stats)) => stats,
            Ok(_) | Err(_) => NodeStats::default(),
        }
    }

    /// Takes no new work, lets running calls end for up to `grace`, releases the trees and stops. What still runs then is cut off.
    pub async fn drain(&self, grace: Duration) {
        self.draining.store(true, Ordering::Release);
        if !self.within(grace, NodeMsg::Drain).await {
            self.within(RELEASE_MAX, NodeMsg::Release).await;
        }
        self.actor.stop(None);
        self.ended().await;
    }

    /// Whether the node answered within a time on the application's clock, or is gone.
    async fn within(&self, time: Duration, ask: fn(RpcReplyPort<()>) -> NodeMsg) -> bool {
        tokio::select! {
            _answered_or_gone = self.actor.call(ask, None) => true,
            () = self.deps.clock.sleep(time) => false,
        }
    }

    /// Ends the instance at once, as a crash would but for the process. What runs is dropped.
    pub fn kill(&self) {
        self.actor.kill();
    }

    /// Waits until the node's actor has ended, however. Its process must end too, or start a new one: nobody else watches it.
    pub async fn ended(&self) {
        // Without a time limit there is nothing to fail with.
        let _ended = self.actor.wait(None).await;
    }

    /// Takes one tree away: its lease is lost. What runs of it is dropped, and nothing of it begins any more.
    pub fn lose(&self, tree: TreeId, reason: LeaseLostReason) {
        let tree = Some(tree);
        let _gone = self.actor.cast(NodeMsg::Lose { tree, reason });
    }

    /// Takes all trees away: the session that their leases hang on is over.
    pub fn lose_all(&self, reason: LeaseLostReason) {
        let _gone = self.actor.cast(NodeMsg::Lose { tree: None, reason });
    }

    /// Kills an actor of a tree as a defect would: for tests of supervision.
    pub fn fault(&self, tree: TreeId, fault: Fault) {
        let _gone = self.actor.cast(NodeMsg::Fault { tree, fault });
    }

    /// Waits until the tree's last header satisfies `until`, and returns its summary.
    ///
    /// # Errors
    /// The store does not answer, or what it holds is no journal.
    pub async fn wait_for(
        &self,
        tree: TreeId,
        until: impl Fn(&TreeSummary) -> bool,
    ) -> Result<TreeSummary, JournalError> {
        let store = &self.deps.store;
        let mut cursor = FollowCursor::default();
        loop {
            // A cursor first, a look second: what is appended between the two is in the next page.
            let page = store.follow(cursor);
            let read = store.tail(tree).await?;
            if let Some(header) = read.header().map_err(JournalError::from)?
                && until(&header.summary)
            {
                return Ok(header.summary);
            }
            cursor = page.await?.next;
        }
    }
}
