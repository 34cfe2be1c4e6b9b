//! The frame: what one append writes, one or more records that stand or fall together.
//!
//! - FRAME-1: the header names the hash of the frame before it and of its own body, so no frame can be altered, moved or left out unseen.
//! - FRAME-2: a frame is at most [`FRAME_BYTES_MAX`] bytes; larger bodies are blobs.
//!
//! Layout, version 1, integers big-endian: `"LHF"`, version `u8`; header length `u32`; tree 16 bytes; index `u64`;
//! epoch `u64`; frame id 16 bytes; previous hash 32 bytes; body hash 32 bytes; tenant as `u8` length and text;
//! summary as `u16` length and bytes; then, after the header, the body up to the end.

use leasehold_types::{Digest, Epoch, FrameId, FrameIndex, Tenant, TreeId, TreeSummary};

use crate::summary_wire;

/// The most bytes of one frame, header and body.
pub const FRAME_BYTES_MAX: usize = 256 * 1_024;

const MAGIC: &[u8; 3] = b"LHF";
const VERSION: u8 = 1;
/// Magic, version and header length.
const PREFIX_BYTES: usize = 8;
const FIXED_BYTES: usize = PREFIX_BYTES + 16 + 8 + 8 + 16 + 32 + 32;

/// Why bytes are not a frame, or a frame cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Larger than [`FRAME_BYTES_MAX`].
    #[error(
        "[journal.frame-too-large] a frame of {bytes} bytes is over the limit of {FRAME_BYTES_MAX}: larger bodies are stored as blobs"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A version this build does not read.
    #[error("[journal.frame-version] frame version {0} is newer than this build reads ({VERSION})")]
    Version(u8),
    /// Cut short, a wrong magic, a length that leads outside.
    #[error("[journal.frame-malformed] not a frame: {0}")]
    Malformed(&'static str),
    /// The body does not have the hash its header names.
    #[error("[journal.frame-hash] the body's hash is not the one in the header")]
    BodyHash,
    /// The tenant's name is longer than 255 bytes.
    #[error("[journal.tenant-too-long] a tenant's name has at most 255 bytes, this one has {0}")]
    TenantTooLong(usize),
}

/// What stands before a frame's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameHeader {
    /// Whose tree it is.
    pub tenant: Tenant,
    /// The tree.
    pub tree: TreeId,
    /// The frame's position in the tree's journal.
    pub index: FrameIndex,
    /// The epoch it was written under; [`Epoch::NONE`] for a start that nobody has claimed.
    pub epoch: Epoch,
    /// The writer's own name for it.
    pub id: FrameId,
    /// The hash of the frame before it; zeros for the first.
    pub previous: Digest,
    /// The hash of the body.
    pub body_hash: Digest,
    /// The tree after this frame.
    pub summary: TreeSummary,
}

/// A frame that was read: header, records, and its own hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// What stands before the records.
    pub header: FrameHeader,
    /// The records, opaque here.
    pub body: Vec<u8>,
    /// The hash of the header; the next frame names it.
    pub hash: Digest,
}

/// A frame ready to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedFrame {
    /// The tree.
    pub tree: TreeId,
    /// Its position.
    pub index: FrameIndex,
    /// Its epoch.
    pub epoch: Epoch,
    /// The writer's name for it.
    pub id: FrameId,
    /// Its hash.
    pub hash: Digest,
    /// Header and body as written.
    pub bytes: Vec<u8>,
}

impl SealedFrame {
    /// Writes a frame. `header.body_hash` is filled in here.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`] or [`FrameError::TenantTooLong`]; nothing was written.
    pub fn seal(header: &FrameHeader, body: &[u8]) -> Result<Self, FrameError> {
        let tenant = header.tenant.as_str().as_bytes();
        let tenant_len =
            u8::try_from(tenant.len()).map_err(|_| FrameError::TenantTooLong(tenant.len()))?;
        let mut bytes = Vec::with_capacity(FIXED_BYTES + 320 + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.push(VERSION);
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&header.tree.as_u128().to_be_bytes());
        bytes.extend_from_slice(&header.index.get().to_be_bytes());
        bytes.extend_from_slice(&header.epoch.get().to_be_bytes());
        bytes.extend_from_slice(&header.id.as_u128().to_be_bytes());
        bytes.extend_from_slice(header.previous.as_bytes());
        bytes.extend_from_slice(Digest::of(body).as_bytes());
        bytes.push(tenant_len);
        bytes.extend_from_slice(tenant);
        summary_wire::write(&header.summary, &mut bytes);
        let header_len = u32::try_from(bytes.len()).map_err(|_| FrameError::Malformed("header"))?;
        bytes[4..PREFIX_BYTES].copy_from_slice(&header_len.to_be_bytes());
        let hash = Digest::of(&bytes);
        bytes.extend_from_slice(body);
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(FrameError::TooLarge { bytes: bytes.len() });
        }
        let FrameHeader {
            tree,
            index,
            epoch,
            id,
            ..
        } = *header;
        Ok(Self {
            tree,
            index,
            epoch,
            id,
            hash,
            bytes,
        })
    }
}

impl Frame {
    /// Reads a frame and checks its body's hash.
    ///
    /// # Errors
    /// The bytes are no frame, of a newer version, or altered.
    pub fn read(bytes: &[u8]) -> Result<Self, FrameError> {
        let (header, header_len) = FrameHeader::read(bytes)?;
        let body = bytes.get(header_len..).unwrap_or_default();
        if Digest::of(body) != header.body_hash {
            return Err(FrameError::BodyHash);
        }
        let hash = Digest::of(bytes.get(..header_len).unwrap_or_default());
        Ok(Self {
            header,
            body: body.to_vec(),
            hash,
        })
    }
}

