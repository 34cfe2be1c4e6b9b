//! The cases of the `Keys` trait.

use std::sync::Arc;

use futures_util::future::join_all;
use leasehold_types::Timestamp;

use crate::{
    Expect, JournalError, KEY_BYTES_MAX, KEY_VALUE_BYTES_MAX, KeyPut, Keys, Store, StoredKey,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

async fn put(keys: &dyn Keys, key: &str, value: &[u8], expect: Expect) -> KeyPut {
    let put = keys.put_key(key, value.to_vec(), expect, None, at(0)).await;
    put.unwrap()
}

#[track_caller]
fn revision(put: KeyPut) -> u64 {
    match put {
        KeyPut::Stored { revision } => revision,
        KeyPut::Conflict { .. } | KeyPut::Unknown => panic!("not stored: {put:?}"),
    }
}

fn stored(value: &[u8], revision: u64, expires_at: Option<Timestamp>) -> StoredKey {
    StoredKey {
        value: value.to_vec(),
        revision,
        expires_at,
    }
}

/// Case.
pub async fn a_key_is_written_by_compare_and_set(store: Arc<dyn Store>) {
    let key = "cas/a";
    assert_eq!(store.key(key, at(0)).await, Ok(None));
    let nothing = KeyPut::Conflict { current: None };
    assert_eq!(put(&*store, key, b"x", Expect::Revision(1)).await, nothing);
    let first = revision(put(&*store, key, b"1", Expect::Absent).await);
    assert!(first > 0);
    let there = KeyPut::Conflict {
        current: Some(stored(b"1", first, None)),
    };
    assert_eq!(put(&*store, key, b"x", Expect::Absent).await, there);
    let second = revision(put(&*store, key, b"2", Expect::Revision(first)).await);
    assert!(second > first);
    let there = Some(stored(b"2", second, None));
    let refused = put(&*store, key, b"x", Expect::Revision(first)).await;
    assert_eq!(
        refused,
        KeyPut::Conflict {
            current: there.clone()
        }
    );
    assert_eq!(store.key(key, at(0)).await, Ok(there));
    assert_eq!(store.key("cas/ab", at(0)).await, Ok(None));
}

/// Case.
pub async fn of_many_writers_of_an_absent_key_one_wins(store: Arc<dyn Store>) {
    for round in 0..10 {
        let key = format!("race/{round}");
        let writers = (0..16_u8).map(|writer| {
            let (store, key) = (&store, &key);
            async move { put(&**store, key, &[writer], Expect::Absent).await }
        });
        let puts = join_all(writers).await;
        let winners: Vec<_> = (0..16_u8)
            .zip(&puts)
            .filter(|(_, put)| matches!(put, KeyPut::Stored { .. }))
            .collect();
        assert_eq!(winners.len(), 1, "{puts:?}");
        let kept = store.key(&key, at(0)).await.unwrap().unwrap();
        assert_eq!(kept.value, [winners[0].0]);
    }
}

/// Case.
pub async fn a_key_that_has_expired_is_absent_and_its_revision_never_comes_again(
    store: Arc<dyn Store>,
) {
    let key = "expiry/a";
    let until = Some(at(100));
    let write =
        |value: &'static [u8], now| store.put_key(key, value.to_vec(), Expect::Absent, until, now);
    let first = revision(write(b"1", at(0)).await.unwrap());
    let there = Some(stored(b"1", first, until));
    assert_eq!(store.key(key, at(99)).await, Ok(there.clone()));
    assert_eq!(store.key(key, at(100)).await, Ok(None));
    let conflict = KeyPut::Conflict { current: there };
    assert_eq!(write(b"2", at(99)).await, Ok(conflict));
    let expired = store
        .put_key(key, Vec::new(), Expect::Revision(first), None, at(100))
        .await;
    assert_eq!(expired, Ok(KeyPut::Conflict { current: None }));
    let second = store.put_key(key, b"2".to_vec(), Expect::Absent, None, at(100));
    let second = revision(second.await.unwrap());
    assert!(second > first);
    let there = Some(stored(b"2", second, None));
    assert_eq!(store.key(key, at(1_000_000)).await, Ok(there));
}

/// Case.
pub async fn a_key_is_deleted_only_at_its_revision(store: Arc<dyn Store>) {
    let key = "delete/a";
    assert_eq!(store.delete_key(key, 1).await, Ok(false));
    let first = revision(put(&*store, key, b"1", Expect::Absent).await);
    let second = revision(put(&*store, key, b"2", Expect::Revision(first)).await);
    assert_eq!(store.delete_key(key, first).await, Ok(false));
    assert!(store.key(key, at(0)).await.unwrap().is_some());
    assert_eq!(store.delete_key(key, second).await, Ok(true));
    assert_eq!(store.delete_key(key, second).await, Ok(false));
    assert_eq!(store.key(key, at(0)).await, Ok(None));
    let third = revision(put(&*store, key, b"3", Expect::Absent).await);
    assert!(third > second, "a revision never comes again");
}

/// Case.
pub async fn a_key_or_value_over_the_limit_is_refused(store: Arc<dyn Store>) {
    let long = "k".repeat(KEY_BYTES_MAX + 1);
    let large = vec![1; KEY_VALUE_BYTES_MAX + 1];
    for (key, value) in [(long.as_str(), Vec::new()), ("limit/a", large)] {
        let put = store.put_key(key, value, Expect::Absent, None, at(0)).await;
        assert!(matches!(put, Err(JournalError::TooLarge { .. })));
        assert_eq!(store.key(key, at(0)).await, Ok(None));
    }
    let value = vec![1; KEY_VALUE_BYTES_MAX];
    let written = put(&*store, &long[1..], &value, Expect::Absent).await;
    let kept = store.key(&long[1..], at(0)).await.unwrap().unwrap();
    assert_eq!(kept, stored(&value, revision(written), None));
}
