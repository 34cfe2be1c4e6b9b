//! The table of trees: where each one's last record is, in memory, and saved as one file now and then.
//!
//! - TABLE-1: the saved table is an abbreviation of the log: lost or damaged, it is made anew from all of it.
//! - TABLE-2: a tree that is corrupt stays so, across starts.
//!
//! The file `trees`, integers big-endian: `"LHT"`, version `u8`; store id 16 bytes; end of the log `u64`; position and tree
//! of its last record, 8 and 16 bytes; count of trees `u64`; count of corrupt trees `u64`; each tree as id 16 bytes,
//! positions of its last record and of its last anchor `u64`, count of its records `u64`; each corrupt tree as id 16
//! bytes, index `u64`, reason as `u16` length and text; CRC-32 of all this.

use std::collections::BTreeMap;

use leasehold_types::{FrameIndex, TreeId};

use super::record::ANCHOR_EVERY;
use crate::JournalCorruptError;

const MAGIC: &[u8; 4] = b"LHT\x01";
pub(super) const NAME: &str = "trees";

/// Where one tree's records are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Entry {
    /// The position of its last record; 0: it has none.
    pub(super) tail: u64,
    /// The position of its last anchor.
    pub(super) anchor: u64,
    /// How many records it has.
    pub(super) count: u64,
}

impl Entry {
    /// The entry once a record at `position` has been added.
    pub(super) const fn after(self, position: u64) -> Self {
        Self {
            tail: position,
            anchor: if self.count.is_multiple_of(ANCHOR_EVERY) {
                position
            } else {
                self.anchor
            },
            count: self.count + 1,
        }
    }
}

/// All trees, and how far the log goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) trees: BTreeMap<TreeId, Entry>,
    pub(super) corrupt: BTreeMap<TreeId, JournalCorruptError>,
    /// Where the next record goes.
    pub(super) end: u64,
    /// The last record's position; 0: there is none.
    pub(super) last: u64,
    /// The last record's tree.
    pub(super) last_tree: TreeId,
}

impl Table {
    /// The table of an empty log whose first record goes to `end`.
    pub(super) fn empty(end: u64) -> Self {
        Self {
            trees: BTreeMap::new(),
            corrupt: BTreeMap::new(),
            end,
            last: 0,
            last_tree: TreeId::from_u128(0),
        }
    }

    pub(super) fn entry(&self, tree: TreeId) -> Entry {
        self.trees.get(&tree).copied().unwrap_or_default()
    }

    /// Marks a tree whose frames are not what was written; the first mark stays.
    pub(super) fn mark_corrupt(&mut self, tree: TreeId, why: &str) {
        let index = FrameIndex::new(self.entry(tree).count);
        self.corrupt
            .entry(tree)
            .or_insert_with(|| JournalCorruptError {
                tree,
                index,
                why: why.to_owned(),
            });
    }

    /// Bytes of the saved table.
    pub(super) fn saved_bytes(&self) -> u64 {
        76 + 40 * self.trees.len() as u64
    }

    pub(super) fn save(&self, store: u128) -> Vec<u8> {
        let mut out = Vec::with_capacity(usize::try_from(self.saved_bytes()).unwrap_or(0) + 64);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&store.to_be_bytes());
        out.extend_from_slice(&self.end.to_be_bytes());
        out.extend_from_slice(&self.last.to_be_bytes());
        out.extend_from_slice(&self.last_tree.as_u128().to_be_bytes());
        out.extend_from_slice(&(self.trees.len() as u64).to_be_bytes());
        out.extend_from_slice(&(self.corrupt.len() as u64).to_be_bytes());
        for (tree, entry) in &self.trees {
            out.extend_from_slice(&tree.as_u128().to_be_bytes());
            for number in [entry.tail, entry.anchor, entry.count] {
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
        for (tree, error) in &self.corrupt {
            out.extend_from_slice(&tree.as_u128().to_be_bytes());
            out.extend_from_slice(&error.index.get().to_be_bytes());
            let length = u16::try_from(error.why.len()).unwrap_or(0);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(&error.why.as_bytes()[..usize::from(length)]);
        }
        let checksum = crc32fast::hash(&out);
        out.extend_from_slice(&checksum.to_be_bytes());
        out
    }

    /// Reads what [`Table::save`] wrote for this store.
    pub(super) fn load(bytes: &[u8], store: u128) -> Result<Self, &'static str> {
        let (body, checksum) = bytes
            .split_last_chunk::<4>()
            .ok_or("its file is cut short")?;
        if crc32fast::hash(body).to_be_bytes() != *checksum {
            return Err("its file's checksum is wrong");
        }
        let mut input = Input(body);
        if input.take(4)? != MAGIC || input.number(16)? != store {
            return Err("its file is of another version or store");
        }
        let mut table = Self::empty(input.u64()?);
        table.last = input.u64()?;
        table.last_tree = TreeId::from_u128(input.number(16)?);
        let (trees, corrupt) = (input.u64()?, input.u64()?);
        table.trees = (0..trees).map(|_| input.tree()).collect::<Result<_, _>>()?;
        for _ in 0..corrupt {
            let error = input.corrupt()?;
            table.corrupt.insert(error.tree, error);
        }
        Ok(table)
    }
}

struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or("its file is cut short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<u128, &'static str> {
        let bytes = self.take(bytes)?.iter();
        Ok(bytes.fold(0, |value, byte| (value << 8) | u128::from(*byte)))
    }

    fn u64(&mut self) -> Result<u64, &'static str> {
        u64::try_from(self.number(8)?).map_err(|_| "a number is too large")
    }

    fn tree(&mut self) -> Result<(TreeId, Entry), &'static str> {
        let tree = TreeId::from_u128(self.number(16)?);
        let (tail, anchor, count) = (self.u64()?, self.u64()?, self.u64()?);
        let entry = Entry {
            tail,
            anchor,
            count,
        };
        Ok((tree, entry))
    }

    fn corrupt(&mut self) -> Result<JournalCorruptError, &'static str> {
        let tree = TreeId::from_u128(self.number(16)?);
        let index = FrameIndex::new(self.u64()?);
        let length = usize::try_from(self.number(2)?).unwrap_or(usize::MAX);
        let why = std::str::from_utf8(self.take(length)?).map_err(|_| "a reason is no text")?;
        let why = why.to_owned();
        Ok(JournalCorruptError { tree, index, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::empty(9_000);
        table.last = 8_192;
        table.last_tree = TreeId::from_u128(3);
        for tree in 1..=3 {
            let entry = Entry::default().after(4_096).after(4_096 + tree * 8);
            table
                .trees
                .insert(TreeId::from_u128(u128::from(tree)), entry);
        }
        table.mark_corrupt(TreeId::from_u128(2), "a reason");
        table
    }

    // RELIABILITY ES4, ES5
    #[test]
    fn a_saved_table_reads_back_or_is_refused_whole() {
        let bytes = table().save(7);
        assert_eq!(Table::load(&bytes, 7), Ok(table()));
        assert!(Table::load(&bytes, 8).is_err(), "another store's");
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 4;
            assert!(Table::load(&changed, 7).is_err(), "byte {at}");
            assert!(Table::load(&bytes[..at], 7).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn the_first_record_and_each_64th_after_it_are_anchors() {
        let mut entry = Entry::default();
        for position in 1..=130_u64 {
            entry = entry.after(position);
            assert_eq!(entry.anchor, (position - 1) / 64 * 64 + 1);
        }
    }
}
