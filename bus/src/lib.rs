//! How messages travel between instances: subjects, and a bus that may lose, repeat and reorder anything.
//!
//! What must last is a letter or a frame and goes through the journal; the bus is only quicker. It holds no async
//! runtime, starts no task, and knows no message's meaning.

mod addresses;
mod bus;
#[cfg(feature = "contract-tests")]
pub mod contract;
#[cfg(feature = "contract-tests")]
mod faulty;
mod filter;
mod headers;
mod local;
mod message;
mod part;
mod subject;

pub use addresses::{ask, cancel, doorbell, live, live_of_tenant};
pub use bus::{Bus, BusError, QueueGroup, Reply, SubscribeOptions, Subscription};
#[cfg(feature = "contract-tests")]
pub use faulty::{FaultCounts, FaultPlan, FaultyBus};
pub use filter::{FilterPart, SubjectFilter};
pub use headers::{HeaderError, Headers};
pub use local::LocalBus;
pub use message::{Delivery, Message, Payload, ReplyTo};
pub use subject::{Subject, SubjectError};
