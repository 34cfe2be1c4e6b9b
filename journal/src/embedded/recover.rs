//! What is left in the log after whatever happened, from the saved table's end on.
//!
//! - RECOVER-1: only a write that was never acked is dropped: the last one, and only if it looks cut short.
//! - RECOVER-2: anything else that is missing makes its tree corrupt; where it cannot be said whose it was, every tree that
//!   might have lost it is corrupt.
//! - RECOVER-3: nothing is given out that was not written.
//!
//! A write is synced before the next one begins, so whatever lies before a later write was acked. In the last write, bytes
//! that are there but wrong are damage, bytes that are zero are missing: see `record::is_torn`.

use leasehold_types::TreeId;

use super::config::StoreWarning;
use super::log::Log;
use super::record::{HEADER_BYTES, RecordHeader, is_torn};
use super::segment::FIRST_OFFSET;
use super::table::Table;
use crate::JournalError;

const ALIGNMENT: usize = 8;
/// Stands for the tree of a record of which nothing is known.
const NOBODY: TreeId = TreeId::from_u128(0);
const LOST: &str = "a frame that was written is damaged or missing";
const MAYBE_LOST: &str = "the log was damaged after its last frame: more may be missing";

/// What recovery found.
#[derive(Debug)]
pub(super) struct Recovery {
    pub(super) table: Table,
    pub(super) warnings: Vec<StoreWarning>,
    /// What must be zeros before the next write: from the log's end to here.
    pub(super) dirty_until: u64,
    /// Bytes that are no record, whose meaning the next record will tell.
    gap: Option<Gap>,
    /// The last place where it cannot be said whose records are lost.
    unknown: Option<u64>,
}

#[derive(Debug)]
struct Gap {
    from: u64,
    /// The header that stood there, if one changed byte explains what does.
    meant: Option<RecordHeader>,
}

/// Reads the log from the table's end on.
pub(super) fn recover(log: &Log, table: Table) -> Result<Recovery, JournalError> {
    let (first, _) = log.place(table.end);
    let mut recovery = Recovery {
        dirty_until: table.end,
        table,
        warnings: Vec::new(),
        gap: None,
        unknown: None,
    };
    let Some(last) = last_used(log, first)? else {
        return Ok(recovery);
    };
    for number in first..=last {
        let segment = Segment::read(log, number, number == last)?;
        segment.replay(&mut recovery);
    }
    recovery.close_last_gap();
    recovery.blame_all_before_unknown();
    Ok(recovery)
}

