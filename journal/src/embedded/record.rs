//! The record: how one frame lies in the log.
//!
//! - REC-1: a header's checksum covers the store's id and the record's position, so bytes of another store or place are no record.
//! - REC-2: a record's last byte and its header's last byte are not zero: in a zero-filled file a write cut short shows.
//! - REC-3: a header names the record before it, in its tree and in the log, so that a lost record is missed and known by its tree.
//!
//! Layout, integers big-endian, 88 bytes: `"LHR"`, version `u8`; frame length `u32`; tree 16 bytes; index in the tree `u64`;
//! position of the tree's record before it `u64` (0: none); position of the tree's last record before it whose index is a
//! multiple of [`ANCHOR_EVERY`] `u64`; position of the record before it in the log `u64`; that record's tree 16 bytes; bytes
//! back to the first record of the same write `u32`; checksum of the frame `u32`; checksum of the header `u32`; `"RDY\n"`.
//! Then the frame, one byte 0xa5, and zeros up to a multiple of 8. Checksums are CRC-32 (ISO-HDLC).

use crc32fast::Hasher;
use leasehold_types::TreeId;

/// Bytes of a record's header.
pub(super) const HEADER_BYTES: usize = 88;
/// One record in so many of a tree is an anchor: a walk back to any index takes `n / 64 + 64` steps.
pub(super) const ANCHOR_EVERY: u64 = 64;

const MAGIC: [u8; 4] = *b"LHR\x01";
const END: [u8; 4] = *b"RDY\n";
const TRAILER: u8 = 0xa5;
const ALIGNMENT: usize = 8;
const CHECKED_BYTES: usize = 80;
/// What a disk writes whole or not at all.
const SECTOR_BYTES: usize = 512;

/// A record's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordHeader {
    pub(super) frame_bytes: u32,
    pub(super) tree: TreeId,
    pub(super) index: u64,
    pub(super) previous: u64,
    pub(super) anchor: u64,
    pub(super) log_previous: u64,
    pub(super) log_previous_tree: TreeId,
    pub(super) batch_back: u32,
    pub(super) frame_checksum: u32,
}

/// Writes and reads the records of one store.
#[derive(Debug, Clone)]
pub(super) struct Codec(Hasher);

/// Bytes of a whole record whose frame has `frame_bytes`.
pub(super) const fn record_bytes(frame_bytes: usize) -> usize {
    (HEADER_BYTES + frame_bytes + 1).next_multiple_of(ALIGNMENT)
}

impl Codec {
    pub(super) fn new(store: u128) -> Self {
        let mut hasher = Hasher::new();
        hasher.update(&store.to_be_bytes());
        Self(hasher)
    }

    /// Appends a record that is to stand at `position`.
    pub(super) fn write(
        &self,
        position: u64,
        header: &RecordHeader,
        frame: &[u8],
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        out.extend_from_slice(&MAGIC);
        out.extend_from_slice(&header.frame_bytes.to_be_bytes());
        out.extend_from_slice(&header.tree.as_u128().to_be_bytes());
        out.extend_from_slice(&header.index.to_be_bytes());
        out.extend_from_slice(&header.previous.to_be_bytes());
        out.extend_from_slice(&header.anchor.to_be_bytes());
        out.extend_from_slice(&header.log_previous.to_be_bytes());
        out.extend_from_slice(&header.log_previous_tree.as_u128().to_be_bytes());
        out.extend_from_slice(&header.batch_back.to_be_bytes());
        out.extend_from_slice(&header.frame_checksum.to_be_bytes());
        let checksum = self.checksum(position, &out[start..]);
        out.extend_from_slice(&checksum.to_be_bytes());
        out.extend_from_slice(&END);
        out.extend_from_slice(frame);
        out.push(TRAILER);
        out.resize(start + record_bytes(frame.len()), 0);
    }

    fn checksum(&self, position: u64, header: &[u8]) -> u32 {
        let mut hasher = self.0.clone();
        hasher.update(&position.to_be_bytes());
        hasher.update(header);
        hasher.finalize()
    }

