//! Reading: tails, pages of one tree, the last headers of all, and what is appended.
//!
//! - READ-1: a reader sees what was acked before it began, and never what is not synced.

use leasehold_types::{FrameIndex, TreeId};

use super::Shared;
use super::record::ANCHOR_EVERY;
use super::segment::FIRST_OFFSET;
use super::table::Entry;
use crate::{
    FollowCursor, FollowPage, FrameHeader, JournalCorruptError, JournalError, StoredFrame, Tail,
    TailRead, TreeHead, unpoisoned,
};

/// The most bytes of one page, whatever is asked for.
const PAGE_BYTES_MAX: usize = 16 * 1_024 * 1_024;
/// The most bytes of the log that one page of `follow` looks through; more than the largest record.
const FOLLOW_BYTES_MAX: usize = 512 * 1_024;

impl Shared {
    fn entry(&self, tree: TreeId) -> (Entry, Option<JournalCorruptError>) {
        let table = unpoisoned(&self.table);
        (table.entry(tree), table.corrupt.get(&tree).cloned())
    }

    /// How many frames a tree has.
    pub(super) fn frame_count(&self, tree: TreeId) -> u64 {
        unpoisoned(&self.table).entry(tree).count
    }

    /// Notes that a tree's frames are not what was written: nothing is appended to it any more.
    fn corrupt(&self, tree: TreeId, index: u64) -> JournalError {
        let error = JournalCorruptError {
            tree,
            index: FrameIndex::new(index),
            why: "its record in the log is damaged or missing".to_owned(),
        };
        let mut table = unpoisoned(&self.table);
        table.corrupt.entry(tree).or_insert(error).clone().into()
    }

    pub(super) fn read_tail(&self, tree: TreeId) -> Result<TailRead, JournalError> {
        self.health.check()?;
        let (entry, corrupt) = self.entry(tree);
        if let Some(error) = corrupt {
            return Err(error.into());
        }
        let tail = Tail::at(tree, entry.tail);
        let Some(index) = entry.count.checked_sub(1) else {
            return Ok(TailRead { tail, last: None });
        };
        let frame = self.log.frame(entry.tail, tree, index)?;
        let bytes = frame.ok_or_else(|| self.corrupt(tree, index))?;
        let last = Some(StoredFrame { bytes });
        Ok(TailRead { tail, last })
    }

