//! Letters, keys and blobs across starts, kills and damage.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use leasehold_journal::contract::block_on;
use leasehold_journal::embedded::{EmbeddedStore, StoreOpenError};
use leasehold_journal::{
    Blobs, Expect, Inbox, JournalError, KeyPut, Keys, Letter, LetterId, LetterSeq,
};
use leasehold_types::{Digest, Timestamp};
use support::{Acks, acked, child_job, config, open, run_child, tree, try_open, was_killed};

fn letter(id: u128) -> Letter {
    Letter {
        id: LetterId(id),
        tree: tree(0),
        body: format!("the body of letter {id}").into_bytes(),
    }
}

fn put_key(store: &EmbeddedStore, key: &str, value: &[u8]) -> KeyPut {
    let now = Timestamp::default();
    let put = store.put_key(key, value.to_vec(), Expect::Absent, None, now);
    block_on(put).unwrap()
}

fn waiting(store: &EmbeddedStore) -> Result<Vec<u128>, JournalError> {
    let letters = block_on(store.letters(tree(0), LetterSeq::default()))?;
    Ok(letters
        .into_iter()
        .map(|stored| stored.letter.id.0)
        .collect())
}

#[test]
fn letters_keys_and_blobs_outlive_the_process_that_stored_them() {
    const NAME: &str = "letters_keys_and_blobs_outlive_the_process_that_stored_them";
    if let Some((directory, _)) = child_job() {
        let store = open(&directory).store;
        let acks = Acks::in_directory(&directory);
        for number in 1..=20_u64 {
            block_on(store.put(letter(u128::from(number)))).unwrap();
            put_key(&store, &format!("key/{number}"), b"value");
            let body = number.to_string().into_bytes();
            block_on(store.put_blob(tree(0), body)).unwrap();
            if number % 5 == 0 {
                block_on(store.settle(tree(0), LetterSeq(number))).unwrap();
            }
            acks.note(0, &number.to_string());
        }
        rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
            .unwrap();
    }
    let directory = tempfile::tempdir().unwrap();
    assert!(was_killed(run_child(NAME, directory.path(), "put")));
    assert_eq!(acked(directory.path())[&0].len(), 20);
    let store = open(directory.path()).store;
    let expected: Vec<u128> = (1..=20).filter(|id| id % 5 != 0).collect();
    assert_eq!(waiting(&store), Ok(expected));
    let again = block_on(store.put(letter(5)));
    assert_eq!(again, Ok(LetterSeq(5)), "a settled letter's id is kept");
    for number in 1..=20_u64 {
        let key = format!("key/{number}");
        let now = Timestamp::default();
        let stored = block_on(store.key(&key, now)).unwrap().unwrap();
        assert_eq!(stored.value, b"value");
        assert!(matches!(
            put_key(&store, &key, b"x"),
            KeyPut::Conflict { .. }
        ));
        let body = number.to_string().into_bytes();
        let blob = block_on(store.blob(tree(0), Digest::of(&body)));
        assert_eq!(blob, Ok(body));
    }
    let KeyPut::Stored { revision } = put_key(&store, "new", b"x") else {
        panic!("not stored");
    };
    assert!(revision > 20, "a revision never comes again: {revision}");
}

// BAD INPUT 70
#[test]
fn a_changed_letter_or_blob_is_noticed_and_never_given_out() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path()).store;
    block_on(store.put(letter(1))).unwrap();
    let body = b"the body of a blob".to_vec();
    let digest = block_on(store.put_blob(tree(0), body.clone())).unwrap();
    store.close();
    let path = directory.path().join("store/cold.redb");
    let mut bytes = std::fs::read(&path).unwrap();
    let mut changed = 0;
    for text in [b"the body of letter".as_slice(), &body] {
        for at in 0..bytes.len() - text.len() {
            if bytes[at..].starts_with(text) {
                bytes[at + 1] ^= 1;
                changed += 1;
            }
        }
    }
    assert!(changed >= 2);
    std::fs::write(&path, bytes).unwrap();
    let store = match try_open(&config(directory.path())) {
        Ok(opened) => opened.store,
        Err(StoreOpenError::Damaged(_)) => return,
        Err(error) => panic!("{error}"),
    };
    let letters = waiting(&store);
    assert!(
        matches!(letters, Err(JournalError::Damaged(_))),
        "{letters:?}"
    );
    assert!(block_on(store.blob(tree(0), digest)).is_err());
}
