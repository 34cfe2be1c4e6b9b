//! The nouns of a lease store: sessions, holders, owners, revisions and claim tokens.
//!
//! It never decides anything: who holds what is the store's answer, what follows from it the machine's.

use std::fmt;
use std::time::Duration;

use leasehold_types::{BootId, InstanceId, Random};

/// A point in the history of one lease store. Rises with each change the store accepts.
///
/// A store restored from a backup may go back: no epoch is made from it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// The revision with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The one after it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who holds: an instance and the start of it. Two starts of one instance are two holders.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Holder {
    /// The configured name.
    pub instance: InstanceId,
    /// The start of the process.
    pub boot: BootId,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.instance, self.boot)
    }
}

/// Names one attempt to claim one tree, so that a claimer recognises its own after an unknown outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClaimToken(u128);

impl ClaimToken {
    /// Makes a token nobody else has.
    #[must_use]
    pub fn new(random: &dyn Random) -> Self {
        Self((u128::from(random.next_u64()) << 64) | u128::from(random.next_u64()))
    }

    /// The token with this number, as a store read it back.
    #[must_use]
    pub const fn from_u128(value: u128) -> Self {
        Self(value)
    }

    /// The number to store.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

/// Names one session within its store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(u64);

impl SessionId {
    /// The session with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Its number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// What a session is opened with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenSession {
    /// Who opens it.
    pub holder: Holder,
    /// How long it lives without a renewal, in whole seconds.
    pub ttl: Duration,
    /// What others may read about the holder while the session lives, at most [`OpenSession::CARD_BYTES_MAX`] bytes.
    /// The store does not read it.
    pub card: Vec<u8>,
}

impl OpenSession {
    /// The longest card, in bytes: an address and a few hashes, read by every member.
    pub const CARD_BYTES_MAX: usize = 4_096;
}

/// One live session: what owner keys hang on. Its end is the end of all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name in the store.
    pub id: SessionId,
    /// When its own key was made: a renewal compares it.
    pub create_revision: Revision,
    /// Who opened it.
    pub holder: Holder,
    /// What others may read about the holder.
    pub card: Vec<u8>,
}

/// What an owner key says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerValue {
    /// A holder, and the token of the claim that won.
    Known {
        /// Who.
        holder: Holder,
        /// Its claim.
        token: ClaimToken,
    },
    /// The value is not one of ours: the tree counts as held by somebody unknown.
    Unreadable,
}

/// The holder of one tree's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// What the key says.
    pub value: OwnerValue,
    /// When the key was made. Two ownership periods of one tree never share it.
    pub create_revision: Revision,
    /// The session the key hangs on; none if it would never end by itself.
    pub session: Option<SessionId>,
}

impl Owner {
    /// Whether `token` won this key.
    #[must_use]
    pub fn is_claimed_by(&self, token: ClaimToken) -> bool {
        match &self.value {
            OwnerValue::Known { token: won, .. } => *won == token,
            OwnerValue::Unreadable => false,
        }
    }

    /// Who holds it, where the key is readable.
    #[must_use]
    pub const fn holder(&self) -> Option<&Holder> {
        match &self.value {
            OwnerValue::Known { holder, .. } => Some(holder),
            OwnerValue::Unreadable => None,
        }
    }
}