impl FrameHeader {
    /// Reads the header at the start of `bytes`, and says how long it is. The body is not looked at.
    ///
    /// # Errors
    /// The bytes begin with no header, or with one of a newer version.
    pub fn read(bytes: &[u8]) -> Result<(Self, usize), FrameError> {
        if bytes.len() > FRAME_BYTES_MAX {
            return Err(FrameError::TooLarge { bytes: bytes.len() });
        }
        let mut input = Input(bytes);
        if input.take(3)? != MAGIC {
            return Err(FrameError::Malformed("wrong magic"));
        }
        match input.array::<1>()?[0] {
            VERSION => {}
            other => return Err(FrameError::Version(other)),
        }
        let header_len = usize::try_from(u32::from_be_bytes(input.array()?))
            .map_err(|_| FrameError::Malformed("header length"))?;
        let mut input = Input(
            bytes
                .get(PREFIX_BYTES..header_len)
                .ok_or(FrameError::Malformed("header length leads outside"))?,
        );
        let header = Self::read_fields(&mut input)?;
        if !input.0.is_empty() {
            return Err(FrameError::Malformed("bytes left over in the header"));
        }
        Ok((header, header_len))
    }

    fn read_fields(input: &mut Input<'_>) -> Result<Self, FrameError> {
        let tree = TreeId::from_u128(u128::from_be_bytes(input.array()?));
        let index = FrameIndex::new(u64::from_be_bytes(input.array()?));
        let epoch = Epoch::new(u64::from_be_bytes(input.array()?));
        let id = FrameId::from_u128(u128::from_be_bytes(input.array()?));
        let previous = Digest::from_bytes(input.array()?);
        let body_hash = Digest::from_bytes(input.array()?);
        let tenant_len = usize::from(input.array::<1>()?[0]);
        let tenant = Tenant::new(input.text(tenant_len)?);
        let summary = summary_wire::read(input)?;
        Ok(Self {
            tenant,
            tree,
            index,
            epoch,
            id,
            previous,
            body_hash,
            summary,
        })
    }
}

/// Bytes that are read from the front, never past their end.
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], FrameError> {
        let (taken, rest) = self
            .0
            .split_at_checked(count)
            .ok_or(FrameError::Malformed("cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], FrameError> {
        self.take(N)?
            .try_into()
            .map_err(|_| FrameError::Malformed("cut short"))
    }

    pub(crate) fn text(&mut self, count: usize) -> Result<String, FrameError> {
        let bytes = self.take(count)?;
        std::str::from_utf8(bytes)
            .map(str::to_owned)
            .map_err(|_| FrameError::Malformed("text is not UTF-8"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use leasehold_types::{Answerer, PauseSummary, Timestamp, TreeState};

    pub(crate) fn summary() -> TreeSummary {
        TreeSummary {
            state: TreeState::Resting,
            next_due: Some(Timestamp::from_millis(1_790_000_000_000)),
            config_hash: Digest::of(b"config"),
            reader_version: 1,
            workflow: "support".to_owned(),
            thread: "t-1".to_owned(),
            pauses: vec![PauseSummary {
                execution: 0,
                number: 1,
                role: "refund-approval-channel".to_owned(),
                answerer: Answerer::Channel,
            }],
        }
    }

    pub(crate) fn header(index: u64, epoch: u64, previous: Digest) -> FrameHeader {
        FrameHeader {
            tenant: Tenant::default(),
            tree: TreeId::from_u128(7),
            index: FrameIndex::new(index),
            epoch: Epoch::new(epoch),
            id: FrameId::from_u128(u128::from(index) + 100),
            previous,
            body_hash: Digest::default(),
            summary: summary(),
        }
    }

    #[test]
    fn a_frame_reads_back_as_written() {
        let mut expected = header(3, 2, Digest::of(b"before"));
        let sealed = SealedFrame::seal(&expected, b"records").unwrap();
        let frame = Frame::read(&sealed.bytes).unwrap();
        expected.body_hash = Digest::of(b"records");
        assert_eq!(frame.header, expected);
        assert_eq!(
            (frame.body.as_slice(), frame.hash),
            (b"records".as_slice(), sealed.hash)
        );
    }

    #[test]
    fn a_frame_altered_or_cut_anywhere_is_refused_or_has_another_hash() {
        let sealed = SealedFrame::seal(&header(3, 2, Digest::default()), b"records").unwrap();
        for at in 0..sealed.bytes.len() {
            let mut altered = sealed.bytes.clone();
            altered[at] ^= 1;
            let harmless = Frame::read(&altered).is_ok_and(|frame| frame.hash == sealed.hash);
            assert!(!harmless, "FRAME-1: byte {at}");
            assert!(Frame::read(&sealed.bytes[..at]).is_err(), "cut at {at}");
        }
    }

    #[test]
    fn a_frame_over_the_limit_is_refused_before_it_is_written() {
        let body = vec![0; FRAME_BYTES_MAX];
        let refused = SealedFrame::seal(&header(0, 0, Digest::default()), &body);
        assert!(
            matches!(refused, Err(FrameError::TooLarge { .. })),
            "FRAME-2"
        );
    }
}
