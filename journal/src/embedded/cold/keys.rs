//! Keys in redb.

use leasehold_types::{BoxFuture, Timestamp};
use redb::{ReadableTable, Table, TableDefinition, WriteTransaction};

use super::{Failure, sealed, unsealed};
use crate::embedded::EmbeddedStore;
use crate::keys::{check_key, is_alive};
use crate::{Expect, JournalError, KeyPut, Keys, StoredKey};

/// A key, to checksum, revision, expiry and value.
const KEYS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("keys");
/// What expires: time in microseconds and key.
const EXPIRIES: TableDefinition<'_, (i64, &str), ()> = TableDefinition::new("key_expiries");
/// The last revision given.
const REVISION: TableDefinition<'_, (), u64> = TableDefinition::new("key_revision");
/// The most expired keys that one write removes: more than it adds, so that they do not pile up.
const SWEPT_MAX: usize = 8;
/// Stands for "never expires".
const NEVER: i64 = i64::MAX;

pub(super) fn make_tables(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(KEYS)?;
    transaction.open_table(EXPIRIES)?;
    transaction.open_table(REVISION)?;
    Ok(())
}

fn encode(key: &str, stored: &StoredKey) -> Vec<u8> {
    let mut value = stored.revision.to_be_bytes().to_vec();
    value.extend_from_slice(&expiry(stored).to_be_bytes());
    value.extend_from_slice(&stored.value);
    sealed(key.as_bytes(), &value)
}

fn decode(key: &str, bytes: &[u8]) -> Result<StoredKey, redb::Error> {
    let value = unsealed(key.as_bytes(), bytes)?;
    let short = || redb::Error::Corrupted("a key's entry is cut short".to_owned());
    let (revision, rest) = value.split_first_chunk::<8>().ok_or_else(short)?;
    let (expiry, value) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    let expiry = i64::from_be_bytes(*expiry);
    Ok(StoredKey {
        value: value.to_vec(),
        revision: u64::from_be_bytes(*revision),
        expires_at: (expiry != NEVER).then(|| Timestamp::from_micros(expiry)),
    })
}

fn expiry(stored: &StoredKey) -> i64 {
    stored.expires_at.map_or(NEVER, Timestamp::as_micros)
}

fn stored(
    keys: &impl ReadableTable<&'static str, &'static [u8]>,
    key: &str,
) -> Result<Option<StoredKey>, redb::Error> {
    let found = keys.get(key)?;
    found.map(|bytes| decode(key, bytes.value())).transpose()
}

/// What is to be written.
struct Put {
    key: String,
    value: Vec<u8>,
    expect: Expect,
    expires_at: Option<Timestamp>,
    now: Timestamp,
}

fn put(transaction: &WriteTransaction, put: Put) -> Result<KeyPut, redb::Error> {
    let mut keys = transaction.open_table(KEYS)?;
    let found = stored(&keys, &put.key)?;
    let current = found.clone().filter(|stored| is_alive(stored, put.now));
    if !put.expect.holds(current.as_ref()) {
        return Ok(KeyPut::Conflict { current });
    }
    let mut expiries = transaction.open_table(EXPIRIES)?;
    if let Some(found) = found {
        expiries.remove((expiry(&found), put.key.as_str()))?;
    }
    sweep(&mut keys, &mut expiries, put.now)?;
    let revision = next_revision(transaction)?;
    let new = StoredKey {
        value: put.value,
        revision,
        expires_at: put.expires_at,
    };
    keys.insert(put.key.as_str(), encode(&put.key, &new).as_slice())?;
    if new.expires_at.is_some() {
        expiries.insert((expiry(&new), put.key.as_str()), ())?;
    }
    Ok(KeyPut::Stored { revision })
}

fn next_revision(transaction: &WriteTransaction) -> Result<u64, redb::Error> {
    let mut last = transaction.open_table(REVISION)?;
    let revision = last.get(())?.map_or(0, |revision| revision.value()) + 1;
    last.insert((), revision)?;
    Ok(revision)
}

/// Removes some of the keys that have expired.
fn sweep(
    keys: &mut Table<'_, &'static str, &'static [u8]>,
    expiries: &mut Table<'_, (i64, &'static str), ()>,
    now: Timestamp,
) -> Result<(), redb::Error> {
    let until = now.as_micros().saturating_add(1);
    let mut due = Vec::new();
    for entry in expiries.range(..(until, ""))?.take(SWEPT_MAX) {
        let (found, _) = entry?;
        let (at, key) = found.value();
        due.push((at, key.to_owned()));
    }
    for (at, key) in due {
        expiries.remove((at, key.as_str()))?;
        keys.remove(key.as_str())?;
    }
    Ok(())
}

fn delete(transaction: &WriteTransaction, key: &str, revision: u64) -> Result<bool, redb::Error> {
    let mut keys = transaction.open_table(KEYS)?;
    let Some(found) = stored(&keys, key)?.filter(|found| found.revision == revision) else {
        return Ok(false);
    };
    keys.remove(key)?;
    let mut expiries = transaction.open_table(EXPIRIES)?;
    expiries.remove((expiry(&found), key))?;
    Ok(true)
}

impl Keys for EmbeddedStore {
    fn key<'a>(
        &'a self,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredKey>, JournalError>> {
        let found = self.cold.read(|transaction| {
            let found = stored(&transaction.open_table(KEYS)?, key)?;
            Ok(found.filter(|stored| is_alive(stored, now)))
        });
        Box::pin(std::future::ready(found))
    }

    fn put_key<'a>(
        &'a self,
        key: &'a str,
        value: Vec<u8>,
        expect: Expect,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<KeyPut, JournalError>> {
        Box::pin(async move {
            check_key(key, &value)?;
            let wanted = Put {
                key: key.to_owned(),
                value,
                expect,
                expires_at,
                now,
            };
            let done = self
                .cold
                .change(move |transaction| put(transaction, wanted));
            match done.await {
                Ok(put) => Ok(put),
                Err(Failure::Unknown(_)) => Ok(KeyPut::Unknown),
                Err(Failure::Failed(error)) => Err(error),
            }
        })
    }

    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>> {
        Box::pin(async move {
            let key = key.to_owned();
            let done = self
                .cold
                .change(move |transaction| delete(transaction, &key, revision));
            Ok(done.await?)
        })
    }
}
