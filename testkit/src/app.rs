//! The application under test: the real one, with its edges swapped.

use std::sync::Arc;

use leasehold::App;
use leasehold_actors::StartRequest;
use leasehold_models::{Model, Scripted, Turn};
use leasehold_tools::Tool;
use leasehold_types::{ExecutionId, Owner, Tenant};
use tokio::runtime::Handle;

use crate::edges::{StagedModel, StagedTool};
use crate::execution::Execution;
use crate::fail::fail;
use crate::fault::FaultPoint;
use crate::people::principal;
use crate::run::report_by;
use crate::script::Script;
use crate::slice::ToolTest;
use crate::stage::Stage;
use crate::world::{World, names_of};
use crate::{TestClock, hand};

/// An application that runs under a test.
///
/// Its models are scripts, its clock and chance the test's, its store is in memory and outlives crashes, and each of its
/// questions waits for the test to answer. Tools and services are the application's own.
///
/// Time passes by itself only while the test waits for an execution and neither a model nor a tool works; see the module
/// documentation of the kit in `docs/testing.md`.
#[derive(Debug)]
pub struct TestApp {
    world: Arc<World>,
}

impl TestApp {
    /// Starts the application; the model of each agent named answers from its script, that of any other agent fails.
    ///
    /// # Panics
    /// The application is not sound: the message has everything that is wrong with it. Or there is no agent of a script's name.
    pub async fn start<N: Into<String>, S: Into<Script>>(
        app: App,
        scripts: impl IntoIterator<Item = (N, S)>,
    ) -> Self {
        let scripts = scripts.into_iter();
        let scripts = scripts.map(|(name, script)| (name.into(), script.into()));
        Self::begin(app, scripts.collect()).await
    }

    /// Starts the application without a script: for tests of its tools.
    ///
    /// # Panics
    /// As [`TestApp::start`].
    pub async fn without_scripts(app: App) -> Self {
        Self::begin(app, vec![]).await
    }

    async fn begin(app: App, scripts: Vec<(String, Script)>) -> Self {
        let stage = Arc::new(Stage::new());
        let world = Arc::new(World::of(swapped(app, scripts, &stage), stage));
        let told = Arc::downgrade(&world);
        report_by(Arc::new(move || {
            told.upgrade()
                .map_or_else(String::new, |world| world.timelines())
        }));
        world.open().await;
        hand::start(&world, Handle::current());
        Self { world }
    }

    /// Starts an execution, owned by `owner`.
    ///
    /// # Panics
    /// It is refused.
    pub async fn execute(&self, agent: &str, input: &str) -> Execution {
        self.execute_for("owner", agent, input).await
    }

    /// Starts an execution of somebody's.
    ///
    /// # Panics
    /// It is refused.
    pub async fn execute_for(&self, owner: &str, agent: &str, input: &str) -> Execution {
        self.start_with(StartRequest {
            agent: agent.to_owned(),
            input: input.to_owned(),
            owner: Owner::new(owner),
            tenant: Tenant::default(),
            thread: None,
            started_by: principal(owner),
            idempotency_key: None,
        })
        .await
    }

    /// Starts an execution as the request says.
    ///
    /// # Panics
    /// It is refused.
    pub async fn start_with(&self, request: StartRequest) -> Execution {
        let started = self.world.node().await.start(request).await;
        match started {
            Ok(id) => self.execution(id),
            Err(error) => fail(error),
        }
    }

    /// An execution that was started before.
    #[must_use]
    pub fn execution(&self, id: ExecutionId) -> Execution {
        Execution::new(Arc::clone(&self.world), id)
    }

