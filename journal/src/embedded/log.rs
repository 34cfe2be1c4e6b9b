//! The log's files, for reading by any thread.
//!
//! - LOG-1: what is read is held against its checksums; nothing else is ever given out.
//! - LOG-2: no record begins in a segment's first page.

use std::fs::File;
use std::sync::{Arc, PoisonError, RwLock};

use leasehold_types::TreeId;

use super::record::{Codec, HEADER_BYTES, RecordHeader};
use super::segment::{FIRST_OFFSET, Identity, read_up_to};
use crate::JournalError;

/// Read at once with a header: most frames are smaller, so one system call does.
const GUESSED_FRAME_BYTES: usize = 936;

/// The segments by their numbers; `None` where a file is missing.
#[derive(Debug)]
pub(super) struct Log {
    segments: RwLock<Vec<Option<Arc<File>>>>,
    pub(super) segment_bytes: u64,
    pub(super) codec: Codec,
}

impl Log {
    pub(super) fn new(identity: Identity, segments: Vec<Option<Arc<File>>>) -> Self {
        Self {
            segments: RwLock::new(segments),
            segment_bytes: identity.segment_bytes,
            codec: Codec::new(identity.store),
        }
    }

    pub(super) fn segment_count(&self) -> u64 {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        segments.len() as u64
    }

    pub(super) fn segment(&self, number: u64) -> Option<Arc<File>> {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        segments.get(usize::try_from(number).ok()?)?.clone()
    }

    /// Adds or replaces a segment.
    pub(super) fn put_segment(&self, number: u64, file: Arc<File>) {
        let mut segments = self
            .segments
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let Ok(number) = usize::try_from(number) else {
            return;
        };
        if segments.len() <= number {
            segments.resize(number + 1, None);
        }
        segments[number] = Some(file);
    }

    pub(super) const fn place(&self, position: u64) -> (u64, u64) {
        (position / self.segment_bytes, position % self.segment_bytes)
    }

    /// Where a record may begin, from `position` on: the end of a segment that is full to its last byte is the beginning of
    /// the next one's first page, which holds no records.
    pub(super) const fn next_record(&self, position: u64) -> u64 {
        let (number, offset) = self.place(position);
        if offset < FIRST_OFFSET {
            return number * self.segment_bytes + FIRST_OFFSET;
        }
        position
    }

    /// Reads bytes of one segment, fewer at its end or where the file is missing.
    pub(super) fn bytes(&self, position: u64, count: usize) -> Result<Vec<u8>, JournalError> {
        let (number, offset) = self.place(position);
        let Some(file) = self.segment(number) else {
            return Ok(Vec::new());
        };
        let left = usize::try_from(self.segment_bytes - offset).unwrap_or(usize::MAX);
        let mut buffer = vec![0; count.min(left)];
        let read = read_up_to(&file, &mut buffer, offset)
            .map_err(|error| JournalError::Unavailable(format!("cannot read the log: {error}")))?;
        buffer.truncate(read);
        Ok(buffer)
    }

    /// The header of the record at `position`, if a record of `tree` with this index stands there.
    pub(super) fn header(
        &self,
        position: u64,
        tree: TreeId,
        index: u64,
    ) -> Result<Option<RecordHeader>, JournalError> {
        let (number, offset) = self.place(position);
        let mut buffer = [0; HEADER_BYTES];
        let Some(file) = self.segment(number) else {
            return Ok(None);
        };
        read_up_to(&file, &mut buffer, offset)
            .map_err(|error| JournalError::Unavailable(format!("cannot read the log: {error}")))?;
        let header = self.codec.header(position, &buffer);
        Ok(header.filter(|header| header.tree == tree && header.index == index))
    }

    /// The frame of the record at `position`, if it is the one of `tree` with this index, and whole.
    pub(super) fn frame(
        &self,
        position: u64,
        tree: TreeId,
        index: u64,
    ) -> Result<Option<Vec<u8>>, JournalError> {
        let mut bytes = self.bytes(position, HEADER_BYTES + GUESSED_FRAME_BYTES)?;
        let header = self.codec.header(position, &bytes);
        let Some(header) = header.filter(|header| header.tree == tree && header.index == index)
        else {
            return Ok(None);
        };
        if header.record_bytes() > bytes.len() {
            bytes = self.bytes(position, header.record_bytes())?;
        }
        let Some(range) = header
            .frame(&bytes)
            .map(|frame| HEADER_BYTES..HEADER_BYTES + frame.len())
        else {
            return Ok(None);
        };
        bytes.truncate(range.end);
        bytes.drain(..range.start);
        Ok(Some(bytes))
    }
}
