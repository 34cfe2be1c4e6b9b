//! Configuration: where it is read, what there is to set, and what was wrong with it.
//!
//! A setting comes from the command line, else from `LEASEHOLD_<KEY>`, else from the file, else it has its default.
//!
//! - CONF-1: everything wrong is reported at once, each with where it was read; a key that is no setting is refused.

mod error;
mod layers;
mod process;
mod settings;
mod value;

use std::path::PathBuf;
use std::time::Duration;

use leasehold_actors::NodeConfig;
use leasehold_journal::embedded::CreateStore;
use leasehold_types::{ComponentName, InstanceId};

pub use error::{ConfigError, ConfigErrors};
pub use layers::Overrides;
pub use process::{arguments, variable};
pub use settings::{SETTINGS, Setting};

use layers::Layers;

/// The file that is read from the current directory where no other is named.
pub const FILE_DEFAULT: &str = "leasehold.toml";

/// How one instance is set up. `docs/config.md` has the same list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// `store`: the directory of the embedded store. Default `.leasehold` in the current directory.
    pub store: PathBuf,
    /// `store_create`: what to do where there is no store yet. Default `if-missing`.
    pub store_create: CreateStore,
    /// `environment`: which of the application's environments this is. Default: the application's first.
    pub environment: Option<ComponentName>,
    /// `instance`: this instance's name. Default: the host's name.
    pub instance: InstanceId,
    /// `awake_max`: the most executions that are awake at once, 1 to 1,000,000. Default 4,096.
    pub awake_max: usize,
    /// `model_timeout`: how long one model call may take, 1 s to 24 h. Default 10 min.
    pub model_timeout: Duration,
    /// `send_timeout`: how long one send of a question may take, 100 ms to 10 min. Default 30 s.
    pub send_timeout: Duration,
    /// `start_key_retention`: how long the idempotency key of a start is kept, 1 min to 3,650 days. Default 7 days.
    pub start_key_retention: Duration,
    /// `drain_grace`: how long running calls may take to end at a shutdown, 0 s to 1 h. Default 20 s.
    pub drain_grace: Duration,
}

impl Config {
    /// Reads the configuration of this process.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn load(overrides: &Overrides) -> Result<Self, ConfigErrors> {
        Self::read(&Layers::of_process(overrides))
    }

    /// The defaults, for a store in `directory`: for programs that embed an instance, and for tests.
    ///
    /// # Errors
    /// Never for the defaults themselves; the host's name may be unusable as an instance's.
    pub fn at(directory: impl Into<PathBuf>) -> Result<Self, ConfigErrors> {
        let config = Self::read(&Layers::default())?;
        Ok(Self {
            store: directory.into(),
            ..config
        })
    }

    fn read(layers: &Layers) -> Result<Self, ConfigErrors> {
        let mut errors = layers.errors.clone();
        let mut reader = settings::Reader::new(layers, &mut errors);
        let config = Self {
            store: reader.path("store"),
            store_create: reader.create("store_create"),
            environment: reader.environment("environment"),
            instance: reader.instance("instance"),
            awake_max: reader.count("awake_max", 1..=1_000_000),
            model_timeout: reader.duration("model_timeout", "1 s", "24 h"),
            send_timeout: reader.duration("send_timeout", "100 ms", "10 min"),
            start_key_retention: reader.duration("start_key_retention", "1 min", "3650 days"),
            drain_grace: reader.duration("drain_grace", "0 s", "1 h"),
        };
        if errors.is_empty() {
            return Ok(config);
        }
        Err(ConfigErrors(errors))
    }

    /// What the node takes of it.
    #[must_use]
    pub fn node(&self) -> NodeConfig {
        NodeConfig {
            awake_max: self.awake_max,
            model_timeout: self.model_timeout,
            send_timeout: self.send_timeout,
            start_key_retention: self.start_key_retention,
        }
    }
}

#[cfg(test)]
mod tests;