    /// The service of a type, the same that the tools are given.
    ///
    /// # Panics
    /// The application has none.
    #[must_use]
    #[track_caller]
    pub fn dep<T: ?Sized + Send + Sync + 'static>(&self) -> Arc<T> {
        match self.world.app().service::<T>() {
            Some(service) => service,
            None => fail(format_args!(
                "the application was given no {}",
                std::any::type_name::<T>()
            )),
        }
    }

    /// Puts a service in the place of the one of its type, and starts the instance again with it.
    ///
    /// What must be replaced from the beginning is: `TestApp::start(app().replace(service), ..)`.
    pub async fn replace<T: ?Sized + Send + Sync + 'static>(&self, service: Arc<T>) {
        self.world.change(|app| app.replace(service)).await;
    }

    /// One of the tools by itself, with the application's services: a call of an execution of its own.
    #[must_use]
    pub fn tool(&self, tool: impl Tool) -> ToolTest {
        let services = self.world.app().services().clone();
        ToolTest::new(Arc::new(tool), services, self.world.clock.clone())
            .with_random(Arc::clone(&self.world.random) as _)
    }

    /// The clock of the application.
    #[must_use]
    pub fn clock(&self) -> &TestClock {
        &self.world.clock
    }

    /// Has the instance crash when this point is next reached, once. It is started again on the same store by itself.
    ///
    /// A test whose point is never reached fails when the application is dropped.
    ///
    /// # Panics
    /// The application has no such tool or agent.
    #[track_caller]
    pub fn crash_once(&self, point: FaultPoint) {
        let (agents, tools) = names_of(&self.world.assembly());
        let (known, name) = match &point {
            FaultPoint::BeforeEffect(tool) | FaultPoint::AfterEffect(tool) => (tools, tool),
            FaultPoint::AfterAnswer(agent) => (agents, agent),
        };
        if !known.contains(name) {
            fail(format_args!(
                "there is no {name:?} to crash at: there are {}",
                known.join(", ")
            ));
        }
        self.world.stage.faults.arm(point);
    }

    /// Has the instance crash now, and starts it again on the same store.
    pub async fn crash(&self) {
        self.world.crash().await;
    }

    /// Waits until something holds that is not in any journal: it is looked at whenever something happened.
    pub async fn until(&self, holds: impl Fn() -> bool) {
        let stage = &self.world.stage;
        let look = async || holds().then_some(());
        stage.pulse.until(|| stage.call(), look).await;
    }

    /// What all executions did, for a look at a test that surprises.
    #[must_use]
    pub fn timelines(&self) -> String {
        self.world.timelines()
    }
}

impl Drop for TestApp {
    fn drop(&mut self) {
        self.world.close();
        let left = self.world.stage.faults.left();
        if let Some(point) = left.first()
            && !std::thread::panicking()
        {
            fail(format_args!(
                "[testkit.fault-not-reached] the instance was to crash {point}: that point was not reached"
            ));
        }
    }
}

/// The application with staged tools and scripted models.
fn swapped(app: App, scripts: Vec<(String, Script)>, stage: &Arc<Stage>) -> App {
    let mut app = app.wrap_tools(|tool| {
        Arc::new(StagedTool {
            tool,
            stage: Arc::clone(stage),
        })
    });
    let scripted: Vec<String> = scripts.iter().map(|(name, _)| name.clone()).collect();
    for (agent, script) in scripts {
        app = with_model(app, agent, script.into_model(), stage);
    }
    let known = match app.assemble(None) {
        Ok(assembly) => names_of(&assembly).0,
        Err(errors) => fail(errors),
    };
    if let Some(unknown) = scripted.iter().find(|name| !known.contains(name)) {
        fail(format_args!(
            "a script for {unknown:?}, and there is no such agent: there are {}",
            known.join(", ")
        ));
    }
    let silent = known.into_iter().filter(|name| !scripted.contains(name));
    silent.fold(app, |app, agent| {
        // No turn: whoever asks it is told that the script has ended.
        let none: [Turn; 0] = [];
        with_model(app, agent, Scripted::new(none), stage)
    })
}

fn with_model(app: App, agent: String, model: Scripted, stage: &Arc<Stage>) -> App {
    let staged: Arc<dyn Model> = Arc::new(StagedModel {
        agent: agent.clone(),
        model: Arc::new(model),
        stage: Arc::clone(stage),
    });
    app.model_of(agent, staged)
}
