//! An instance: an opened store, the node that runs its trees, and the keeper that wakes them.
//!
//! - INSTANCE-1: the keeper hears of every tree that closes: what closed before it listened, it finds when it looks at all trees.

use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::{
    Agents, Channels, Closed, Deps, Ignore, Node, Observer, OsRandom, SystemClock, TokioPool,
};
use leasehold_journal::Store;
use leasehold_journal::embedded::StoreOpenError;
use leasehold_lease::{Holder, LeaseStore, OpenOutcome, OpenSession, Session};
use leasehold_types::{BootId, Clock, Random, TreeId};
use ractor::{Actor, ActorRef};
use tokio::sync::oneshot;

use crate::config::Config;
use crate::keeper::{KeeperActor, KeeperMsg};
use crate::store::watched::Watched;
use crate::store::{OpenedBackends, open_store};

/// The TTL of the instance's lease session; with the embedded store no session runs out.
const SESSION_TTL: Duration = Duration::from_secs(15);
/// How long an instance that ends waits until nothing of it uses the store.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// The application that an instance runs.
#[derive(Debug, Clone)]
pub struct Application {
    /// Its agents.
    pub agents: Arc<dyn Agents>,
    /// Its channels in this environment.
    pub channels: Arc<dyn Channels>,
}

/// Time, chance and whoever watches.
#[derive(Debug, Clone)]
pub struct Seams {
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub random: Arc<dyn Random>,
    /// Told of durable entries.
    pub observer: Arc<dyn Observer>,
}

impl Default for Seams {
    /// The system's clocks and random numbers; nobody watches.
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(OsRandom),
            observer: Arc::new(Ignore),
        }
    }
}

/// Which executions an instance goes on with by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Moves {
    /// All that were left over from before or become due.
    #[default]
    All,
    /// Those alone that are started or get a letter while it runs: it is there for one command.
    Asked,
}

/// Where an instance keeps what it does, and where it agrees with others who does it.
#[derive(Debug, Clone)]
pub struct Backends {
    /// Journal, inbox, keys and blobs.
    pub store: Arc<dyn Store>,
    /// Leases.
    pub leases: Arc<dyn LeaseStore>,
}

/// Why an instance did not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreOpenError),
    /// The lease store opened no session.
    #[error("[instance.no-session] the lease store opened no session: {0}")]
    Session(String),
    /// An actor did not start.
    #[error("[instance.not-started] the instance could not be started: {0}")]
    NotStarted(String),
}

/// A running instance. Ends with [`Instance::close`]; dropping it leaves its actors running until the process ends.
#[derive(Debug)]
pub struct Instance {
    node: Node,
    keeper: ActorRef<KeeperMsg>,
    session: Session,
    warnings: Vec<String>,
    closed: oneshot::Receiver<()>,
}

impl Instance {
    /// Opens the embedded store that `config` names and runs the application over it. Trees left over from before go on.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open(
        config: &Config,
        application: Application,
        seams: Seams,
    ) -> Result<Self, OpenError> {
        Self::open_moving(config, application, seams, Moves::All).await
    }

    /// Opens the store and goes on with these executions.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn open_moving(
        config: &Config,
        application: Application,
        seams: Seams,
        moves: Moves,
    ) -> Result<Self, OpenError> {
        let boot = BootId::new(&*seams.random);
        let opened = open_store(config, boot, Arc::clone(&seams.clock)).await?;
        let OpenedBackends { backends, warnings } = opened;
        let mut instance = Self::start(config, boot, backends, application, seams, moves).await?;
        instance.warnings = warnings;
        Ok(instance)
    }

    /// Runs the application over backends that are open already, such as a store in memory.
    ///
    /// # Errors
    /// See [`OpenError`].
    pub async fn over(
        config: &Config,
        backends: Backends,
        application: Application,
        seams: Seams,
    ) -> Result<Self, OpenError> {
        let boot = BootId::new(&*seams.random);
        Self::start(config, boot, backends, application, seams, Moves::All).await
    }

    async fn start(
        config: &Config,
        boot: BootId,
        backends: Backends,
        application: Application,
        seams: Seams,
        moves: Moves,
    ) -> Result<Self, OpenError> {
        let Backends { store, leases } = backends;
        let (store, closed) = Watched::new(store);
        let store: Arc<dyn Store> = Arc::new(store);
        let holder = Holder {
            instance: config.instance.clone(),
            boot,
        };
        let session = open_session(&*leases, holder).await?;
        let not_started = |error: ractor::SpawnErr| OpenError::NotStarted(error.to_string());
        let arguments = (Arc::clone(&seams.clock), Arc::clone(&store));
        let (keeper, _task) = Actor::spawn(None, KeeperActor, arguments)
            .await
            .map_err(not_started)?;
        let node = Node::spawn(Deps {
            store,
            leases,
            session: session.clone(),
            clock: seams.clock,
            random: seams.random,
            agents: application.agents,
            channels: application.channels,
            pool: Arc::new(TokioPool::new(tokio::runtime::Handle::current())),
            instance: config.instance.clone(),
            boot,
            observer: seams.observer,
            config: config.node(),
        })
        .await
        .map_err(not_started)?;
        let ear = keeper.clone();
        node.on_closed(Arc::new(move |tree: TreeId, how: &Closed| {
            let _gone = ear.cast(KeeperMsg::Closed(tree, how.clone()));
        }));
        // Only now: a tree that closed before the keeper listened is at rest in the store, where the keeper looks next.
        let _gone = keeper.cast(KeeperMsg::Begin(node.clone(), moves));
        Ok(Self {
            node,
            keeper,
            session,
            warnings: vec![],
            closed,
        })
    }

    /// The node: start, decide, cancel, wait.
    #[must_use]
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// The store it runs over.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.node.deps().store
    }

    /// What an operator should know of the store that was opened, a sentence each.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How many executions at rest have a timer that the keeper waits for.
    pub async fn timers(&self) -> usize {
        match self.keeper.call(KeeperMsg::Held, None).await {
            Ok(ractor::rpc::CallResult::Success(held)) => held,
            Ok(_) | Err(_) => 0,
        }
    }

    /// Takes no new work, lets running calls end for up to `grace`, and releases what it holds.
    pub async fn drain(&self, grace: Duration) {
        self.keeper.stop(None);
        self.node.drain(grace).await;
    }

    /// Ends the instance at once, as a crash would but for the process. What runs is dropped; nothing is released.
    pub fn kill(&self) {
        self.keeper.kill();
        self.node.kill();
    }

    /// Ends what still runs, and waits until nothing of it can write to the store any more; the embedded store is then closed.
    ///
    /// For a clean end call [`Instance::drain`] first.
    pub async fn close(self) {
        self.kill();
        let leases = Arc::clone(&self.node.deps().leases);
        leases.revoke(self.session.id).await;
        drop(self.node);
        // Actors of this process end on its own time, not on the application's clock.
        if tokio::time::timeout(CLOSE_MAX, self.closed).await.is_err() {
            tracing::warn!("the store is still in use: its lock ends with the process");
        }
    }
}

async fn open_session(leases: &dyn LeaseStore, holder: Holder) -> Result<Session, OpenError> {
    let open = OpenSession {
        holder,
        ttl: SESSION_TTL,
        card: vec![],
    };
    match leases.open_session(open).await {
        OpenOutcome::Opened { session, .. } => Ok(session),
        OpenOutcome::Unknown(error) | OpenOutcome::Refused(error) => {
            Err(OpenError::Session(error.to_string()))
        }
    }
}
