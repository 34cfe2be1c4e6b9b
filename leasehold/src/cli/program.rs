//! The application as the commands see it: its store, its instance, its description.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::{Node, OsRandom, SystemClock};
use leasehold_cluster::config::Overrides;
use leasehold_cluster::{Application, Config, Instance, Moves, OpenError, Seams, open_store};
use leasehold_journal::Store;
use leasehold_journal::embedded::{CreateStore, StoreOpenError};
use leasehold_types::{BootId, BoxFuture, Clock, ComponentName};

use super::args::Global;
use super::door::{Program, Running};
use super::error::CliError;
use super::stop::Stop;
use crate::App;
use crate::assemble::Assembly;

/// An application and how this process is configured to run it.
#[derive(Debug)]
pub(super) struct Configured {
    /// The application.
    pub(super) app: App,
    /// The configuration.
    pub(super) config: Config,
    stop: Stop,
}

impl Configured {
    /// Reads the configuration, the command line's words first.
    ///
    /// # Errors
    /// Everything wrong with it.
    pub(super) fn load(app: App, global: &Global, stop: Stop) -> Result<Self, CliError> {
        let mut overrides = Overrides::none();
        if let Some(store) = &global.store {
            overrides = overrides.set("store", store.to_string_lossy());
        }
        if let Some(environment) = &global.environment {
            overrides = overrides.set("environment", environment.as_str());
        }
        let config =
            Config::load(&overrides).map_err(|wrong| CliError::Wrong(wrong.to_string()))?;
        Ok(Self { app, config, stop })
    }

    /// Checks the application and puts it together.
    ///
    /// # Errors
    /// Everything wrong with it.
    pub(super) fn assemble(&self) -> Result<Assembly, CliError> {
        let environment = self.config.environment.as_ref().map(ComponentName::as_str);
        let assembled = self.app.assemble(environment);
        assembled.map_err(|wrong| CliError::Wrong(wrong.to_string()))
    }
}

impl Program for Configured {
    fn directory(&self) -> &Path {
        &self.config.store
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(SystemClock)
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn store(&self) -> BoxFuture<'_, Result<Arc<dyn Store>, CliError>> {
        Box::pin(async move {
            let config = Config {
                // A look makes nothing.
                store_create: CreateStore::Never,
                ..self.config.clone()
            };
            let boot = BootId::new(&OsRandom);
            let opened = open_store(&config, boot, self.clock()).await;
            opened.map(|opened| opened.backends.store).map_err(refused)
        })
    }

    fn instance(&self, moves: Moves) -> BoxFuture<'_, Result<Box<dyn Running>, CliError>> {
        Box::pin(async move {
            let assembly = Arc::new(self.assemble()?);
            let application = Application {
                agents: Arc::clone(&assembly) as _,
                channels: assembly,
            };
            let opened =
                Instance::open_moving(&self.config, application, Seams::default(), moves).await;
            let running: Box<dyn Running> = Box::new(Here {
                instance: opened.map_err(refused)?,
                grace: self.config.drain_grace,
            });
            Ok(running)
        })
    }
}

/// Why a store or an instance did not open, as commands tell it.
pub(super) fn refused(error: OpenError) -> CliError {
    match error {
        OpenError::Store(StoreOpenError::Locked { directory, pid }) => {
            CliError::StoreLocked { directory, pid }
        }
        OpenError::Store(StoreOpenError::MissingDirectory(directory)) => {
            CliError::NoStore(directory)
        }
        OpenError::Store(_) | OpenError::Session(_) | OpenError::NotStarted(_) => {
            CliError::Unavailable(error.to_string())
        }
    }
}

/// An instance in this process.
#[derive(Debug)]
struct Here {
    instance: Instance,
    grace: Duration,
}

impl Running for Here {
    fn node(&self) -> &Node {
        self.instance.node()
    }

    fn warnings(&self) -> &[String] {
        self.instance.warnings()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.instance.drain(self.grace).await;
            self.instance.close().await;
        })
    }
}
