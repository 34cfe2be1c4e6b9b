//! The backends of an instance, chosen here: the embedded store and the leases beside it.
//!
//! - STORE-OPEN-1: a store that can go on no more ends the process; nothing is answered from memory after it.

pub(crate) mod watched;

use std::io::Write as _;
use std::sync::Arc;

use leasehold_journal::embedded::{
    EmbeddedConfig, EmbeddedStore, FatalHook, StoreFatal, StoreOpenError,
};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_types::{BootId, Clock};

use crate::config::Config;
use crate::instance::{Backends, OpenError};

/// A store that was opened, and the leases that go with it.
#[derive(Debug)]
pub struct OpenedBackends {
    /// Store and leases.
    pub backends: Backends,
    /// What an operator should know, a sentence each.
    pub warnings: Vec<String>,
}

/// Opens the embedded store that the configuration names. If it fails later, the process ends with exit code 74.
///
/// # Errors
/// See [`StoreOpenError`]; nothing was changed.
pub async fn open_store(
    config: &Config,
    boot: BootId,
    clock: Arc<dyn Clock>,
) -> Result<OpenedBackends, OpenError> {
    let mut embedded = EmbeddedConfig::at(&config.store);
    embedded.create = config.store_create;
    let fatal = end_of_process();
    // Opening reads and syncs files: not on a thread that drives executions.
    let open = move || EmbeddedStore::open(&embedded, boot, fatal);
    let opened = tokio::task::spawn_blocking(open).await;
    let opened = opened.map_err(|error| StoreOpenError::Damaged(error.to_string()))??;
    // The lock on the files is the lease: whoever holds it holds every tree.
    let leases = LocalLeaseStore::new(clock, Expiry::Never);
    Ok(OpenedBackends {
        backends: Backends {
            store: Arc::new(opened.store),
            leases: Arc::new(leases),
        },
        warnings: opened.warnings.iter().map(ToString::to_string).collect(),
    })
}

/// What an embedded store of an instance does when it can go on no more: says so, and ends the process with exit code 74.
#[must_use]
pub fn end_of_process() -> FatalHook {
    Arc::new(end_process)
}

#[expect(clippy::needless_pass_by_value, reason = "the hook's own signature")]
fn end_process(fatal: StoreFatal) {
    let why = &fatal.why;
    tracing::error!(why, "the store can go on no more, the process ends");
    let text = format!(
        "[store.failed] the store can go on no more: {why}\nwhat was acknowledged is on the disk; start again, and it is recovered from there\n"
    );
    // There is nobody left to tell if this fails.
    let _unheard = std::io::stderr().write_all(text.as_bytes());
    std::process::exit(i32::from(StoreFatal::EXIT_CODE));
}
