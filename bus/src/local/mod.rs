//! The bus of one process: bounded queues behind a mutex. It loses only what does not fit.

mod routes;

use std::num::NonZeroUsize;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::{Either, select};
use leasehold_types::{BoxFuture, Clock};

use crate::addresses::INBOX;
use crate::{
    Bus, BusError, Delivery, Message, Reply, ReplyTo, Subject, SubjectFilter, SubscribeOptions,
    Subscription,
};
use routes::{Queue, RouteId, Routes};

/// A bus in memory. Clones share it.
#[derive(Debug, Clone)]
pub struct LocalBus {
    clock: Arc<dyn Clock>,
    routes: Arc<Mutex<Routes>>,
}

impl LocalBus {
    /// A bus nobody listens on yet. Asks time out by `clock`.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            routes: Arc::default(),
        }
    }

    /// How many subscriptions there are, inboxes of waiting asks included.
    #[must_use]
    pub fn subscriptions(&self) -> usize {
        self.routes().len()
    }

    fn routes(&self) -> MutexGuard<'_, Routes> {
        locked(&self.routes)
    }

    /// Returns how many subscriptions and groups were told.
    fn send(&self, message: Message, reply_to: Option<ReplyTo>) -> Result<usize, BusError> {
        let bytes = message.bytes();
        if bytes > Message::BYTES_MAX {
            return Err(BusError::TooLarge { bytes });
        }
        let Message {
            subject,
            payload,
            headers,
        } = message;
        Ok(self.routes().deliver(&Delivery {
            subject,
            payload,
            headers,
            reply_to,
        }))
    }

    fn listen(&self, filter: SubjectFilter, options: SubscribeOptions) -> LocalSubscription {
        let (id, queue) = self.routes().add(filter, options);
        LocalSubscription {
            routes: Arc::clone(&self.routes),
            id,
            queue,
        }
    }

    /// A subject that only one ask listens on, beside the subject asked.
    fn inbox(&self, asked: &Subject) -> Result<(LocalSubscription, Option<ReplyTo>), BusError> {
        let tenant = asked.tenant();
        let number = self.routes().next_inbox();
        let inbox = Subject::new(&tenant, &[INBOX, &number.to_string()])?;
        let filter = SubjectFilter::exactly(&inbox);
        let answers = self.listen(
            filter,
            SubscribeOptions::alone().with_capacity(NonZeroUsize::MIN),
        );
        Ok((answers, ReplyTo::of(inbox.as_str(), asked)))
    }
}

fn locked(routes: &Mutex<Routes>) -> MutexGuard<'_, Routes> {
    routes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bus for LocalBus {
    fn publish(&self, message: Message) -> BoxFuture<'_, Result<(), BusError>> {
        Box::pin(async move { self.send(message, None).map(drop) })
    }

    fn request(
        &self,
        message: Message,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Reply, BusError>> {
        Box::pin(async move {
            // The inbox ends with this future, answered or not: a late answer finds nobody.
            let (mut answers, reply_to) = self.inbox(&message.subject)?;
            if self.send(message, reply_to)? == 0 {
                return Ok(Reply::NoResponders);
            }
            let timer = self.clock.sleep(timeout);
            Ok(match select(answers.next(), timer).await {
                Either::Left((Some(answer), _)) => Reply::Answered(answer),
                Either::Left((None, _)) | Either::Right(_) => Reply::TimedOut,
            })
        })
    }

    fn subscribe(
        &self,
        filter: SubjectFilter,
        options: SubscribeOptions,
    ) -> BoxFuture<'_, Result<Box<dyn Subscription>, BusError>> {
        Box::pin(async move {
            let subscription: Box<dyn Subscription> = Box::new(self.listen(filter, options));
            Ok(subscription)
        })
    }
}

#[derive(Debug)]
struct LocalSubscription {
    routes: Arc<Mutex<Routes>>,
    id: RouteId,
    queue: Queue,
}

impl Subscription for LocalSubscription {
    fn next(&mut self) -> BoxFuture<'_, Option<Delivery>> {
        Box::pin(async move { self.queue.deliveries.recv().await.ok() })
    }

    fn dropped(&self) -> u64 {
        self.queue.dropped.load(Ordering::Acquire)
    }
}

impl Drop for LocalSubscription {
    fn drop(&mut self) {
        locked(&self.routes).remove(&self.id);
    }
}
