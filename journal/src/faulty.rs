//! A store whose appends go wrong by plan: acks that get lost, frames that land late, own writes that come back as refused.
//!
//! - FAULTY-1: it never breaks the seam's contract: every outcome it reports is one a backend may report in that state.
//!
//! It keeps no time: what is late is late by a count of reads. Everything but appends and tails goes straight through.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use leasehold_types::{BoxFuture, Digest, FrameIndex, Timestamp, TreeId};

use crate::{
    AppendDone, AppendOutcome, BlobError, Blobs, Expect, FollowCursor, FollowPage, Inbox, Journal,
    JournalError, KeyPut, Keys, Letter, LetterSeq, Ring, SealedFrame, Store, StoredFrame,
    StoredKey, StoredLetter, Tail, TailRead, TreeHead, UnknownReason, append, unpoisoned,
};

/// What goes wrong with one append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendFault {
    /// It lands; the ack gets lost: unknown.
    AckLost,
    /// It does not land: unknown.
    Lost,
    /// Unknown now; it is tried once the tree's tail has been read this many times.
    LandsLate {
        /// Reads of the tail until then, the one that finds it included; at least 1.
        reads: u32,
    },
    /// It lands at the first attempt; the second one is refused, and that is what is reported.
    OwnWriteRefused,
    /// It does not land: an earlier append is still undecided.
    Undecided,
    /// It does not land and never will: the store does not answer.
    Failed,
}

/// Which appends go wrong.
#[derive(Debug, Clone, Default)]
pub struct AppendFaults {
    planned: BTreeMap<u64, AppendFault>,
    chance: Option<(u64, u64)>,
    appends: u64,
}

impl AppendFaults {
    /// None.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// These, by the number of the append at the wrapper, from 1.
    #[must_use]
    pub fn at(planned: impl IntoIterator<Item = (u64, AppendFault)>) -> Self {
        Self {
            planned: planned.into_iter().collect(),
            ..Self::default()
        }
    }

    /// About one in `one_in` (at least 1), of every kind, the same ones for the same seed.
    #[must_use]
    pub fn seeded(seed: u64, one_in: u64) -> Self {
        Self {
            chance: Some((seed, one_in.max(1))),
            ..Self::default()
        }
    }

    fn next(&mut self) -> Option<AppendFault> {
        self.appends += 1;
        let by_chance = self.chance.and_then(|(seed, one_in)| {
            let drawn = mix(seed ^ mix(self.appends));
            drawn.is_multiple_of(one_in).then(|| kind(mix(drawn)))
        });
        self.planned.get(&self.appends).copied().or(by_chance)
    }
}

fn kind(drawn: u64) -> AppendFault {
    match drawn % 6 {
        0 => AppendFault::AckLost,
        1 => AppendFault::Lost,
        2 => AppendFault::LandsLate {
            reads: u32::try_from(drawn / 6 % 3).unwrap_or(0) + 1,
        },
        3 => AppendFault::OwnWriteRefused,
        4 => AppendFault::Undecided,
        _ => AppendFault::Failed,
    }
}

/// The finalizer of splitmix64. Source: Steele, Lea & Flood, "Fast splittable pseudorandom number generators" (2014).
pub(crate) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Another store, with faults.
#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    faults: Mutex<AppendFaults>,
    late: Mutex<Vec<Late>>,
}

#[derive(Debug)]
struct Late {
    reads_left: u32,
    expected: Tail,
    frame: SealedFrame,
}

impl FaultyStore {
    /// Wraps a store.
    #[must_use]
    pub fn new(inner: Arc<dyn Store>, faults: AppendFaults) -> Self {
        Self {
            inner,
            faults: Mutex::new(faults),
            late: Mutex::default(),
        }
    }

    /// Replaces the plan; appends are counted from 1 again.
    pub fn set_faults(&self, faults: AppendFaults) {
        *unpoisoned(&self.faults) = faults;
    }

    /// Tries everything that is late, now.
    pub async fn land_all(&self) {
        let due = std::mem::take(&mut *unpoisoned(&self.late));
        self.land(due).await;
    }

    async fn land(&self, due: Vec<Late>) {
        for late in due {
            // Nobody waits for this outcome: that is the fault.
            drop(append(&*self.inner, late.expected, late.frame).await);
        }
    }

