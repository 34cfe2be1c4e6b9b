//! A store that fails where a test says so, and tells of each frame before it is appended.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use leasehold_actors::load;
use leasehold_execution::record::{ClaimCause, Claimed};
use leasehold_execution::{Entry, Record, write_entries};
use leasehold_journal::{
    AppendDone, AppendOutcome, BlobError, Blobs, Expect, FollowCursor, FollowPage, Inbox, Journal,
    JournalError, KeyPut, Keys, Letter, LetterSeq, MemoryStore, Ring, SealedFrame, Store,
    StoredFrame, StoredKey, StoredLetter, Tail, TailRead, TreeHead, Writer,
};
use leasehold_types::{
    BootId, BoxFuture, Digest, FrameIndex, InstanceId, Random, Timestamp, TreeId,
};

type Before = Box<dyn FnMut(&SealedFrame) + Send>;

/// Over a store in memory.
pub(crate) struct TestStore {
    pub(crate) memory: Arc<MemoryStore>,
    /// Nothing more can be appended.
    pub(crate) full: AtomicBool,
    /// No blob can be stored.
    pub(crate) blobs_full: AtomicBool,
    /// So many reads of an inbox fail.
    pub(crate) letters_fail: AtomicU32,
    /// So many settlings fail.
    pub(crate) settles_fail: AtomicU32,
    /// So many tries to settle were made.
    pub(crate) settles: AtomicU32,
    /// The largest frame.
    pub(crate) largest: AtomicUsize,
    before: Mutex<Option<Before>>,
}

impl std::fmt::Debug for TestStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TestStore").finish_non_exhaustive()
    }
}

impl TestStore {
    pub(crate) fn new() -> Self {
        Self {
            memory: Arc::new(MemoryStore::new()),
            full: AtomicBool::new(false),
            blobs_full: AtomicBool::new(false),
            letters_fail: AtomicU32::new(0),
            settles_fail: AtomicU32::new(0),
            settles: AtomicU32::new(0),
            largest: AtomicUsize::new(0),
            before: Mutex::new(None),
        }
    }

    /// Has `before` called with each frame before it is appended.
    pub(crate) fn before_append(&self, before: impl FnMut(&SealedFrame) + Send + 'static) {
        *self.before.lock().unwrap() = Some(Box::new(before));
    }
}

fn full() -> JournalError {
    JournalError::StoreFull("by plan".to_owned())
}

/// Whether one more of `left` fails.
fn takes_one(left: &AtomicU32) -> bool {
    let one_less = |count: u32| count.checked_sub(1);
    left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
        .is_ok()
}

fn failed<'a, T: Send + 'a>() -> BoxFuture<'a, Result<T, JournalError>> {
    let error = JournalError::Unavailable("by plan".to_owned());
    Box::pin(std::future::ready(Err(error)))
}

impl Journal for TestStore {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        self.largest.fetch_max(frame.bytes.len(), Ordering::SeqCst);
        if self.full.load(Ordering::SeqCst) {
            return done(AppendOutcome::Failed(full()));
        }
        let before = self.before.lock().unwrap().take();
        if let Some(mut before) = before {
            before(&frame);
            self.before.lock().unwrap().get_or_insert(before);
        }
        self.memory.append(expected, frame, done);
    }
    fn tail(&self, tree: TreeId) -> BoxFuture<'_, Result<TailRead, JournalError>> {
        self.memory.tail(tree)
    }
    fn read(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> BoxFuture<'_, Result<Vec<StoredFrame>, JournalError>> {
        self.memory.read(tree, from, bytes_max)
    }
    fn scan(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TreeHead>, JournalError>> {
        self.memory.scan(after, limit)
    }
    fn follow(&self, cursor: FollowCursor) -> BoxFuture<'_, Result<FollowPage, JournalError>> {
        self.memory.follow(cursor)
    }
}

impl Inbox for TestStore {
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>> {
        self.memory.put(letter)
    }
    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>> {
        if takes_one(&self.letters_fail) {
            return failed();
        }
        self.memory.letters(tree, after)
    }
    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>> {
        self.settles.fetch_add(1, Ordering::SeqCst);
        if takes_one(&self.settles_fail) {
            return failed();
        }
        self.memory.settle(tree, seq)
    }
    fn listen(&self, ring: Ring) {
        self.memory.listen(ring);
    }
}

impl Keys for TestStore {
    fn key<'a>(
        &'a self,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredKey>, JournalError>> {
        self.memory.key(key, now)
    }
    fn put_key<'a>(
        &'a self,
        key: &'a str,
        value: Vec<u8>,
        expect: Expect,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<KeyPut, JournalError>> {
        self.memory.put_key(key, value, expect, expires_at, now)
    }
    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>> {
        self.memory.delete_key(key, revision)
    }
}

impl Blobs for TestStore {
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>> {
        if self.blobs_full.load(Ordering::SeqCst) {
            return Box::pin(std::future::ready(Err(full())));
        }
        self.memory.put_blob(tree, body)
    }
    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        self.memory.blob(tree, digest)
    }
    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>> {
        self.memory.delete_blobs(tree)
    }
}

/// Claims a tree as another instance would that knows nothing of any lease: the next epoch, at once.
pub(crate) fn foreign_claim(store: &dyn Store, tree: TreeId, random: &dyn Random) {
    let loaded = load(store, tree).now_or_never().unwrap().unwrap();
    let last = loaded.last.unwrap();
    let mut writer = Writer::claiming(&last, loaded.tail, random);
    let entry = Entry {
        execution: 0,
        at: Timestamp::from_millis(0),
        record: Record::Claimed(Claimed {
            epoch: writer.token().epoch,
            instance: InstanceId::new("elsewhere"),
            boot: BootId::from_u128(99),
            cause: ClaimCause::Takeover,
            lease_revision: None,
            alone: false,
        }),
    };
    let body = write_entries(&[entry]).unwrap();
    let sealed = writer.seal(last.header.summary, &body).unwrap();
    let appended = leasehold_journal::append(store, writer.tail(), sealed);
    let appended = appended.now_or_never().unwrap();
    assert!(matches!(appended, AppendOutcome::Acked(_)), "{appended:?}");
}
