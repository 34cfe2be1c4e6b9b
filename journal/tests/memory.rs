//! The conformance suite on the store in memory.

use std::sync::Arc;

use leasehold_journal::contract::block_on;
use leasehold_journal::{MemoryStore, Store};

fn run<F: Future<Output = ()>>(case: impl FnOnce(Arc<dyn Store>) -> F) {
    block_on(case(Arc::new(MemoryStore::new())));
}

leasehold_journal::store_contract!(run);