    /// Reads the header that stands at `position`, if the bytes are one.
    pub(super) fn header(&self, position: u64, bytes: &[u8]) -> Option<RecordHeader> {
        let bytes = bytes.get(..HEADER_BYTES)?;
        let is_framed = bytes.starts_with(&MAGIC) && bytes.ends_with(&END);
        let checksum = u32::from_be_bytes(bytes[CHECKED_BYTES..CHECKED_BYTES + 4].try_into().ok()?);
        if !is_framed || checksum != self.checksum(position, &bytes[..CHECKED_BYTES]) {
            return None;
        }
        read_fields(bytes)
    }

    /// The header that stood at `position` before one of its bytes changed, if one byte is all that changed.
    ///
    /// The checksum is linear: what a changed bit does to it depends on the bit's place alone.
    pub(super) fn one_byte_off(&self, position: u64, bytes: &[u8]) -> Option<RecordHeader> {
        let mut tried: [u8; HEADER_BYTES] = bytes.get(..HEADER_BYTES)?.try_into().ok()?;
        let named = tried[CHECKED_BYTES..].first_chunk::<4>()?;
        let computed = self.checksum(position, &tried[..CHECKED_BYTES]);
        let difference = computed ^ u32::from_be_bytes(*named);
        for at in 0..HEADER_BYTES {
            let bits = effects(at);
            let found = tried[at];
            for change in 1..=u8::MAX {
                let changed = (0..8).filter(|bit| change >> bit & 1 == 1);
                if changed.fold(0, |sum, bit| sum ^ bits[bit]) == difference {
                    tried[at] = found ^ change;
                    if let Some(header) = self.header(position, &tried) {
                        return Some(header);
                    }
                }
            }
            tried[at] = found;
        }
        None
    }
}

/// What each bit of a header's byte does to the difference between the checksum that it names and the one it has.
fn effects(at: usize) -> [u32; 8] {
    let effect = |bit: usize| {
        let mut header = [0; HEADER_BYTES];
        header[at] = 1 << bit;
        let named = header[CHECKED_BYTES..].first_chunk().copied();
        let computed = crc32fast::hash(&header[..CHECKED_BYTES]);
        let of_zeros = crc32fast::hash(&[0; CHECKED_BYTES]);
        computed ^ of_zeros ^ u32::from_be_bytes(named.unwrap_or_default())
    };
    std::array::from_fn(effect)
}

fn read_fields(bytes: &[u8]) -> Option<RecordHeader> {
    let u32_at = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let u64_at = |at: usize| Some(u64::from_be_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
    let tree_at = |at: usize| {
        let number = u128::from_be_bytes(bytes.get(at..at + 16)?.try_into().ok()?);
        Some(TreeId::from_u128(number))
    };
    Some(RecordHeader {
        frame_bytes: u32_at(4)?,
        tree: tree_at(8)?,
        index: u64_at(24)?,
        previous: u64_at(32)?,
        anchor: u64_at(40)?,
        log_previous: u64_at(48)?,
        log_previous_tree: tree_at(56)?,
        batch_back: u32_at(72)?,
        frame_checksum: u32_at(76)?,
    })
}

impl RecordHeader {
    /// Bytes of the whole record.
    pub(super) fn record_bytes(&self) -> usize {
        record_bytes(usize::try_from(self.frame_bytes).unwrap_or(usize::MAX - 1_024))
    }

    /// The frame within a record's bytes, if it is what was written.
    pub(super) fn frame<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        let end = HEADER_BYTES + usize::try_from(self.frame_bytes).ok()?;
        let frame = record.get(HEADER_BYTES..end)?;
        let is_whole = record.get(end) == Some(&TRAILER);
        (is_whole && frame_checksum(frame) == self.frame_checksum).then_some(frame)
    }
}

/// The checksum that a header names for its frame.
pub(super) fn frame_checksum(frame: &[u8]) -> u32 {
    crc32fast::hash(frame)
}

