//! A bus that loses, repeats and reorders by a seed: for contract suites and simulations.
//!
//! It wraps a well-behaved bus. With a plan of nothing it only passes on.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use leasehold_types::{BoxFuture, Clock, Random};

use crate::{Bus, BusError, Message, Reply, SubjectFilter, SubscribeOptions, Subscription};

/// How often each fault strikes, out of a thousand messages. Together at most a thousand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// Lost on the way. Of lost asks, half are lost on the way back.
    pub lose: u32,
    /// Delivered twice.
    pub repeat: u32,
    /// Held back until another message has passed. Asks are never held.
    pub reorder: u32,
}

/// How often each fault struck.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultCounts {
    /// Messages lost.
    pub lost: u64,
    /// Messages delivered twice.
    pub repeated: u64,
    /// Messages overtaken.
    pub reordered: u64,
}

/// A bus with faults. Clones share the plan and its seed.
#[derive(Debug, Clone)]
pub struct FaultyBus {
    inner: Arc<dyn Bus>,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    plan: FaultPlan,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    counts: FaultCounts,
    held: VecDeque<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Pass,
    Lose,
    Repeat,
    Hold,
}

impl FaultyBus {
    /// Wraps a bus. A lost ask times out by `clock`; which message meets which fault follows from `random`.
    #[must_use]
    pub fn around(
        inner: Arc<dyn Bus>,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
        plan: FaultPlan,
    ) -> Self {
        Self {
            inner,
            clock,
            random,
            plan,
            state: Arc::default(),
        }
    }

    /// How often each fault struck so far.
    #[must_use]
    pub fn counts(&self) -> FaultCounts {
        self.state().counts
    }

    /// Delivers what is still held back.
    ///
    /// # Errors
    /// The wrapped bus refuses it.
    pub async fn settle(&self) -> Result<(), BusError> {
        let held = std::mem::take(&mut self.state().held);
        for message in held {
            self.inner.publish(message).await?;
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fate(&self) -> Fate {
        let roll = self.random.next_u64() % 1_000;
        let FaultPlan {
            lose,
            repeat,
            reorder,
        } = self.plan;
        let (lose, repeat, reorder) = (u64::from(lose), u64::from(repeat), u64::from(reorder));
        match roll {
            roll if roll < lose => Fate::Lose,
            roll if roll < lose + repeat => Fate::Repeat,
            roll if roll < lose + repeat + reorder => Fate::Hold,
            _ => Fate::Pass,
        }
    }

    async fn publish_by(&self, fate: Fate, message: Message) -> Result<(), BusError> {
        match fate {
            Fate::Lose => {
                self.state().counts.lost += 1;
                return Ok(());
            }
            Fate::Hold => {
                let mut state = self.state();
                state.counts.reordered += 1;
                state.held.push_back(message);
                return Ok(());
            }
            Fate::Repeat => {
                self.state().counts.repeated += 1;
                self.inner.publish(message.clone()).await?;
            }
            Fate::Pass => {}
        }
        self.inner.publish(message).await?;
        let overtaken = self.state().held.pop_front();
        match overtaken {
            Some(overtaken) => self.inner.publish(overtaken).await,
            None => Ok(()),
        }
    }

    /// Of an ask that is lost, the question or the answer is lost; of one that is repeated, the second answer counts.
    async fn request_by(
        &self,
        fate: Fate,
        message: Message,
        timeout: Duration,
    ) -> Result<Reply, BusError> {
        match fate {
            Fate::Lose => {
                self.state().counts.lost += 1;
                if self.random.next_u64() & 1 == 0 {
                    self.inner.request(message, timeout).await?;
                }
                self.clock.sleep(timeout).await;
                return Ok(Reply::TimedOut);
            }
            Fate::Repeat => {
                self.state().counts.repeated += 1;
                self.inner.request(message.clone(), timeout).await?;
            }
            Fate::Hold | Fate::Pass => {}
        }
        self.inner.request(message, timeout).await
    }
}

impl Bus for FaultyBus {
    fn publish(&self, message: Message) -> BoxFuture<'_, Result<(), BusError>> {
        Box::pin(async move { self.publish_by(self.fate(), message).await })
    }

    fn request(
        &self,
        message: Message,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Reply, BusError>> {
        Box::pin(async move { self.request_by(self.fate(), message, timeout).await })
    }

    fn subscribe(
        &self,
        filter: SubjectFilter,
        options: SubscribeOptions,
    ) -> BoxFuture<'_, Result<Box<dyn Subscription>, BusError>> {
        self.inner.subscribe(filter, options)
    }
}
