//! A running application: what was assembled, and the instance that runs it.

use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::Node;
use leasehold_cluster::config::ConfigErrors;
use leasehold_cluster::{Application, Backends, Config, Instance, OpenError, Seams};
use leasehold_types::ComponentName;

use crate::App;
use crate::assemble::Assembly;
use crate::assemble::error::CheckErrors;

/// Why an application does not run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The application.
    #[error(transparent)]
    Check(#[from] CheckErrors),
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigErrors),
    /// The instance.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// An application that runs in this process.
#[derive(Debug)]
pub struct Runtime {
    assembly: Arc<Assembly>,
    instance: Instance,
    drain_grace: Duration,
}

impl Runtime {
    /// Runs the application over the embedded store that `config` names.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn open(app: &App, config: &Config) -> Result<Self, RunError> {
        let assembly = assemble(app, config)?;
        let application = application(&assembly);
        let instance = Instance::open(config, application, Seams::default()).await?;
        Ok(Self::of(assembly, instance, config))
    }

    /// Runs it over backends that are open already, under a clock and chance of one's own, as tests do.
    ///
    /// # Errors
    /// See [`RunError`].
    pub async fn over(
        app: &App,
        config: &Config,
        backends: Backends,
        seams: Seams,
    ) -> Result<Self, RunError> {
        let assembly = assemble(app, config)?;
        let application = application(&assembly);
        let instance = Instance::over(config, backends, application, seams).await?;
        Ok(Self::of(assembly, instance, config))
    }

    const fn of(assembly: Arc<Assembly>, instance: Instance, config: &Config) -> Self {
        Self {
            assembly,
            instance,
            drain_grace: config.drain_grace,
        }
    }

    /// What was assembled.
    #[must_use]
    pub const fn assembly(&self) -> &Arc<Assembly> {
        &self.assembly
    }

    /// The instance.
    #[must_use]
    pub const fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The node: start, decide, cancel, wait.
    #[must_use]
    pub const fn node(&self) -> &Node {
        self.instance.node()
    }

    /// Lets running calls end for as long as the configuration says, gives everything back, and closes the store.
    pub async fn close(self) {
        self.instance.drain(self.drain_grace).await;
        self.instance.close().await;
    }

    /// Ends at once, as a crash would but for the process, and waits until the store is closed.
    pub async fn crash(self) {
        self.instance.close().await;
    }
}

fn assemble(app: &App, config: &Config) -> Result<Arc<Assembly>, CheckErrors> {
    let environment = config.environment.as_ref().map(ComponentName::as_str);
    app.assemble(environment).map(Arc::new)
}

fn application(assembly: &Arc<Assembly>) -> Application {
    Application {
        agents: Arc::clone(assembly) as _,
        channels: Arc::clone(assembly) as _,
    }
}
