//! What every actor of an instance works with.

use std::sync::Arc;
use std::time::Duration;

use leasehold_journal::Store;
use leasehold_lease::{LeaseStore, Session};
use leasehold_tools::BlockingPool;
use leasehold_types::{BootId, Clock, InstanceId, Random};

use crate::{Agents, Channels, Observer};

/// The seams and the application, given out once.
#[derive(Debug, Clone)]
pub struct Deps {
    /// Journal, inbox, keys and blobs.
    pub store: Arc<dyn Store>,
    /// Who may move a tree.
    pub leases: Arc<dyn LeaseStore>,
    /// The session this instance's claims hang on.
    pub session: Session,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Chance.
    pub random: Arc<dyn Random>,
    /// The application's agents.
    pub agents: Arc<dyn Agents>,
    /// The application's channels.
    pub channels: Arc<dyn Channels>,
    /// Threads for blocking tools.
    pub pool: Arc<dyn BlockingPool>,
    /// This instance.
    pub instance: InstanceId,
    /// This start of it.
    pub boot: BootId,
    /// Told of durable entries.
    pub observer: Arc<dyn Observer>,
    /// Limits of the instance.
    pub config: NodeConfig,
}

/// Limits of one instance.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// The most trees that are awake at once; 4,096 unless set. What comes beyond waits in order.
    pub awake_max: usize,
    /// How long one model call may take; 10 minutes unless set.
    pub model_timeout: Duration,
    /// How long one send of a question may take; 30 s unless set.
    pub send_timeout: Duration,
    /// How long a key of a start is kept; 7 days unless set.
    pub start_key_retention: Duration,
}

impl Default for NodeConfig {
    fn default() -> Self {
        Self {
            awake_max: 4_096,
            model_timeout: Duration::from_secs(600),
            send_timeout: Duration::from_secs(30),
            start_key_retention: Duration::from_secs(7 * 86_400),
        }
    }
}
