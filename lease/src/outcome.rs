//! What a lease store answers. Where the network can hide an outcome, there is a third value for it.
//!
//! An unknown outcome is never taken for a failure: the write may have landed, and may still land later.

use std::collections::BTreeMap;

use leasehold_types::{TreeId, Uptime};

use crate::{Owner, Revision, Session};

/// Why a store gave no usable answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LeaseStoreError {
    /// No answer within the attempt, or the connection broke: the outcome of a write is unknown.
    #[error("[lease.store-silent] the lease store did not answer: {0}")]
    Silent(String),
    /// The store answered that it will not: credentials, space, or a request it does not take.
    #[error("[lease.store-refused] the lease store refused the request: {0}")]
    Refused(String),
    /// A session card is longer than [`crate::OpenSession::CARD_BYTES_MAX`].
    #[error("[lease.card-too-large] the session card has {bytes} bytes, the limit is {max}", max = crate::OpenSession::CARD_BYTES_MAX)]
    CardTooLarge {
        /// Its length.
        bytes: usize,
    },
}

/// What came of opening a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpenOutcome {
    /// It lives, at least until `sent` plus the TTL.
    Opened {
        /// The session.
        session: Session,
        /// When the request was sent, taken before sending.
        sent: Uptime,
    },
    /// A session may be left in the store; it has no keys and ends by its TTL. Open another.
    Unknown(LeaseStoreError),
    /// The store will not open one: nothing was made.
    Refused(LeaseStoreError),
}

/// What came of one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimOutcome {
    /// The tree's key is the claimer's, by this claim's token.
    Claimed {
        /// When the key was made; releases and sweeps compare it.
        create_revision: Revision,
    },
    /// Somebody else's claim holds the key: another holder, or another claim of this one.
    Held(Owner),
    /// The claim may have landed or may land later. Repeat it with the same token.
    Unknown(LeaseStoreError),
    /// The session is over: nothing can be claimed on it.
    SessionGone,
}

/// What came of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// No key of that revision is there any more: deleted now, or gone before.
    Released,
    /// The tree's key is a later one. It was left alone.
    Superseded(Owner),
    /// The key may still be there. Repeat it.
    Unknown(LeaseStoreError),
}

/// What came of one attempt to renew a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Renewal {
    /// The pair held: a keepalive was answered with time left, and *then* a linearizable read under the same leader's
    /// term found the session key at its create revision. The session lives until `sent` plus the TTL.
    Confirmed {
        /// When the keepalive was sent, taken before sending. Never the time of an answer.
        sent: Uptime,
    },
    /// Some half of the pair is missing. The session may or may not have been renewed; nothing is extended.
    NotConfirmed(LeaseStoreError),
    /// The session has ended: no time left, lease not found, session key gone or made anew. Final.
    Gone,
}

/// What came of revoking a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// It is over, with all its keys: now, or since before.
    Revoked,
    /// It may still live. Repeat it, or wait for its TTL.
    Unknown(LeaseStoreError),
}

/// Owners as the store showed them at one revision. May be old: compare `at` before concluding that a key is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The revision the list was read at.
    pub at: Revision,
    /// The owner of each held tree in scope.
    pub owners: BTreeMap<TreeId, Owner>,
}

/// Live sessions as the store showed them at one revision.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionListing {
    /// The revision the list was read at.
    pub at: Revision,
    /// The sessions, in the order they were opened.
    pub sessions: Vec<Session>,
}