/// The last segment, from `first` on, that holds anything behind its first page.
fn last_used(log: &Log, first: u64) -> Result<Option<u64>, JournalError> {
    for number in (first..log.segment_count()).rev() {
        let bytes = log.bytes(number * log.segment_bytes, usize::MAX)?;
        let used = used_bytes(&bytes);
        if used as u64 > FIRST_OFFSET {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// Bytes up to the last one that is not zero.
fn used_bytes(bytes: &[u8]) -> usize {
    const PAGE: [u8; 4_096] = [0; 4_096];
    let mut end = bytes.len();
    while end >= PAGE.len() && bytes[end - PAGE.len()..end] == PAGE {
        end -= PAGE.len();
    }
    let last = bytes[..end].iter().rposition(|byte| *byte != 0);
    last.map_or(0, |last| last + 1)
}

/// One segment in memory.
struct Segment<'a> {
    log: &'a Log,
    start: u64,
    bytes: Vec<u8>,
    used: usize,
    /// Where the last write that can be seen in it begins, if it is the last segment.
    last_batch: Option<usize>,
}

impl<'a> Segment<'a> {
    fn read(log: &'a Log, number: u64, is_last: bool) -> Result<Self, JournalError> {
        let start = number * log.segment_bytes;
        let bytes = log.bytes(start, usize::MAX)?;
        let used = used_bytes(&bytes);
        let mut segment = Self {
            log,
            start,
            bytes,
            used,
            last_batch: None,
        };
        if is_last {
            segment.last_batch = Some(segment.find_last_batch());
        }
        Ok(segment)
    }

    fn header(&self, offset: usize) -> Option<RecordHeader> {
        let bytes = self.bytes.get(offset..)?;
        let header = self.log.codec.header(self.start + offset as u64, bytes)?;
        let end = offset as u64 + header.record_bytes() as u64;
        (end <= self.log.segment_bytes).then_some(header)
    }

    fn next_header(&self, from: usize) -> Option<usize> {
        (from..self.used)
            .step_by(ALIGNMENT)
            .find(|offset| self.header(*offset).is_some())
    }

    fn find_last_batch(&self) -> usize {
        let first = usize::try_from(FIRST_OFFSET).unwrap_or(0);
        let mut batch = first;
        let mut offset = self.next_header(first);
        while let Some(at) = offset {
            let Some(header) = self.header(at) else { break };
            batch = at.saturating_sub(usize::try_from(header.batch_back).unwrap_or(0));
            let next = at + header.record_bytes();
            offset = match self.header(next) {
                Some(_) => Some(next),
                None => self.next_header(next),
            };
        }
        batch
    }

    /// Whether what is wrong at `offset` can be a write that nobody was told of.
    fn is_unacked(&self, offset: usize, header: Option<&RecordHeader>) -> bool {
        let is_last_write = self.last_batch.is_some_and(|batch| batch <= offset);
        let bytes = self.bytes.get(offset..).unwrap_or_default();
        is_last_write && is_torn(offset, bytes, header)
    }

    fn replay(&self, recovery: &mut Recovery) {
        let from = recovery.table.end.max(self.start + FIRST_OFFSET);
        let mut offset = usize::try_from(from - self.start).unwrap_or(usize::MAX);
        while offset < self.used {
            let position = self.start + offset as u64;
            let header = self.header(offset);
            let record = header.map_or(HEADER_BYTES, |header| header.record_bytes());
            let bytes = self.bytes.get(offset..offset + record);
            let is_whole = header
                .is_some_and(|header| bytes.is_some_and(|bytes| header.frame(bytes).is_some()));
            if !is_whole && self.is_unacked(offset, header.as_ref()) {
                return self.cut(recovery, offset);
            }
            match header {
                Some(header) => {
                    recovery.close_gap(position, &header);
                    recovery.add(position, &header, is_whole);
                    offset += record;
                }
                None => {
                    recovery.open_gap(position, self.one_byte_off(offset));
                    let next = self.next_header(offset + ALIGNMENT);
                    offset = next.unwrap_or_else(|| self.used.next_multiple_of(ALIGNMENT));
                }
            }
            recovery.table.end = self.start + offset as u64;
        }
        recovery.dirty_until = recovery.table.end;
    }

    fn one_byte_off(&self, offset: usize) -> Option<RecordHeader> {
        let position = self.start + offset as u64;
        let codec = &self.log.codec;
        codec.one_byte_off(position, self.bytes.get(offset..)?)
    }

    /// Ends the log here: what follows was never acked.
    fn cut(&self, recovery: &mut Recovery, offset: usize) {
        let position = self.start + offset as u64;
        recovery.table.end = position;
        recovery.dirty_until = self.start + self.used as u64;
        recovery.warnings.push(StoreWarning::TornTail {
            position,
            bytes: (self.used - offset) as u64,
        });
    }
}

impl Recovery {
    /// Whether something that was written is not there any more.
    pub(super) fn is_damaged(&self) -> bool {
        let is_damage = |warning: &StoreWarning| matches!(warning, StoreWarning::Damage { .. });
        self.warnings.iter().any(is_damage)
    }

    fn open_gap(&mut self, from: u64, meant: Option<RecordHeader>) {
        self.gap.get_or_insert(Gap { from, meant });
    }

    /// Finds out what is lost before the record `next` at `position`, and whose it was.
    fn close_gap(&mut self, position: u64, next: &RecordHeader) {
        let gap = self.gap.take();
        let table = &mut self.table;
        if next.log_previous == table.last {
            return;
        }
        let from = gap.as_ref().map_or(table.end, |gap| gap.from);
        if let Some(header) = gap.and_then(|gap| gap.meant) {
            table.mark_corrupt(header.tree, LOST);
            table.last = from;
        }
        if next.log_previous != table.last {
            // One lost record is told by its successor; of more, only the last one.
            let is_told = next.log_previous_tree != NOBODY;
            if is_told {
                table.mark_corrupt(next.log_previous_tree, LOST);
            }
            if !is_told || next.log_previous != from {
                self.unknown = Some(from);
            }
        }
        self.warn(from, position);
    }

    /// Ends a log whose last bytes are damage: the next record will say that something was here.
    fn close_last_gap(&mut self) {
        let Some(gap) = self.gap.take() else { return };
        let tree = gap.meant.map_or(NOBODY, |header| header.tree);
        match gap.meant {
            Some(_) => self.table.mark_corrupt(tree, LOST),
            None => self.unknown = Some(gap.from),
        }
        (self.table.last, self.table.last_tree) = (gap.from, tree);
        self.warn(gap.from, self.table.end);
    }

    fn warn(&mut self, from: u64, to: u64) {
        let trees = self.table.corrupt.len();
        self.warnings.push(StoreWarning::Damage { from, to, trees });
    }

    fn add(&mut self, position: u64, header: &RecordHeader, is_whole: bool) {
        let table = &mut self.table;
        (table.last, table.last_tree) = (position, header.tree);
        let entry = table.entry(header.tree);
        if table.corrupt.contains_key(&header.tree) || position <= entry.tail {
            return;
        }
        let fits = header.index == entry.count && header.previous == entry.tail;
        if is_whole && fits {
            table.trees.insert(header.tree, entry.after(position));
            return;
        }
        table.mark_corrupt(header.tree, LOST);
        self.warn(position, position + header.record_bytes() as u64);
    }

    /// Marks every tree of which nothing was seen behind a place where it cannot be said what is lost.
    fn blame_all_before_unknown(&mut self) {
        let Some(from) = self.unknown else { return };
        let silent: Vec<TreeId> = self
            .table
            .trees
            .iter()
            .filter(|(_, entry)| entry.tail < from)
            .map(|(tree, _)| *tree)
            .collect();
        for tree in silent {
            self.table.mark_corrupt(tree, MAYBE_LOST);
        }
        self.warn(from, self.table.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_used_part_ends_after_the_last_byte_that_is_not_zero() {
        for used in [0, 1, 4_095, 4_096, 4_097, 9_000, 12_288] {
            let mut bytes = vec![0; 12_288];
            bytes[..used].fill(1);
            assert_eq!(used_bytes(&bytes), used);
        }
        assert_eq!(used_bytes(&[0; 100]), 0);
        assert_eq!(HEADER_BYTES % ALIGNMENT, 0);
    }
}