    pub(super) fn read_page(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> Result<Vec<StoredFrame>, JournalError> {
        self.health.check()?;
        let (entry, corrupt) = self.entry(tree);
        if let Some(error) = corrupt
            && from >= error.index
        {
            return Err(error.into());
        }
        let mut page = Vec::new();
        let mut left = bytes_max.min(PAGE_BYTES_MAX);
        let mut index = from.get();
        let mut blocks = self.blocks(tree, entry, index)?;
        while let Some(end) = blocks.pop() {
            for position in self.block(tree, end, index)? {
                let Some(bytes) = self.log.frame(position, tree, index)? else {
                    // What is before it is whole: the next page begins with the error.
                    let error = self.corrupt(tree, index);
                    return if page.is_empty() {
                        Err(error)
                    } else {
                        Ok(page)
                    };
                };
                if !page.is_empty() && bytes.len() > left {
                    return Ok(page);
                }
                left = left.saturating_sub(bytes.len());
                page.push(StoredFrame { bytes });
                index += 1;
            }
        }
        Ok(page)
    }

    /// The last record of each block of [`ANCHOR_EVERY`] records from the one with `from` on, the tree's last first.
    fn blocks(
        &self,
        tree: TreeId,
        entry: Entry,
        from: u64,
    ) -> Result<Vec<(u64, u64)>, JournalError> {
        let mut ends = Vec::new();
        let Some(mut index) = entry.count.checked_sub(1).filter(|last| *last >= from) else {
            return Ok(ends);
        };
        let mut position = entry.tail;
        let mut anchor = entry.anchor;
        loop {
            ends.push((index, position));
            let block = index - index % ANCHOR_EVERY;
            if block <= from {
                return Ok(ends);
            }
            let header = self.log.header(anchor, tree, block)?;
            let header = header.ok_or_else(|| self.corrupt(tree, block))?;
            (index, position, anchor) = (block - 1, header.previous, header.anchor);
        }
    }

    /// The positions of one block's records, from the one with `from` or the block's first up to the given last one.
    fn block(
        &self,
        tree: TreeId,
        (last, position): (u64, u64),
        from: u64,
    ) -> Result<Vec<u64>, JournalError> {
        let first = from.max(last - last % ANCHOR_EVERY);
        let mut positions = vec![position];
        for index in (first + 1..=last).rev() {
            let at = positions.last().copied().unwrap_or(position);
            let header = self.log.header(at, tree, index)?;
            let header = header.ok_or_else(|| self.corrupt(tree, index))?;
            positions.push(header.previous);
        }
        positions.reverse();
        Ok(positions)
    }

    pub(super) fn read_heads(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> Result<Vec<TreeHead>, JournalError> {
        use std::ops::Bound::{Excluded, Unbounded};
        self.health.check()?;
        let mut heads = Vec::new();
        let mut after = after;
        while heads.len() < limit {
            let trees: Vec<(TreeId, Entry)> = {
                let table = unpoisoned(&self.table);
                let from = after.map_or(Unbounded, Excluded);
                let trees = table.trees.range((from, Unbounded));
                let wanted = trees.take(limit - heads.len());
                wanted.map(|(tree, entry)| (*tree, *entry)).collect()
            };
            let Some((last, _)) = trees.last() else { break };
            after = Some(*last);
            for (tree, entry) in trees {
                heads.extend(self.last_head(tree, entry)?);
            }
        }
        Ok(heads)
    }

    /// The tree's last header that can be read: a corrupt tree is listed too, and found corrupt by who claims it.
    fn last_head(&self, tree: TreeId, entry: Entry) -> Result<Option<TreeHead>, JournalError> {
        let mut position = entry.tail;
        for index in (0..entry.count).rev() {
            if let Some(frame) = self.log.frame(position, tree, index)? {
                return Ok(head(&frame));
            }
            self.corrupt(tree, index);
            match self.log.header(position, tree, index)? {
                Some(header) => position = header.previous,
                None => break,
            }
        }
        Ok(None)
    }

    /// What was appended after `cursor`; `None`: nothing.
    pub(super) fn read_after(
        &self,
        cursor: FollowCursor,
    ) -> Result<Option<FollowPage>, JournalError> {
        self.health.check()?;
        let end = unpoisoned(&self.table).end;
        let mut heads = Vec::new();
        let mut position = cursor.0;
        while heads.is_empty() && position < end {
            position = self.follow_segment(position, end, &mut heads)?;
        }
        let next = FollowCursor(position);
        Ok((!heads.is_empty()).then_some(FollowPage { heads, next }))
    }

    /// Reads on in one segment, and says where to go on.
    fn follow_segment(
        &self,
        position: u64,
        end: u64,
        heads: &mut Vec<TreeHead>,
    ) -> Result<u64, JournalError> {
        let position = self.log.next_record(position);
        let (number, _) = self.log.place(position);
        let next_segment = (number + 1) * self.log.segment_bytes + FIRST_OFFSET;
        let left = usize::try_from(end - position).unwrap_or(usize::MAX);
        let bytes = self.log.bytes(position, left.min(FOLLOW_BYTES_MAX))?;
        let mut read = 0;
        while let Some(header) = self
            .log
            .codec
            .header(position + read as u64, &bytes[read..])
        {
            let Some(record) = bytes.get(read..read + header.record_bytes()) else {
                break;
            };
            // A frame that cannot be read belongs to a tree that is found corrupt by who claims it.
            heads.extend(header.frame(record).and_then(head));
            read += header.record_bytes();
        }
        if read > 0 {
            return Ok(position + read as u64);
        }
        if next_segment <= end && bytes.iter().all(|byte| *byte == 0) {
            return Ok(next_segment);
        }
        let why = format!("no record stands at {position} of the log");
        Err(JournalError::Unavailable(why))
    }
}

fn head(frame: &[u8]) -> Option<TreeHead> {
    let (header, _) = FrameHeader::read(frame).ok()?;
    Some(TreeHead { header })
}
