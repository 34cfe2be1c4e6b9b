//! A store that tells when nobody uses it any more: when the last actor that could write to it is gone.

use leasehold_journal::{
    AppendDone, BlobError, Blobs, Expect, FollowCursor, FollowPage, Inbox, Journal, JournalError,
    KeyPut, Keys, Letter, LetterSeq, Ring, SealedFrame, Store, StoredFrame, StoredKey,
    StoredLetter, Tail, TailRead, TreeHead,
};
use std::sync::Arc;

use leasehold_types::{BoxFuture, Digest, FrameIndex, Timestamp, TreeId};
use tokio::sync::oneshot;

/// Passes everything on to its store.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Dropped first: fields are dropped in their order.
    store: Arc<dyn Store>,
    /// Dropped after the store, which ends the receiver's wait.
    _closed: oneshot::Sender<()>,
}

impl Watched {
    /// The store, and what ends once nobody uses it through this.
    pub(crate) fn new(store: Arc<dyn Store>) -> (Self, oneshot::Receiver<()>) {
        let (sender, closed) = oneshot::channel();
        let watched = Self {
            store,
            _closed: sender,
        };
        (watched, closed)
    }
}

impl Journal for Watched {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        self.store.append(expected, frame, done);
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

impl Inbox for Watched {
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
        self.store.settle(tree, seq)
    }
    fn listen(&self, ring: Ring) {
        self.store.listen(ring);
    }
}

impl Keys for Watched {
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

impl Blobs for Watched {
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
