//! A world of one instance after another over one store, in memory or on the disk.

use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::{Ignore, Node, OsRandom, PauseTarget, StartRequest, load};
use leasehold_cluster::{Application, Backends, Config, Instance, Seams};
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::record::Outcome;
use leasehold_execution::{Entry, Machine, Record};
use leasehold_journal::{MemoryStore, Store};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_models::{Scripted, Turn};
use leasehold_types::{
    Clock, ExecutionId, Owner, PauseRef, Principal, PrincipalKind, Tenant, ThreadId, TreeState,
    TreeSummary,
};
use serde_json::json;

use crate::support::{HandClock, One, Tools, one};

enum Place {
    Memory(Arc<MemoryStore>),
    Disk(tempfile::TempDir),
}

/// Where executions live on while instances come and go.
pub(crate) struct World {
    place: Place,
    pub(crate) clock: Arc<HandClock>,
    pub(crate) app: Arc<One>,
}

/// Both kinds of worlds for one script: what holds in one must hold in the other.
pub(crate) fn worlds(script: &[Turn], tools: Tools) -> [World; 2] {
    let world = |place| World {
        place,
        clock: Arc::new(HandClock::new()),
        app: Arc::new(one(Arc::new(Scripted::new(script.to_vec())), tools)),
    };
    let memory = Place::Memory(Arc::new(MemoryStore::new()));
    let disk = Place::Disk(tempfile::tempdir().unwrap());
    [world(memory), world(disk)]
}

impl World {
    pub(crate) fn config(&self) -> Config {
        let directory = match &self.place {
            Place::Memory(_) => std::path::PathBuf::from("unused"),
            Place::Disk(directory) => directory.path().join("store"),
        };
        Config::at(directory).unwrap()
    }

    fn seams(&self) -> Seams {
        Seams {
            clock: Arc::clone(&self.clock) as _,
            random: Arc::new(OsRandom),
            observer: Arc::new(Ignore),
        }
    }

    /// Opens an instance, as a process would.
    pub(crate) async fn open(&self) -> Instance {
        let application = Application {
            agents: Arc::clone(&self.app) as _,
            channels: Arc::clone(&self.app) as _,
        };
        let (config, seams) = (self.config(), self.seams());
        let opened = match &self.place {
            Place::Memory(store) => {
                let leases = LocalLeaseStore::new(Arc::clone(&self.clock) as _, Expiry::Never);
                let backends = Backends {
                    store: Arc::clone(store) as _,
                    leases: Arc::new(leases),
                };
                Instance::over(&config, backends, application, seams).await
            }
            Place::Disk(_) => Instance::open(&config, application, seams).await,
        };
        opened.unwrap()
    }

    /// The store while no instance runs.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        match &self.place {
            Place::Memory(store) => Arc::clone(store) as _,
            Place::Disk(_) => {
                let boot = leasehold_types::BootId::new(&OsRandom);
                let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
                let opened = leasehold_cluster::open_store(&self.config(), boot, clock).await;
                opened.unwrap().backends.store
            }
        }
    }

    pub(crate) async fn entries(&self, instance: &Instance, execution: ExecutionId) -> Vec<Entry> {
        let store: &dyn Store = &**instance.store();
        let loaded = load(store, execution.tree()).await.unwrap();
        loaded.entries().cloned().collect()
    }

    pub(crate) async fn count(
        &self,
        instance: &Instance,
        execution: ExecutionId,
        is: impl Fn(&Record) -> bool,
    ) -> usize {
        let entries = self.entries(instance, execution).await;
        entries.iter().filter(|entry| is(&entry.record)).count()
    }

    /// Waits for the end, and says what it was.
    pub(crate) async fn outcome(&self, instance: &Instance, execution: ExecutionId) -> Outcome {
        reaches(instance.node(), execution, TreeState::Ended).await;
        let mut machine = Machine::new(execution.tree(), Arc::clone(&self.app.agent.plan));
        let entries = self.entries(instance, execution).await;
        machine.replay(&entries).unwrap();
        machine.ended().unwrap().outcome.clone()
    }
}

pub(crate) async fn reaches(node: &Node, execution: ExecutionId, state: TreeState) -> TreeSummary {
    node.wait_for(execution.tree(), |summary| summary.state == state)
        .await
        .unwrap()
}

pub(crate) fn request(input: &str) -> StartRequest {
    StartRequest {
        agent: "helper".to_owned(),
        input: input.to_owned(),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        thread: None,
        started_by: person("dana"),
        idempotency_key: None,
    }
}

pub(crate) fn on_thread(thread: &str, owner: &str) -> StartRequest {
    StartRequest {
        owner: Owner::new(owner),
        thread: Some(ThreadId::new(thread)),
        started_by: person(owner),
        ..request("go")
    }
}

pub(crate) fn person(name: &str) -> Principal {
    Principal::new(name, PrincipalKind::Person)
}

pub(crate) const APPROVE: Verdict = Verdict::Approve {
    override_arguments: None,
};

/// Decides the first pause of an execution, and says what the one who decided was told.
pub(crate) async fn decide(
    instance: &Instance,
    execution: ExecutionId,
    verdict: Verdict,
) -> DecisionReply {
    let pause = PauseRef {
        execution,
        number: 1,
    };
    let target = PauseTarget::Reference(pause);
    let wait = Duration::from_secs(60);
    let node = instance.node();
    node.decide(target, person("boss"), verdict, None, wait)
        .await
        .unwrap()
}

pub(crate) fn effect() -> Turn {
    Turn::call("effect-tool", &json!({}))
}

pub(crate) fn read() -> Turn {
    Turn::call("read-tool", &json!({}))
}

pub(crate) fn done() -> Turn {
    Turn::say("Done.")
}

pub(crate) fn completed() -> Outcome {
    Outcome::Completed {
        answer: "Done.".to_owned(),
    }
}

/// How often a tree was claimed.
pub(crate) const fn is_claim(record: &Record) -> bool {
    matches!(record, Record::Claimed(_))
}
