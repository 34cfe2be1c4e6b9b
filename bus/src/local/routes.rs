//! Which queue a message goes to.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Delivery, QueueGroup, SubjectFilter, SubscribeOptions};

/// Subscriptions by filter: those of one subject are found at once, those with wildcards are tried in turn.
#[derive(Debug, Default)]
pub(super) struct Routes {
    exact: BTreeMap<String, Vec<Route>>,
    wild: Vec<Route>,
    /// Numbers routes and inboxes, and takes turns among the members of groups.
    made: u64,
    turn: usize,
}

/// Where a route is found again.
#[derive(Debug, Clone)]
pub(super) struct RouteId {
    number: u64,
    filter: SubjectFilter,
}

/// The reading end of a route.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) deliveries: async_channel::Receiver<Delivery>,
    pub(super) dropped: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Route {
    number: u64,
    filter: SubjectFilter,
    group: Option<QueueGroup>,
    capacity: NonZeroUsize,
    deliveries: async_channel::Sender<Delivery>,
    dropped: Arc<AtomicU64>,
}

impl Routes {
    pub(super) fn len(&self) -> usize {
        self.wild.len() + self.exact.values().map(Vec::len).sum::<usize>()
    }

    const fn next_number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub(super) const fn next_inbox(&mut self) -> u64 {
        self.next_number()
    }

    pub(super) fn add(
        &mut self,
        filter: SubjectFilter,
        options: SubscribeOptions,
    ) -> (RouteId, Queue) {
        // A bounded channel takes its whole room at once, and there is a subscription for each tree: the bound is kept
        // by `push`, under the lock all senders share.
        let (sender, deliveries) = async_channel::unbounded();
        let number = self.next_number();
        let dropped = Arc::<AtomicU64>::default();
        let route = Route {
            number,
            filter: filter.clone(),
            group: options.group,
            capacity: options.capacity,
            deliveries: sender,
            dropped: Arc::clone(&dropped),
        };
        let key = filter.as_str().to_owned();
        let place = match filter.is_exact() {
            true => self.exact.entry(key).or_default(),
            false => &mut self.wild,
        };
        place.push(route);
        let queue = Queue {
            deliveries,
            dropped,
        };
        (RouteId { number, filter }, queue)
    }

    pub(super) fn remove(&mut self, id: &RouteId) {
        if !id.filter.is_exact() {
            self.wild.retain(|route| route.number != id.number);
            return;
        }
        let Some(routes) = self.exact.get_mut(id.filter.as_str()) else {
            return;
        };
        routes.retain(|route| route.number != id.number);
        if routes.is_empty() {
            self.exact.remove(id.filter.as_str());
        }
    }

    /// Tells each subscription alone and one of each group. Returns how many were meant, full ones included.
    pub(super) fn deliver(&mut self, delivery: &Delivery) -> usize {
        self.turn = self.turn.wrapping_add(1);
        let exact = self.exact.get(delivery.subject.as_str());
        let wild = self.wild.iter();
        let wild = wild.filter(|route| route.filter.matches(&delivery.subject));
        let mut groups = BTreeMap::<&QueueGroup, Vec<&Route>>::new();
        let mut told = 0;
        for route in exact.into_iter().flatten().chain(wild) {
            if let Some(group) = &route.group {
                groups.entry(group).or_default().push(route);
                continue;
            }
            route.push(delivery);
            told += 1;
        }
        for members in groups.values() {
            if let Some(route) = members.get(self.turn % members.len()) {
                route.push(delivery);
            }
        }
        told + groups.len()
    }
}

impl Route {
    /// BUS-2: a full queue keeps what it has; the newest is dropped and counted.
    fn push(&self, delivery: &Delivery) {
        let has_room = self.deliveries.len() < self.capacity.get();
        if !has_room || self.deliveries.try_send(delivery.clone()).is_err() {
            self.dropped.fetch_add(1, Ordering::AcqRel);
        }
    }
}
