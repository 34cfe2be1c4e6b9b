//! The conformance suite on the embedded store.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use leasehold_journal::Store;
use leasehold_journal::contract::{SeededRandom, block_on};
use leasehold_journal::embedded::{EmbeddedConfig, EmbeddedStore};
use leasehold_types::BootId;

fn run<F: Future<Output = ()>>(case: impl FnOnce(Arc<dyn Store>) -> F) {
    let directory = tempfile::tempdir().unwrap();
    let mut config = EmbeddedConfig::at(directory.path().join("store"));
    config.segment_bytes = 512 * 1_024;
    let boot = BootId::new(&SeededRandom::new(1));
    let opened = EmbeddedStore::open(&config, boot, Arc::new(|_| {})).unwrap();
    block_on(case(Arc::new(opened.store)));
}

// CONTRACT R10
leasehold_journal::store_contract!(run);
