//! The bus: publish, ask, subscribe. It is quick, and promises nothing.
//!
//! - BUS-1: a subscription receives only what was published to a subject its filter matches.
//! - BUS-2: every queue has a bound; what does not fit is dropped and counted, and the publisher never waits for a reader.
//! - BUS-3: an answer reaches the ask it was given to, or nobody.
//! - BUS-4: an ask ends by its timeout, on the clock it was given, whatever the network does.

use std::num::NonZeroUsize;
use std::time::Duration;

use leasehold_types::{BoxFuture, ComponentName};

use crate::{Delivery, Headers, Message, Payload, ReplyTo, SubjectError, SubjectFilter};

/// Why the bus did not take something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BusError {
    /// No connection: what was sent may be lost, or may still go out.
    #[error("[bus.unavailable] the bus cannot be reached: {0}")]
    Unavailable(String),
    /// The server refuses this subject to these credentials.
    #[error("[bus.denied] the bus refuses {0} to these credentials")]
    Denied(String),
    /// Payload and headers are longer than [`Message::BYTES_MAX`].
    #[error("[bus.message-too-large] a message has {bytes} bytes, the limit is {max}", max = Message::BYTES_MAX)]
    TooLarge {
        /// Payload and headers together.
        bytes: usize,
    },
    /// A subject could not be made.
    #[error(transparent)]
    Subject(#[from] SubjectError),
}

/// What came of an ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The first answer.
    Answered(Delivery),
    /// Nobody listens there: nothing was asked.
    NoResponders,
    /// No answer in time. It may have been asked, and acted on.
    TimedOut,
}

/// Subscriptions that share a name share the messages: each goes to one of them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueGroup(ComponentName);

impl QueueGroup {
    /// The group of this name.
    #[must_use]
    pub const fn named(name: ComponentName) -> Self {
        Self(name)
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// How to subscribe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscribeOptions {
    /// Share the messages with a group; none: hear all.
    pub group: Option<QueueGroup>,
    /// How many messages wait for a slow reader.
    pub capacity: NonZeroUsize,
}

impl SubscribeOptions {
    /// Messages that wait by default: a second's worth on a busy subject.
    pub const CAPACITY: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

    /// Hears all messages.
    #[must_use]
    pub const fn alone() -> Self {
        Self {
            group: None,
            capacity: Self::CAPACITY,
        }
    }

    /// Shares the messages.
    #[must_use]
    pub const fn in_group(group: QueueGroup) -> Self {
        Self {
            group: Some(group),
            capacity: Self::CAPACITY,
        }
    }

    /// The same with room for so many messages.
    #[must_use]
    pub const fn with_capacity(mut self, capacity: NonZeroUsize) -> Self {
        self.capacity = capacity;
        self
    }
}

impl Default for SubscribeOptions {
    fn default() -> Self {
        Self::alone()
    }
}

/// Messages that a filter matches, from the moment [`Bus::subscribe`] answered until it is dropped.
pub trait Subscription: Send + std::fmt::Debug {
    /// The next message; `None` when the bus is gone for good. Dropping the future loses no message.
    fn next(&mut self) -> BoxFuture<'_, Option<Delivery>>;

    /// How many messages did not fit since the beginning.
    fn dropped(&self) -> u64;
}

/// How instances talk. It may lose, repeat and reorder anything: what must last is a letter or a frame.
pub trait Bus: Send + Sync + std::fmt::Debug {
    /// Sends a message to whoever listens. `Ok` says that it was taken, never that it arrived.
    ///
    /// # Errors
    /// It was too large, refused, or there is no connection.
    fn publish(&self, message: Message) -> BoxFuture<'_, Result<(), BusError>>;

    /// Asks whoever listens and waits for the first answer. Dropping the future stops waiting, not what was asked.
    ///
    /// # Errors
    /// As [`Bus::publish`].
    fn request(
        &self,
        message: Message,
        timeout: Duration,
    ) -> BoxFuture<'_, Result<Reply, BusError>>;

    /// Answers an ask. An answer after the asker's timeout reaches nobody.
    ///
    /// # Errors
    /// As [`Bus::publish`].
    fn respond(
        &self,
        to: ReplyTo,
        payload: Payload,
        headers: Headers,
    ) -> BoxFuture<'_, Result<(), BusError>> {
        let subject = to.subject().clone();
        self.publish(Message {
            subject,
            payload,
            headers,
        })
    }

    /// Hears what a filter matches. When it answers, what is published after on any connection is heard.
    ///
    /// # Errors
    /// It was refused, or there is no connection.
    fn subscribe(
        &self,
        filter: SubjectFilter,
        options: SubscribeOptions,
    ) -> BoxFuture<'_, Result<Box<dyn Subscription>, BusError>>;
}
