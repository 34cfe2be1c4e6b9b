//! The writer: one thread that takes all queued appends, writes them at once and syncs once, then tells each what became of it.
//!
//! - WRITER-1: nothing is acked, and no reader sees it, before it is synced.
//! - WRITER-2: at most one append is taken on one tail.
//! - WRITER-3: a failed sync is never tried again.
//! - WRITER-4: behind the last record there are only zeros.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use leasehold_types::TreeId;

use super::Shared;
use super::config::EmbeddedConfig;
use super::fault::{FaultPoint, Faults};
use super::keeper::is_full;
use super::queue::Request;
use super::record::{RecordHeader, frame_checksum, record_bytes};
use super::segment::{FIRST_OFFSET, zero};
use super::table::Entry;
use crate::{
    AppendDone, AppendOutcome, FRAME_BYTES_MAX, FrameError, JournalError, Tail, UnknownReason,
    unpoisoned,
};

/// The most bytes of one write: what a disk takes in a few milliseconds, so that the first in a batch does not wait for long.
const WRITE_BYTES_MAX: usize = 4 * 1_024 * 1_024;

/// An append whose record is in the buffer.
struct Staged {
    tree: TreeId,
    entry: Entry,
    done: AppendDone,
    frame_bytes: usize,
}

/// The thread's own things.
pub(super) struct Writer {
    shared: Arc<Shared>,
    faults: Faults,
    /// The segment, and where in it the buffer will go.
    number: u64,
    offset: u64,
    last: u64,
    last_tree: TreeId,
    buffer: Vec<u8>,
    staged: Vec<Staged>,
    staged_trees: BTreeMap<TreeId, u64>,
    refused: Vec<(AppendDone, usize)>,
    /// What must be made zero before the next write: a write failed there.
    dirty: Option<(u64, u64)>,
    /// Why no segment could be had, in this batch.
    full: Option<String>,
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, config: &EmbeddedConfig) -> Self {
        let (end, last, last_tree) = {
            let table = unpoisoned(&shared.table);
            (table.end, table.last, table.last_tree)
        };
        let (number, offset) = shared.log.place(shared.log.next_record(end));
        Self {
            shared,
            faults: Faults::of(config),
            number,
            offset,
            last,
            last_tree,
            buffer: Vec::new(),
            staged: Vec::new(),
            staged_trees: BTreeMap::new(),
            refused: Vec::new(),
            dirty: None,
            full: None,
        }
    }

    /// Works until the queue closes. If it panics, the store is poisoned.
    pub(super) fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let mut requests = Vec::new();
            while shared.queue.take(&mut requests) {
                self.write_all(&mut requests);
            }
        }));
        if ended.is_err() {
            shared.health.fail("its writer panicked");
            shared.refuse_queued();
        }
    }

    fn write_all(&mut self, requests: &mut Vec<Request>) {
        self.full = None;
        for request in requests.drain(..) {
            self.stage(request);
        }
        self.flush();
    }

    /// Decides about one append, and puts it into the buffer if it is to be written.
    fn stage(&mut self, request: Request) {
        let Request {
            expected,
            frame,
            done,
        } = request;
        let bytes = frame.bytes.len();
        let entry = match self.decide(frame.tree, expected, bytes) {
            Ok(Some(entry)) => entry,
            Ok(None) => return self.refused.push((done, bytes)),
            Err(error) => return self.tell(done, bytes, AppendOutcome::Failed(error)),
        };
        let position = self.position();
        let header = RecordHeader {
            frame_bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
            tree: frame.tree,
            index: entry.count,
            previous: entry.tail,
            anchor: entry.anchor,
            log_previous: self.last,
            log_previous_tree: self.last_tree,
            batch_back: u32::try_from(self.buffer.len()).unwrap_or(u32::MAX),
            frame_checksum: frame_checksum(&frame.bytes),
        };
        let codec = &self.shared.log.codec;
        codec.write(position, &header, &frame.bytes, &mut self.buffer);
        (self.last, self.last_tree) = (position, frame.tree);
        self.staged_trees.insert(frame.tree, position);
        self.staged.push(Staged {
            tree: frame.tree,
            entry: entry.after(position),
            done,
            frame_bytes: bytes,
        });
    }

    /// The position of what is put into the buffer next.
    fn position(&self) -> u64 {
        self.number * self.shared.log.segment_bytes + self.offset + self.buffer.len() as u64
    }

    /// The tree's entry if the append may be written, `None` if it found another tail.
    fn decide(
        &mut self,
        tree: TreeId,
        expected: Tail,
        bytes: usize,
    ) -> Result<Option<Entry>, JournalError> {
        self.shared.health.check()?;
        if bytes > FRAME_BYTES_MAX {
            return Err(FrameError::TooLarge { bytes }.into());
        }
        let entry = {
            let table = unpoisoned(&self.shared.table);
            if let Some(error) = table.corrupt.get(&tree) {
                return Err(error.clone().into());
            }
            table.entry(tree)
        };
        let found = self.staged_trees.get(&tree).copied();
        if expected != Tail::at(tree, found.unwrap_or(entry.tail)) || found.is_some() {
            return Ok(None);
        }
        self.make_room(record_bytes(bytes))?;
        Ok(Some(entry))
    }

    fn make_room(&mut self, bytes: usize) -> Result<(), JournalError> {
        if self.buffer.len() + bytes > WRITE_BYTES_MAX {
            self.flush();
        }
        self.shared.health.check()?;
        self.clean()?;
        let segment_bytes = self.shared.log.segment_bytes;
        if self.offset + (self.buffer.len() + bytes) as u64 <= segment_bytes {
            return Ok(());
        }
        if let Some(why) = &self.full {
            return Err(JournalError::StoreFull(why.clone()));
        }
        self.flush();
        self.shared.health.check()?;
        self.roll()
    }

    /// Goes on in the next segment.
    fn roll(&mut self) -> Result<(), JournalError> {
        let next = self.number + 1;
        if self.shared.log.segment(next).is_none() {
            match self.shared.desk.take(next) {
                Ok(file) => self.shared.log.put_segment(next, file),
                Err(error) if is_full(&error) => {
                    self.full = Some(error.to_string());
                    return Err(JournalError::StoreFull(error.to_string()));
                }
                Err(error) => return Err(JournalError::Unavailable(error.to_string())),
            }
        }
        (self.number, self.offset) = (next, FIRST_OFFSET);
        self.shared.desk.segment_is_full();
        Ok(())
    }

    /// Writes and syncs the buffer, publishes what is in it, and tells everybody.
    fn flush(&mut self) {
        if !self.buffer.is_empty() {
            match self.write() {
                Ok(()) => self.publish(),
                Err(Failure::Write(error)) if is_full(&error) => self.give_up_write(&error),
                Err(Failure::Write(error)) => self.poison(&format!("a write failed: {error}")),
                Err(Failure::Sync(error)) => self.poison(&format!("a sync failed: {error}")),
            }
            self.buffer.clear();
            self.staged_trees.clear();
        }
        for (done, bytes) in std::mem::take(&mut self.refused) {
            self.tell(done, bytes, AppendOutcome::Refused);
        }
    }

    fn write(&mut self) -> Result<(), Failure> {
        let count = self.staged.len();
        let file = self
            .shared
            .log
            .segment(self.number)
            .ok_or_else(|| Failure::Write(io::Error::other("the segment is gone")))?;
        self.faults
            .hit(FaultPoint::BeforeWrite, count)
            .and_then(|()| file.write_all_at(&self.buffer, self.offset))
            .map_err(Failure::Write)?;
        self.faults
            .hit(FaultPoint::AfterWrite, count)
            .and_then(|()| file.sync_data())
            .and_then(|()| self.faults.hit(FaultPoint::AfterFsync, count))
            .map_err(Failure::Sync)
    }

    fn publish(&mut self) {
        self.offset += self.buffer.len() as u64;
        let end = self.number * self.shared.log.segment_bytes + self.offset;
        {
            let mut table = unpoisoned(&self.shared.table);
            for staged in &self.staged {
                table.trees.insert(staged.tree, staged.entry);
            }
            (table.end, table.last, table.last_tree) = (end, self.last, self.last_tree);
        }
        self.shared.appended.notify(usize::MAX);
        if self.offset > self.shared.log.segment_bytes / 2
            && self.shared.log.segment(self.number + 1).is_none()
        {
            self.shared.desk.want(self.number + 1);
        }
        for staged in std::mem::take(&mut self.staged) {
            let tail = Tail::at(staged.tree, staged.entry.tail);
            self.tell(staged.done, staged.frame_bytes, AppendOutcome::Acked(tail));
            // The append is over: an error planned here has nothing to fail.
            drop(self.faults.hit(FaultPoint::AfterAck, 1));
        }
    }

    fn tell(&self, done: AppendDone, bytes: usize, outcome: AppendOutcome) {
        self.shared.queue.finished(bytes);
        // A caller's panic is the caller's: the others still wait for their answers.
        drop(catch_unwind(AssertUnwindSafe(|| done(outcome))));
    }

    /// No space under the write: what is there of it must go before anybody is told that it is not there.
    fn give_up_write(&mut self, error: &io::Error) {
        self.dirty = Some((self.offset, self.offset + self.buffer.len() as u64));
        let cleaned = self.clean();
        let table = unpoisoned(&self.shared.table);
        (self.last, self.last_tree) = (table.last, table.last_tree);
        drop(table);
        let outcome = match cleaned {
            Ok(()) => AppendOutcome::Failed(JournalError::StoreFull(error.to_string())),
            Err(_) => AppendOutcome::Unknown(UnknownReason::Disconnected),
        };
        for staged in std::mem::take(&mut self.staged) {
            self.tell(staged.done, staged.frame_bytes, outcome.clone());
        }
    }

    /// Restores WRITER-4 after a write that failed.
    fn clean(&mut self) -> Result<(), JournalError> {
        let Some((from, to)) = self.dirty else {
            return Ok(());
        };
        let Some(file) = self.shared.log.segment(self.number) else {
            return Err(JournalError::Unavailable("the segment is gone".to_owned()));
        };
        zero(&file, from, to).map_err(|error| JournalError::StoreFull(error.to_string()))?;
        if let Err(error) = file.sync_data() {
            self.poison(&format!("a sync failed: {error}"));
            return self.shared.health.check();
        }
        self.dirty = None;
        Ok(())
    }

    /// Ends the store: what was written is unknown, what was not is not there.
    fn poison(&mut self, why: &str) {
        let is_first = self.shared.health.poison(why);
        for staged in std::mem::take(&mut self.staged) {
            let outcome = AppendOutcome::Unknown(UnknownReason::Disconnected);
            self.tell(staged.done, staged.frame_bytes, outcome);
        }
        self.shared.refuse_queued();
        if is_first {
            self.shared.health.tell();
        }
    }
}

enum Failure {
    Write(io::Error),
    Sync(io::Error),
}
