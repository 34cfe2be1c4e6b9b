//! The store in memory: the reference for what every backend does, for tests and simulation. Nothing survives the process.
//!
//! - MEM-1: an append is decided and visible before `append` returns.
//!
//! It needs no runtime, starts no thread and never waits, except in `follow`.

mod blobs;
mod inbox;
mod keys;

use std::collections::BTreeMap;
use std::sync::Mutex;

use event_listener::Event;
use leasehold_types::{BoxFuture, Digest, FrameIndex, TreeId};

use crate::{
    AppendDone, AppendOutcome, FollowCursor, FollowPage, Journal, JournalError, Ring, SealedFrame,
    StoredFrame, StoredKey, Tail, TailRead, TreeHead, unpoisoned,
};

/// The most heads in one page of `follow`.
const FOLLOW_HEADS_MAX: usize = 1_024;

/// The four traits over maps in memory.
#[derive(Default)]
pub struct MemoryStore {
    state: Mutex<State>,
    ring: Mutex<Option<Ring>>,
    appended: Event,
}

#[derive(Default)]
struct State {
    trees: BTreeMap<TreeId, Tree>,
    /// Each tree by the position of its last frame: what `follow` reads.
    latest: BTreeMap<u64, TreeId>,
    /// The position given last. Positions count from 1.
    position: u64,
    inboxes: BTreeMap<TreeId, inbox::TreeInbox>,
    keys: BTreeMap<String, StoredKey>,
    revision: u64,
    blobs: BTreeMap<(TreeId, Digest), Vec<u8>>,
}

#[derive(Default)]
struct Tree {
    position: u64,
    frames: Vec<StoredFrame>,
}

impl MemoryStore {
    /// A store that holds nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn decide(&self, expected: Tail, frame: SealedFrame) -> AppendOutcome {
        let mut state = unpoisoned(&self.state);
        let found = state.trees.get(&frame.tree).map_or(0, |tree| tree.position);
        if expected != Tail::at(frame.tree, found) {
            return AppendOutcome::Refused;
        }
        state.position += 1;
        let position = state.position;
        state.latest.remove(&found);
        state.latest.insert(position, frame.tree);
        let tree = state.trees.entry(frame.tree).or_default();
        tree.position = position;
        tree.frames.push(StoredFrame { bytes: frame.bytes });
        AppendOutcome::Acked(Tail::at(frame.tree, position))
    }

    fn page_after(&self, cursor: FollowCursor) -> Result<Option<FollowPage>, JournalError> {
        let state = unpoisoned(&self.state);
        let mut page = FollowPage {
            heads: Vec::new(),
            next: cursor,
        };
        for (position, tree) in state.latest.range(cursor.0..).take(FOLLOW_HEADS_MAX) {
            page.heads.extend(state.head(*tree)?);
            page.next = FollowCursor(position + 1);
        }
        Ok((!page.heads.is_empty()).then_some(page))
    }

    fn page(&self, tree: TreeId, from: FrameIndex, bytes_max: usize) -> Vec<StoredFrame> {
        let state = unpoisoned(&self.state);
        let skipped = usize::try_from(from.get()).unwrap_or(usize::MAX);
        let frames = state.trees.get(&tree).map(|tree| tree.frames.as_slice());
        let mut bytes = 0;
        frames
            .and_then(|frames| frames.get(skipped..))
            .unwrap_or_default()
            .iter()
            .take_while(|frame| {
                let is_first = bytes == 0;
                bytes += frame.bytes.len();
                is_first || bytes <= bytes_max
            })
            .cloned()
            .collect()
    }
}

impl State {
    fn head(&self, tree: TreeId) -> Result<Option<TreeHead>, JournalError> {
        let last = self.trees.get(&tree).and_then(|tree| tree.frames.last());
        last.map(StoredFrame::head).transpose()
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = unpoisoned(&self.state);
        f.debug_struct("MemoryStore")
            .field("trees", &state.trees.len())
            .field("position", &state.position)
            .finish_non_exhaustive()
    }
}

impl Journal for MemoryStore {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        let outcome = self.decide(expected, frame);
        self.appended.notify(usize::MAX);
        done(outcome);
    }

    fn tail(&self, tree: TreeId) -> BoxFuture<'_, Result<TailRead, JournalError>> {
        let state = unpoisoned(&self.state);
        let found = state.trees.get(&tree);
        let read = TailRead {
            tail: Tail::at(tree, found.map_or(0, |tree| tree.position)),
            last: found.and_then(|tree| tree.frames.last().cloned()),
        };
        ready(Ok(read))
    }

    fn read(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> BoxFuture<'_, Result<Vec<StoredFrame>, JournalError>> {
        ready(Ok(self.page(tree, from, bytes_max)))
    }

    fn scan(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TreeHead>, JournalError>> {
        let state = unpoisoned(&self.state);
        let trees = state
            .trees
            .keys()
            .filter(|tree| after.is_none_or(|after| **tree > after));
        let heads = trees
            .take(limit)
            .filter_map(|tree| state.head(*tree).transpose())
            .collect();
        ready(heads)
    }

    fn follow(&self, cursor: FollowCursor) -> BoxFuture<'_, Result<FollowPage, JournalError>> {
        Box::pin(async move {
            if cursor == FollowCursor::default() {
                let next = FollowCursor(unpoisoned(&self.state).position + 1);
                let heads = Vec::new();
                return Ok(FollowPage { heads, next });
            }
            loop {
                // Listen first, look second: an append between the two wakes the listener.
                let listener = self.appended.listen();
                if let Some(page) = self.page_after(cursor)? {
                    return Ok(page);
                }
                listener.await;
            }
        })
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> BoxFuture<'a, T> {
    Box::pin(std::future::ready(value))
}
