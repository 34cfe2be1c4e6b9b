//! The local store, with and without expiry, against the contract of lease stores.

use std::sync::Arc;
use std::time::Duration;

use futures_executor::block_on;
use leasehold_lease::contract::Fixture;
use leasehold_lease::{Change, Expiry, LeaseStore, LocalLeaseStore, Scope};
use leasehold_types::{BoxFuture, Clock, Random, TreeId};

use crate::clock::{ManualClock, Seeded};

struct Local {
    clock: Arc<ManualClock>,
    store: LocalLeaseStore,
    random: Seeded,
}

impl Local {
    fn new(expiry: Expiry) -> Self {
        let clock = Arc::<ManualClock>::default();
        Self {
            store: LocalLeaseStore::new(clock.clone(), expiry),
            clock,
            random: Seeded(7.into()),
        }
    }
}

impl Fixture for Local {
    fn store(&self) -> Arc<dyn LeaseStore> {
        Arc::new(self.store.clone())
    }
    fn clock(&self) -> Arc<dyn Clock> {
        self.clock.clone()
    }
    fn random(&self) -> &dyn Random {
        &self.random
    }
    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.clock.advance(time);
        Box::pin(std::future::ready(()))
    }
    fn plant_unreadable(&self, tree: TreeId) -> BoxFuture<'_, ()> {
        self.store.plant_unreadable(tree);
        Box::pin(std::future::ready(()))
    }
}

mod without_expiry {
    use super::*;
    fn fixture() -> Local {
        Local::new(Expiry::Never)
    }
    leasehold_lease::lease_contract_tests!(block_on, fixture);
}

mod with_expiry {
    use super::*;
    fn fixture() -> Local {
        Local::new(Expiry::ByTtl)
    }
    leasehold_lease::lease_contract_tests!(block_on, fixture);
}

#[test]
fn a_feed_nobody_reads_keeps_its_first_changes_and_says_that_it_missed_some() {
    let local = Local::new(Expiry::Never);
    let store = &local.store;
    block_on(async {
        let mut feed = store.watch(Scope::All).await.unwrap();
        for number in 0..4_097 {
            store.plant_unreadable(TreeId::from_u128(number));
        }
        assert_eq!(feed.next().await, Some(Change::Missed));
        for number in 0..4_096 {
            let change = feed.next().await;
            let Some(Change::Claimed { tree, .. }) = change else {
                panic!("{number}: {change:?}");
            };
            assert_eq!(tree, TreeId::from_u128(number));
        }
        store.plant_unreadable(TreeId::from_u128(9_999));
        let change = feed.next().await;
        assert!(matches!(change, Some(Change::Claimed { .. })), "{change:?}");
    });
}
