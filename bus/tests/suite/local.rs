//! The local bus against the contract of buses: bare, behind a wrapper without faults, and with them.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_executor::block_on;
use leasehold_bus::contract::Fixture;
use leasehold_bus::{
    Bus, FaultPlan, FaultyBus, LocalBus, Message, Reply, Subject, SubjectFilter, SubscribeOptions,
};
use leasehold_types::{BoxFuture, Tenant, seconds};

use crate::clock::{ManualClock, Seeded};

struct Local {
    clock: ManualClock,
    bus: LocalBus,
    faulty: Option<FaultyBus>,
}

impl Local {
    fn bare() -> Self {
        let clock = ManualClock::default();
        Self {
            bus: LocalBus::new(Arc::new(clock.clone())),
            clock,
            faulty: None,
        }
    }

    fn with(plan: FaultPlan, seed: u64) -> Self {
        let bare = Self::bare();
        let random = Arc::new(Seeded(seed.into()));
        let inner = Arc::new(bare.bus.clone());
        let clock = Arc::new(bare.clock.clone());
        let faulty = Some(FaultyBus::around(inner, clock, random, plan));
        Self { faulty, ..bare }
    }
}

impl Fixture for Local {
    fn bus(&self) -> Arc<dyn Bus> {
        match &self.faulty {
            Some(faulty) => Arc::new(faulty.clone()),
            None => Arc::new(self.bus.clone()),
        }
    }
    fn other(&self) -> Arc<dyn Bus> {
        self.bus()
    }
    fn tenant(&self) -> Tenant {
        Tenant::new("acme")
    }
    fn other_tenant(&self) -> Tenant {
        Tenant::new("acme.live")
    }
    fn pass(&self, time: Duration) -> BoxFuture<'_, ()> {
        self.clock.advance(time);
        Box::pin(std::future::ready(()))
    }
    /// A local bus has delivered when `publish` returns; others get their turn before the case goes on.
    fn settle(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(faulty) = &self.faulty {
                faulty.settle().await.unwrap();
            }
            yield_once().await;
        })
    }
}

async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

const STORM: FaultPlan = FaultPlan {
    lose: 200,
    repeat: 200,
    reorder: 200,
};

mod bare {
    use super::*;
    leasehold_bus::bus_contract_tests!(fair, block_on, Local::bare);
}

mod without_faults {
    use super::*;
    fn fixture() -> Local {
        Local::with(FaultPlan::default(), 1)
    }
    leasehold_bus::bus_contract_tests!(fair, block_on, fixture);
}

mod with_faults {
    use super::*;
    fn fixture() -> Local {
        Local::with(STORM, 1)
    }
    leasehold_bus::bus_contract_tests!(lossy, block_on, fixture);
}

fn subject() -> Subject {
    Subject::new(&Tenant::new("acme"), &["live", "a"]).unwrap()
}

/// The order in which a thousand numbered messages arrive through a storm of this seed.
fn through_the_storm(seed: u64) -> (Vec<u32>, FaultyBus) {
    let local = Local::with(STORM, seed);
    let faulty = local.faulty.clone().unwrap();
    let numbers = block_on(async {
        let filter = SubjectFilter::exactly(&subject());
        let room = std::num::NonZeroUsize::new(4_096).unwrap();
        let options = SubscribeOptions::alone().with_capacity(room);
        let mut subscription = faulty.subscribe(filter, options).await.unwrap();
        for number in 0..1_000_u32 {
            let message = Message::new(subject(), number.to_be_bytes().as_slice());
            faulty.publish(message).await.unwrap();
        }
        faulty.settle().await.unwrap();
        let mut numbers = vec![];
        while let Poll::Ready(Some(delivery)) = futures_util::poll!(subscription.next()) {
            numbers.push(u32::from_be_bytes(delivery.payload[..].try_into().unwrap()));
        }
        numbers
    });
    (numbers, faulty)
}

#[test]
fn a_storm_loses_repeats_and_reorders_and_counts_each() {
    let (numbers, faulty) = through_the_storm(7);
    let counts = faulty.counts();
    let distinct = numbers
        .iter()
        .collect::<std::collections::BTreeSet<_>>()
        .len() as u64;
    assert_eq!(distinct, 1_000 - counts.lost);
    assert_eq!(numbers.len() as u64, distinct + counts.repeated);
    assert!(
        numbers.windows(2).any(|pair| pair[0] > pair[1]),
        "some were overtaken"
    );
    assert!(counts.lost > 100 && counts.repeated > 100 && counts.reordered > 100);
}

#[test]
fn the_same_seed_gives_the_same_storm_and_another_gives_another() {
    assert_eq!(through_the_storm(7).0, through_the_storm(7).0);
    assert_ne!(through_the_storm(7).0, through_the_storm(8).0);
}

// CASE 81
#[test]
fn ten_thousand_asks_that_timed_out_or_were_given_up_leave_nothing_behind() {
    let local = Local::bare();
    let filter = SubjectFilter::exactly(&subject());
    let listening = local.bus.subscribe(filter, SubscribeOptions::alone());
    let _silent = block_on(listening).unwrap();
    let ask = || local.bus.request(Message::new(subject(), []), seconds(1));
    let mut asks: Vec<_> = (0..10_000).map(|_| ask()).collect();
    block_on(async {
        for ask in &mut asks {
            assert!(futures_util::poll!(ask).is_pending());
        }
    });
    assert_eq!(local.bus.subscriptions(), 10_001);
    let given_up = asks.split_off(5_000);
    drop(given_up);
    local.clock.advance(seconds(1));
    for ask in asks {
        assert_eq!(block_on(ask), Ok(Reply::TimedOut));
    }
    assert_eq!(local.bus.subscriptions(), 1);
}
