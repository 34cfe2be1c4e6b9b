//! The embedded store with an ear and a trap: frames are noted as they are handed over and acked, and the process may be killed
//! around any change of letters and keys, and while a tree is read.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leasehold_journal::embedded::EmbeddedStore;
use leasehold_journal::{
    AppendDone, AppendOutcome, BlobError, Blobs, Expect, FollowCursor, FollowPage, Inbox, Journal,
    JournalError, KeyPut, Keys, Letter, LetterSeq, Ring, SealedFrame, StoredFrame, StoredKey,
    StoredLetter, Tail, TailRead, TreeHead,
};
use leasehold_types::{BoxFuture, Digest, FrameIndex, Timestamp, TreeId};
use rustix::process::{Signal, getpid, kill_process};

use crate::job::Fault;
use crate::outside::{FrameNote, Outside};

/// The store of a worker.
#[derive(Debug)]
pub(crate) struct Trapped {
    store: EmbeddedStore,
    outside: Arc<Outside>,
    fault: Option<Fault>,
    changes: AtomicU64,
    reads: AtomicU64,
}

impl Trapped {
    pub(crate) fn new(store: EmbeddedStore, outside: &Arc<Outside>, fault: Option<Fault>) -> Self {
        Self {
            store,
            outside: Arc::clone(outside),
            fault,
            changes: AtomicU64::new(0),
            reads: AtomicU64::new(0),
        }
    }

    /// Makes a change of letters, keys or blobs, and kills the process around it where that is planned.
    async fn change<T>(&self, change: BoxFuture<'_, T>) -> T {
        let number = self.changes.fetch_add(1, Ordering::SeqCst) + 1;
        if self.fault == Some(Fault::BeforeChange(number)) {
            die();
        }
        let made = change.await;
        if self.fault == Some(Fault::AfterChange(number)) {
            die();
        }
        made
    }
}

/// Ends this process as `kill -9` does.
fn die() -> ! {
    kill_process(getpid(), Signal::KILL).unwrap();
    loop {
        std::thread::park();
    }
}

impl Journal for Trapped {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        let (tree, index, id) = (
            frame.tree.to_string(),
            frame.index.get(),
            frame.id.to_string(),
        );
        self.outside.note_frame(FrameNote::Sent, &tree, index, &id);
        let outside = Arc::clone(&self.outside);
        let noted = move |outcome: AppendOutcome| {
            if matches!(outcome, AppendOutcome::Acked(_)) {
                outside.note_frame(FrameNote::Acked, &tree, index, &id);
            }
            done(outcome);
        };
        self.store.append(expected, frame, Box::new(noted));
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
        let number = self.reads.fetch_add(1, Ordering::SeqCst) + 1;
        if self.fault == Some(Fault::AtRead(number)) {
            die();
        }
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

impl Inbox for Trapped {
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>> {
        Box::pin(self.change(self.store.put(letter)))
    }

    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>> {
        self.store.letters(tree, after)
    }

    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(self.change(self.store.settle(tree, seq)))
    }

    fn listen(&self, ring: Ring) {
        self.store.listen(ring);
    }
}

impl Keys for Trapped {
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
        Box::pin(self.change(self.store.put_key(key, value, expect, expires_at, now)))
    }

    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>> {
        Box::pin(self.change(self.store.delete_key(key, revision)))
    }
}

impl Blobs for Trapped {
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>> {
        Box::pin(self.change(self.store.put_blob(tree, body)))
    }

    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        self.store.blob(tree, digest)
    }

    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(self.change(self.store.delete_blobs(tree)))
    }
}
