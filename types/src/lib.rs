//! The nouns all crates share: ids, time, money, epochs, signals, permits.
//!
//! It holds no async runtime, no socket and no decision of a domain; the seams `Clock` and `Random` are declared here and implemented elsewhere.

mod digest;
mod effect;
mod epoch;
mod ids;
pub mod json;
mod lost;
mod money;
mod names;
mod permit;
mod principal;
mod random;
mod signal;
mod slot;
mod spend;
mod summary;
mod text_id;
mod time;
mod units;

pub use digest::Digest;
pub use effect::Effect;
pub use epoch::{Epoch, FencingToken, FrameIndex};
pub use ids::{
    BootId, CallId, ExecutionId, FrameId, Home, IdempotencyKey, InstanceId, ParseIdError, PauseId,
    PauseRef, TreeId,
};
pub use lost::{ExecutionLeaseLostError, LeaseLostReason};
pub use money::{Amount, Budget, BudgetScope, Money, MoneyError, cents, usd};
pub use names::{ComponentName, NameError};
pub use permit::{OwnershipGuard, Permit, PermitRefused, PermitToken, StepIntent};
pub use principal::{Owner, Principal, PrincipalKind, Tenant, ThreadId};
pub use random::Random;
pub use signal::{AbortReason, Signal};
pub use slot::Slot;
pub use spend::{PriceSource, SpendEntry, TokenUsage};
pub use summary::{Answerer, PauseSummary, TreeState, TreeSummary};
pub use time::{BoxFuture, Clock, Timestamp, Uptime};
pub use units::{Size, days, hours, kilobytes, milliseconds, minutes, seconds};
