//! An instance in the test's own process, over a store in memory: for what a process need not die for.

use std::sync::Arc;

use leasehold_actors::{Agents, StartRequest, SystemClock, load};
use leasehold_cluster::{Application, Backends, Config, Instance, Seams};
use leasehold_execution::record::CallFinished;
use leasehold_execution::{Machine, Record};
use leasehold_journal::MemoryStore;
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_models::{Scripted, Turn};
use leasehold_tools::{Body, Tool, ToolCall, ToolFuture, ToolSpec};
use leasehold_types::{Effect, ExecutionId, Owner, Tenant, TreeState};
use serde_json::json;
use tempfile::TempDir;

use crate::agent::{Parts, agent};
use crate::outside::Outside;
use crate::person::principal;

/// What a tool's body does.
type Behaviour = dyn Fn(ToolCall) -> ToolFuture + Send + Sync;

/// A tool made of its body.
pub(crate) struct Made {
    pub(crate) spec: ToolSpec,
    pub(crate) behaviour: Box<Behaviour>,
}

impl Made {
    pub(crate) fn new(
        body: Body,
        behaviour: impl Fn(ToolCall) -> ToolFuture + Send + Sync + 'static,
    ) -> Self {
        let mut spec = ToolSpec::new("made-tool", "Does what a test needs.", Effect::Read);
        spec.body = body;
        let behaviour = Box::new(behaviour);
        Self { spec, behaviour }
    }
}

impl Tool for Made {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        (self.behaviour)(call)
    }
}

/// An instance whose one agent calls the tool once and then says `Done.`.
pub(crate) struct Local {
    pub(crate) instance: Instance,
    parts: Arc<Parts>,
    _directory: TempDir,
}

impl Local {
    pub(crate) async fn with(tool: Made) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let outside = Arc::new(Outside::at(directory.path(), 0));
        let turns = [Turn::call("made-tool", &json!({})), Turn::say("Done.")];
        let made = agent(
            "made",
            Arc::new(Scripted::new(turns)),
            vec![(0, Arc::new(tool))],
        );
        let parts = Arc::new(Parts::of([("made", made)], &outside));
        let backends = Backends {
            store: Arc::new(MemoryStore::new()),
            leases: Arc::new(LocalLeaseStore::new(Arc::new(SystemClock), Expiry::Never)),
        };
        let application = Application {
            agents: parts.clone(),
            channels: parts.clone(),
        };
        let config = Config::at(directory.path()).unwrap();
        let instance = Instance::over(&config, backends, application, Seams::default());
        let instance = instance.await.unwrap();
        Self {
            instance,
            parts,
            _directory: directory,
        }
    }

    pub(crate) async fn start(&self) -> ExecutionId {
        let request = StartRequest {
            agent: "made".to_owned(),
            input: "go".to_owned(),
            owner: Owner::new("dana"),
            tenant: Tenant::default(),
            thread: None,
            started_by: principal("dana"),
            idempotency_key: None,
        };
        self.instance.node().start(request).await.unwrap()
    }

    pub(crate) async fn end(&self, execution: ExecutionId) -> Machine {
        let node = self.instance.node();
        let ended = node.wait_for(execution.tree(), |summary| {
            summary.state == TreeState::Ended
        });
        ended.await.unwrap();
        let plan = self.parts.agent("made", "made").unwrap();
        let mut machine = Machine::new(execution.tree(), Arc::clone(&plan.plan));
        for record in load(&**self.instance.store(), execution.tree())
            .await
            .unwrap()
            .entries()
        {
            machine.apply(record).unwrap();
        }
        machine
    }

    /// Every result that was journaled.
    pub(crate) async fn results(&self, execution: ExecutionId) -> Vec<CallFinished> {
        let loaded = load(&**self.instance.store(), execution.tree())
            .await
            .unwrap();
        let finished = loaded.entries().filter_map(|entry| match &entry.record {
            Record::CallFinished(body) => Some((**body).clone()),
            _ => None,
        });
        finished.collect()
    }
}