/// Whether bytes that are no whole record can come from a write that power or process cut short, into a file of zeros.
///
/// `bytes` begin at `offset` in the file and go on to the file's end; `header` is the record's, where that much is whole.
pub(super) fn is_torn(offset: usize, bytes: &[u8], header: Option<&RecordHeader>) -> bool {
    let span = header.map_or(HEADER_BYTES, |header| {
        HEADER_BYTES + usize::try_from(header.frame_bytes).unwrap_or(usize::MAX - 1_024) + 1
    });
    let Some(record) = bytes.get(..span) else {
        return true;
    };
    // Zeros with one changed byte were never a header.
    let is_free = header.is_none() && record.iter().filter(|byte| **byte != 0).count() <= 1;
    // REC-2: cut at a byte, or at a sector.
    is_free
        || record.last() == Some(&0)
        || sectors(offset, record).any(|part| part.iter().all(|byte| *byte == 0))
}

/// The parts of `bytes`, which begin at `offset`, that lie in one sector each.
fn sectors(offset: usize, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let first = (SECTOR_BYTES - offset % SECTOR_BYTES).min(bytes.len());
    let (first, rest) = bytes.split_at(first);
    std::iter::once(first).chain(rest.chunks(SECTOR_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(frame: &[u8]) -> RecordHeader {
        RecordHeader {
            frame_bytes: u32::try_from(frame.len()).unwrap(),
            tree: TreeId::from_u128(7),
            index: 9,
            previous: 4_096,
            anchor: 8_192,
            log_previous: 16_384,
            log_previous_tree: TreeId::from_u128(8),
            batch_back: 640,
            frame_checksum: frame_checksum(frame),
        }
    }

    #[test]
    fn a_record_reads_back_only_at_its_place_and_in_its_store() {
        let (codec, frame) = (Codec::new(1), b"frame".as_slice());
        let mut bytes = Vec::new();
        codec.write(4_096, &header(frame), frame, &mut bytes);
        let read = codec.header(4_096, &bytes).unwrap();
        assert_eq!(read, header(frame));
        assert_eq!(read.frame(&bytes), Some(frame));
        assert_eq!(read.record_bytes(), bytes.len());
        assert_eq!(codec.header(4_104, &bytes), None, "REC-1");
        assert_eq!(Codec::new(2).header(4_096, &bytes), None, "REC-1");
    }

    #[test]
    fn a_changed_byte_is_noticed_and_does_not_look_like_a_cut_write() {
        let (codec, frame) = (Codec::new(1), [0x33; 700]);
        let mut whole = Vec::new();
        codec.write(4_096, &header(&frame), &frame, &mut whole);
        for at in 0..HEADER_BYTES + frame.len() + 1 {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            let found = codec.header(4_096, &bytes);
            assert_eq!(found.is_none(), at < HEADER_BYTES);
            assert!(!is_torn(4_096, &bytes, found.as_ref()), "byte {at}");
            let meant = found.or_else(|| codec.one_byte_off(4_096, &bytes));
            assert_eq!(meant, Some(header(&frame)));
            assert!(found.is_none_or(|found| found.frame(&bytes).is_none()));
        }
    }

    #[test]
    fn a_write_cut_at_any_byte_or_sector_looks_torn() {
        let (codec, frame) = (Codec::new(1), [0x33; 1_500]);
        let mut whole = Vec::new();
        codec.write(4_096, &header(&frame), &frame, &mut whole);
        let end = HEADER_BYTES + frame.len() + 1;
        for at in 0..end {
            let mut bytes = whole.clone();
            bytes[at..].fill(0);
            let found = codec.header(4_096, &bytes);
            assert!(is_torn(4_096, &bytes, found.as_ref()), "zeros from {at}");
            let found = codec.header(4_096, &whole[..at]);
            assert!(
                is_torn(4_096, &whole[..at], found.as_ref()),
                "the file ends at {at}"
            );
        }
        for sector in whole.chunks(512).enumerate().map(|(number, _)| number) {
            let mut bytes = whole.clone();
            let until = end.min(sector * 512 + 512);
            bytes[sector * 512..until].fill(0);
            let found = codec.header(4_096, &bytes);
            assert!(is_torn(4_096, &bytes, found.as_ref()), "sector {sector}");
        }
    }
}
