//! Keys in memory.

use leasehold_types::{BoxFuture, Timestamp};

use crate::keys::{check_key, is_alive};
use crate::{Expect, JournalError, KeyPut, Keys, MemoryStore, StoredKey, unpoisoned};

impl Keys for MemoryStore {
    fn key<'a>(
        &'a self,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredKey>, JournalError>> {
        let state = unpoisoned(&self.state);
        let found = state.keys.get(key).filter(|stored| is_alive(stored, now));
        super::ready(Ok(found.cloned()))
    }

    fn put_key<'a>(
        &'a self,
        key: &'a str,
        value: Vec<u8>,
        expect: Expect,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<KeyPut, JournalError>> {
        if let Err(error) = check_key(key, &value) {
            return super::ready(Err(error));
        }
        let mut state = unpoisoned(&self.state);
        let current = state.keys.get(key).filter(|stored| is_alive(stored, now));
        if !expect.holds(current) {
            let current = current.cloned();
            return super::ready(Ok(KeyPut::Conflict { current }));
        }
        state.keys.retain(|_, stored| is_alive(stored, now));
        state.revision += 1;
        let revision = state.revision;
        let stored = StoredKey {
            value,
            revision,
            expires_at,
        };
        state.keys.insert(key.to_owned(), stored);
        super::ready(Ok(KeyPut::Stored { revision }))
    }

    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>> {
        let mut state = unpoisoned(&self.state);
        let is_there = state
            .keys
            .get(key)
            .is_some_and(|stored| stored.revision == revision);
        if is_there {
            state.keys.remove(key);
        }
        super::ready(Ok(is_there))
    }
}