    fn take_due(&self, tree: TreeId) -> Vec<Late> {
        let mut late = unpoisoned(&self.late);
        for waiting in late.iter_mut().filter(|late| late.frame.tree == tree) {
            waiting.reads_left = waiting.reads_left.saturating_sub(1);
        }
        let (due, rest) = std::mem::take(&mut *late)
            .into_iter()
            .partition(|late| late.reads_left == 0);
        *late = rest;
        due
    }
}

impl Journal for FaultyStore {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        let fault = unpoisoned(&self.faults).next();
        let unknown = AppendOutcome::Unknown(UnknownReason::TimedOut);
        match fault {
            None => self.inner.append(expected, frame, done),
            Some(AppendFault::AckLost) => {
                self.inner.append(
                    expected,
                    frame,
                    Box::new(move |_| done(AppendOutcome::Unknown(UnknownReason::Disconnected))),
                );
            }
            Some(AppendFault::OwnWriteRefused) => {
                let refuse = move |outcome| match outcome {
                    AppendOutcome::Acked(_) | AppendOutcome::Refused => {
                        done(AppendOutcome::Refused);
                    }
                    AppendOutcome::Unknown(_) | AppendOutcome::Failed(_) => done(outcome),
                };
                self.inner.append(expected, frame, Box::new(refuse));
            }
            Some(AppendFault::LandsLate { reads }) => {
                unpoisoned(&self.late).push(Late {
                    reads_left: reads.max(1),
                    expected,
                    frame,
                });
                done(unknown);
            }
            Some(AppendFault::Lost) => done(unknown),
            Some(AppendFault::Undecided) => done(AppendOutcome::Unknown(UnknownReason::Undecided)),
            Some(AppendFault::Failed) => done(AppendOutcome::Failed(JournalError::Unavailable(
                "by plan".to_owned(),
            ))),
        }
    }

    fn tail(&self, tree: TreeId) -> BoxFuture<'_, Result<TailRead, JournalError>> {
        Box::pin(async move {
            self.land(self.take_due(tree)).await;
            self.inner.tail(tree).await
        })
    }

    fn read(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> BoxFuture<'_, Result<Vec<StoredFrame>, JournalError>> {
        self.inner.read(tree, from, bytes_max)
    }

    fn scan(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TreeHead>, JournalError>> {
        self.inner.scan(after, limit)
    }

    fn follow(&self, cursor: FollowCursor) -> BoxFuture<'_, Result<FollowPage, JournalError>> {
        self.inner.follow(cursor)
    }
}

impl Inbox for FaultyStore {
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>> {
        self.inner.put(letter)
    }

    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>> {
        self.inner.letters(tree, after)
    }

    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>> {
        self.inner.settle(tree, seq)
    }

    fn listen(&self, ring: Ring) {
        self.inner.listen(ring);
    }
}

impl Keys for FaultyStore {
    fn key<'a>(
        &'a self,
        key: &'a str,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<Option<StoredKey>, JournalError>> {
        self.inner.key(key, now)
    }

    fn put_key<'a>(
        &'a self,
        key: &'a str,
        value: Vec<u8>,
        expect: Expect,
        expires_at: Option<Timestamp>,
        now: Timestamp,
    ) -> BoxFuture<'a, Result<KeyPut, JournalError>> {
        self.inner.put_key(key, value, expect, expires_at, now)
    }

    fn delete_key<'a>(
        &'a self,
        key: &'a str,
        revision: u64,
    ) -> BoxFuture<'a, Result<bool, JournalError>> {
        self.inner.delete_key(key, revision)
    }
}

impl Blobs for FaultyStore {
    fn put_blob(&self, tree: TreeId, body: Vec<u8>) -> BoxFuture<'_, Result<Digest, JournalError>> {
        self.inner.put_blob(tree, body)
    }

    fn blob(&self, tree: TreeId, digest: Digest) -> BoxFuture<'_, Result<Vec<u8>, BlobError>> {
        self.inner.blob(tree, digest)
    }

    fn delete_blobs(&self, tree: TreeId) -> BoxFuture<'_, Result<(), JournalError>> {
        self.inner.delete_blobs(tree)
    }
}
