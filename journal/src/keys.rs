//! The `Keys` trait: small values by compare-and-set, with expiry. Idempotency keys, threads, business keys.

use leasehold_types::{BoxFuture, Timestamp};

use crate::JournalError;

/// The most bytes of a key's value: 64 KiB.
pub const KEY_VALUE_BYTES_MAX: usize = 64 * 1_024;
/// The most bytes of a key: 512.
pub const KEY_BYTES_MAX: usize = 512;

/// A value and the revision it was written at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredKey {
    /// The value; at most [`KEY_VALUE_BYTES_MAX`].
    pub value: Vec<u8>,
    /// Its revision, never 0; rises with each write to the key.
    pub revision: u64,
    /// When it is forgotten.
    pub expires_at: Option<Timestamp>,
}

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// No value, or one that has expired at the `now` of the write.
    Absent,
    /// The value written at this revision.
    Revision(u64),
}

impl Expect {
    /// For backends: whether what is there, expired values left out, is what was expected.
    #[must_use]
    pub fn holds(self, current: Option<&StoredKey>) -> bool {
        match (self, current) {
            (Self::Absent, None) => true,
            (Self::Revision(expected), Some(stored)) => stored.revision == expected,
            (Self::Absent, Some(_)) | (Self::Revision(_), None) => false,
        }
    }
}

/// What became of a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPut {
    /// It is durable, at this revision.
    Stored {
        /// The new revision.
        revision: u64,
    },
    /// Something else was there; nothing changed.
    Conflict {
        /// What was there; `None` where a revision was expected and nothing was there.
        current: Option<StoredKey>,
    },
    /// Nobody knows: read the key and look for the value.
    Unknown,
}

/// Small values by compare-and-set.
pub trait Keys: Send + Sync + std::fmt::Debug {
    /// Reads a key. A value that has expired at `now` is absent.
    fn key<'a>(
        &'a self,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredKey>, JournalError>>;

    /// Writes a key if it is as expected. Durable before [`KeyPut::Stored`].
    fn put_key<'a>(
        &'a self,
        key: &'a str,
        value: Vec<u8>,
        expect: Expect,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<KeyPut, JournalError>>;

    /// Forgets a key if it is still at `revision`; says whether it was.
    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>>;
}

/// Whether a value has not expired at `now`.
pub(crate) fn is_alive(stored: &StoredKey, now: Timestamp) -> bool {
    stored.expires_at.is_none_or(|expires_at| now < expires_at)
}

/// Whether a key and its value can be stored at all.
pub(crate) fn check_key(key: &str, value: &[u8]) -> Result<(), JournalError> {
    JournalError::within("key", key.len(), KEY_BYTES_MAX)?;
    JournalError::within("value of a key", value.len(), KEY_VALUE_BYTES_MAX)
}
