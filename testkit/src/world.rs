//! The world of a test: one store that outlives every instance, the instance that runs now, and the application on both.
//!
//! - WORLD-1: a crash leaves store, clock and services as they are; everything else begins anew.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use leasehold::{App, Assembly};
use leasehold_actors::{Agents, Ignore, Node, NodeConfig};
use leasehold_cluster::{Application, Backends, Config, Instance, Seams};
use leasehold_journal::embedded::CreateStore;
use leasehold_journal::{Journal as _, TreeHead};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_types::{Clock as _, InstanceId, TreeId, TreeState};
use tokio::sync::Mutex as AsyncMutex;

use crate::edges::TheTest;
use crate::fail::fail;
use crate::reading::Reading;
use crate::stage::Stage;
use crate::store::BeatingStore;
use crate::{SeededRandom, TestClock};

/// Executions of one test that are looked at.
const TREES_MAX: usize = 1_024;

/// Everything a test's application runs in.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) stage: Arc<Stage>,
    pub(crate) clock: TestClock,
    pub(crate) random: Arc<SeededRandom>,
    store: Arc<BeatingStore>,
    leases: LocalLeaseStore,
    declared: Mutex<Declared>,
    instance: AsyncMutex<Option<Instance>>,
    is_closed: AtomicBool,
}

/// The application as it was declared, its edges swapped, and what was assembled of it.
#[derive(Debug)]
struct Declared {
    app: App,
    assembly: Arc<Assembly>,
}

impl World {
    /// A world whose application has not begun.
    pub(crate) fn of(app: App, stage: Arc<Stage>) -> Self {
        let clock = TestClock::new();
        let assembly = assembled(&app);
        Self {
            store: Arc::new(BeatingStore::new(Arc::clone(&stage.pulse))),
            leases: LocalLeaseStore::new(Arc::new(clock.clone()), Expiry::Never),
            random: Arc::new(SeededRandom::new(1)),
            stage,
            clock,
            declared: Mutex::new(Declared { app, assembly }),
            instance: AsyncMutex::new(None),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Begins a life of the application: a new instance on the same store.
    pub(crate) async fn open(&self) {
        let mut instance = self.instance.lock().await;
        self.begin(&mut instance).await;
    }

    /// Ends the instance as a crash does and begins the next life.
    pub(crate) async fn restart(&self) {
        let crashes = self.stage.crashes();
        let mut instance = self.instance.lock().await;
        self.stage.kills(None);
        if let Some(old) = instance.take() {
            // What it still runs is dropped, and its leases end, as they would with its process.
            old.close().await;
            self.stage.until_dropped().await;
        }
        self.stage.revive();
        self.begin(&mut instance).await;
        drop(instance);
        self.stage.crashed(crashes);
    }

    async fn begin(&self, slot: &mut Option<Instance>) {
        if self.is_closed() {
            return;
        }
        let application = Application {
            agents: self.assembly() as _,
            channels: Arc::new(TheTest),
        };
        let backends = Backends {
            store: Arc::clone(&self.store) as _,
            leases: Arc::new(self.leases.clone()),
        };
        let seams = Seams {
            clock: Arc::new(self.clock.clone()),
            random: Arc::clone(&self.random) as _,
            observer: Arc::new(Ignore),
        };
        let opened = Instance::over(&config(), backends, application, seams).await;
        let instance = match opened {
            Ok(instance) => instance,
            Err(error) => fail(error),
        };
        let node = instance.node().clone();
        self.stage.kills(Some(Arc::new(move || node.kill())));
        *slot = Some(instance);
    }

    /// Crashes the instance, and waits until the next one runs.
    pub(crate) async fn crash(&self) {
        self.stage.crash();
        let revived = async || (self.stage.crashes() == 0).then_some(());
        self.stage.pulse.until(|| (), revived).await;
    }

    /// Puts another application in the place of this one and restarts it.
    pub(crate) async fn change(&self, change: impl FnOnce(App) -> App) {
        {
            let mut declared = self.declared();
            let app = change(declared.app.clone());
            declared.assembly = assembled(&app);
            declared.app = app;
        }
        self.crash().await;
    }

    /// The instance that runs now; one that is being started again is waited for.
    pub(crate) async fn node(&self) -> Node {
        match &*self.instance.lock().await {
            Some(instance) => instance.node().clone(),
            None => fail("the application of this test has ended"),
        }
    }

    pub(crate) fn app(&self) -> App {
        self.declared().app.clone()
    }

    pub(crate) fn assembly(&self) -> Arc<Assembly> {
        Arc::clone(&self.declared().assembly)
    }

    /// Reads an execution; nothing where it has not begun.
    pub(crate) async fn read(&self, tree: TreeId) -> Result<Option<Reading>, String> {
        Reading::of(&*self.store, &*self.assembly(), tree).await
    }

    /// Whether a model or a tool works for any execution: its time must not run out meanwhile.
    pub(crate) fn is_worked_for(&self) -> bool {
        let now = self.clock.now();
        let mut heads = self.heads().into_iter();
        heads.any(|head| match head.header.summary.state {
            TreeState::Live => self.read_now(head.header.tree).is_none_or(|reading| {
                let has_bodies = self.stage.has_bodies(reading.machine().execution());
                reading.is_worked_for(now, has_bodies)
            }),
            TreeState::Resting | TreeState::Blocked | TreeState::Ended => false,
        })
    }

    /// The timelines of all executions, for somebody who cannot wait.
    pub(crate) fn timelines(&self) -> String {
        let heads = self.heads();
        let readings = heads.iter().map(|head| self.read_now(head.header.tree));
        let lines: Vec<String> = readings
            .flatten()
            .map(|reading| reading.timeline().to_string())
            .collect();
        lines.join("\n")
    }

    /// A store in memory answers at the first poll.
    fn read_now(&self, tree: TreeId) -> Option<Reading> {
        let read = self.read(tree).now_or_never()?;
        read.ok().flatten()
    }

    fn heads(&self) -> Vec<TreeHead> {
        let heads = self.store.scan(None, TREES_MAX).now_or_never();
        heads.and_then(Result::ok).unwrap_or_default()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Ends everything.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.stage.end();
        // Where it is just being started again, nothing is begun any more.
        if let Ok(mut slot) = self.instance.try_lock()
            && let Some(instance) = slot.take()
        {
            instance.kill();
        }
        self.stage.call();
    }

    fn declared(&self) -> MutexGuard<'_, Declared> {
        self.declared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn assembled(app: &App) -> Arc<Assembly> {
    match app.assemble(None) {
        Ok(assembly) => Arc::new(assembly),
        Err(errors) => fail(errors),
    }
}

/// The defaults, but for what would be read from the machine.
fn config() -> Config {
    let node = NodeConfig::default();
    Config {
        store: PathBuf::new(),
        store_create: CreateStore::Never,
        environment: None,
        instance: InstanceId::new("test"),
        awake_max: node.awake_max,
        model_timeout: node.model_timeout,
        send_timeout: node.send_timeout,
        start_key_retention: node.start_key_retention,
        drain_grace: Duration::ZERO,
    }
}

/// The tools and agents of an application, by name.
pub(crate) fn names_of(assembly: &Assembly) -> (Vec<String>, Vec<String>) {
    let agents = assembly.names();
    let mut tools: Vec<String> = agents
        .iter()
        .filter_map(|name| assembly.agent(name, name))
        .flat_map(|agent| agent.tools.keys().cloned().collect::<Vec<_>>())
        .collect();
    tools.sort();
    tools.dedup();
    (agents, tools)
}
