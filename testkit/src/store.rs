//! The store of a test: in memory, kept over crashes, and with a pulse that beats for each change.
//!
//! It decides nothing: every call goes through as it is.

use std::sync::Arc;

use leasehold_journal::{
    AppendDone, BlobError, Blobs, Expect, FollowCursor, FollowPage, Inbox, Journal, JournalError,
    KeyPut, Keys, Letter, LetterSeq, MemoryStore, Ring, SealedFrame, StoredFrame, StoredKey,
    StoredLetter, Tail, TailRead, TreeHead,
};
use leasehold_types::{BoxFuture, Digest, FrameIndex, Timestamp, TreeId};

use crate::pulse::Pulse;

/// A store that says when something changed.
#[derive(Debug)]
pub(crate) struct BeatingStore {
    store: MemoryStore,
    pulse: Arc<Pulse>,
}

impl BeatingStore {
    pub(crate) fn new(pulse: Arc<Pulse>) -> Self {
        Self {
            store: MemoryStore::new(),
            pulse,
        }
    }
}

impl Journal for BeatingStore {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        let pulse = Arc::clone(&self.pulse);
        let beating = move |outcome| {
            pulse.beat();
            done(outcome);
        };
        self.store.append(expected, frame, Box::new(beating));
    }

    fn tail(&self, tree: TreeId) -> BoxFuture<'_, Result<TailRead, JournalError>> {
        self.store.tail(tree)
    }

    fn read(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> BoxFuture<'_, Result<Vec<StoredFrame>, JournalError>> {
        self.store.read(tree, from, bytes_max)
    }

    fn scan(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TreeHead>, JournalError>> {
        self.store.scan(after, limit)
    }

    fn follow(&self, cursor: FollowCursor) -> BoxFuture<'_, Result<FollowPage, JournalError>> {
        self.store.follow(cursor)
    }
}

impl Inbox for BeatingStore {
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>> {
        self.store.put(letter)
    }

    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>> {
        self.store.letters(tree, after)
    }

    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let settled = self.store.settle(tree, seq).await;
            self.pulse.beat();
            settled
        })
    }

    fn listen(&self, ring: Ring) {
        self.store.listen(ring);
    }
}

impl Keys for BeatingStore {
    fn key<'a>(
        &'a self,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredKey>, JournalError>> {
        self.store.key(key, now)
    }

    fn put_key<'a>(
        &'a self,
        key: &'a str,
        value: Vec<u8>,
        expect: Expect,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<KeyPut, JournalError>> {
        self.store.put_key(key, value, expect, expires_at, now)
    }

    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>> {
        self.store.delete_key(key, revision)
    }
}

impl Blobs for BeatingStore {
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>> {
        self.store.put_blob(tree, body)
    }

    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        self.store.blob(tree, digest)
    }

    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>> {
        self.store.delete_blobs(tree)
    }
}
