//! Why a lease configuration is refused. Each message gives the value and the bound it broke.

use std::time::Duration;

use crate::LeaseConfig;

/// Why a lease configuration was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseConfigError {
    /// The TTL is shorter or longer than a store and a takeover can take.
    #[error("[lease.ttl-out-of-range] a TTL of {0:?}, it must be {min:?} to {max:?}", min = LeaseConfig::TTL_MIN, max = LeaseConfig::TTL_MAX)]
    TtlOutOfRange(Duration),
    /// A store counts whole seconds.
    #[error("[lease.ttl-not-whole-seconds] a TTL of {0:?}, a lease store counts whole seconds")]
    TtlNotWholeSeconds(Duration),
    /// An interval is zero.
    #[error(
        "[lease.interval-zero] the renew interval, the attempt timeout and the sweep interval must be above zero"
    )]
    ZeroInterval,
    /// One missed renewal would be a loss.
    #[error(
        "[lease.renew-too-slow] renewed every {renew_every:?} with a TTL of {ttl:?}: renew in less than half the TTL, a third is usual"
    )]
    RenewTooSlow {
        /// The TTL.
        ttl: Duration,
        /// The interval.
        renew_every: Duration,
    },
    /// One stalled endpoint would use up the lease.
    #[error(
        "[lease.attempt-too-long] an attempt may take {attempt_timeout:?} with a TTL of {ttl:?}: at most a sixth of the TTL"
    )]
    AttemptTooLong {
        /// The TTL.
        ttl: Duration,
        /// The attempt's limit.
        attempt_timeout: Duration,
    },
    /// The margin does not cover drift and scheduling.
    #[error(
        "[lease.margin-too-small] a margin of {margin:?} with a TTL of {ttl:?}: at least {least:?}"
    )]
    MarginTooSmall {
        /// The TTL.
        ttl: Duration,
        /// The margin.
        margin: Duration,
        /// The least one.
        least: Duration,
    },
    /// The margin leaves too little of the lease.
    #[error(
        "[lease.margin-too-large] a margin of {margin:?} with a TTL of {ttl:?}: at most half the TTL"
    )]
    MarginTooLarge {
        /// The TTL.
        ttl: Duration,
        /// The margin.
        margin: Duration,
    },
    /// No key, or more than a store revokes in a second.
    #[error("[lease.keys-out-of-range] {0} keys on a session, it must be 1 to {max}", max = LeaseConfig::KEYS_PER_SESSION_LIMIT)]
    KeysOutOfRange(usize),
}
