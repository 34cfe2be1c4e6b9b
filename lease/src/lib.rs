//! Who may move an execution tree, and until when.
//!
//! A lease store says who should try; the journal says who may write. Nothing here is needed for safety: a store that
//! lies costs time, never a second writer. What must never be late is the loss, and [`LeaseMachine`] counts that
//! without asking anybody.
//!
//! It holds no async runtime, no task and no timer: a shell feeds the machine and carries out what it says.

mod config;
mod config_error;
#[cfg(feature = "contract-tests")]
pub mod contract;
#[cfg(feature = "contract-tests")]
mod faulty;
mod feed;
mod local;
mod machine;
mod outcome;
mod owner;
mod store;

pub use config::{LeaseConfig, LeaseTimes};
pub use config_error::LeaseConfigError;
#[cfg(feature = "contract-tests")]
pub use faulty::{Fault, FaultyLeaseStore};
pub use feed::{Change, ChangeFeed, Scope};
pub use local::LocalLeaseStore;
pub use machine::{Action, ClaimRefusal, Deadline, Event, LeaseMachine};
pub use outcome::{
    ClaimOutcome, LeaseStoreError, Listing, OpenOutcome, ReleaseOutcome, Renewal, Revocation,
    SessionListing,
};
pub use owner::{ClaimToken, Holder, OpenSession, Owner, OwnerValue, Revision, Session, SessionId};
pub use store::{Attempt, Claim, Expiry, LeaseStore, Release, claim_one, release_one};
