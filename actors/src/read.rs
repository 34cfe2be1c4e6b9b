//! Reading a tree: its frames held against each other, its records decoded, its blobs fetched.

use std::collections::BTreeMap;

use leasehold_execution::record::Started;
use leasehold_execution::spill::{blobs_of, restore};
use leasehold_execution::{Entry, Record, RecordError, read_entries};
use leasehold_journal::{
    BlobError, Chain, Frame, FrameHeader, JournalCorruptError, JournalError, Store, Tail,
};
use leasehold_types::{FrameIndex, TreeId};

/// The bytes asked for with one read.
const READ_BYTES: usize = 1 << 20;

/// Why a tree cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The store does not answer.
    #[error(transparent)]
    Store(#[from] JournalError),
    /// The journal is not what was written.
    #[error(transparent)]
    Corrupt(#[from] JournalCorruptError),
    /// A newer release wrote it.
    #[error("frame {index}: {error}")]
    NeedsNewerVersion {
        /// The frame.
        index: FrameIndex,
        /// The record.
        error: RecordError,
    },
    /// A blob is missing or altered.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

/// One frame, read.
#[derive(Debug)]
pub struct LoadedFrame {
    /// Its header.
    pub header: FrameHeader,
    /// Its records.
    pub entries: Vec<Entry>,
}

/// A tree, read to its tail.
#[derive(Debug)]
pub struct Loaded {
    /// Its frames in order; empty where there is no such tree.
    pub frames: Vec<LoadedFrame>,
    /// The last frame whole, to claim after.
    pub last: Option<Frame>,
    /// The tail that was read to.
    pub tail: Tail,
}

/// Reads a tree to its tail.
///
/// # Errors
/// The store is silent, or what it holds is no journal.
pub async fn load(store: &dyn Store, tree: TreeId) -> Result<Loaded, LoadError> {
    let mut chain = Chain::empty(tree);
    let mut loaded = Loaded {
        frames: vec![],
        last: None,
        tail: Tail::at(tree, 0),
    };
    // The tail first: a read is complete when it has seen the frame that the tail names.
    let tail = store.tail(tree).await?;
    loaded.tail = tail.tail;
    let Some(target) = tail.header().map_err(|error| chain.corrupt(&error))? else {
        return Ok(loaded);
    };
    while chain.next_index() <= target.index {
        let stored = store.read(tree, chain.next_index(), READ_BYTES).await?;
        if stored.is_empty() {
            return Err(chain
                .corrupt(&"the frames up to the tail cannot be read")
                .into());
        }
        for frame in stored {
            if chain.next_index() > target.index {
                break;
            }
            let frame = chain.read(&frame.bytes)?;
            let entries = entries_of(store, &frame).await?;
            loaded.frames.push(LoadedFrame {
                header: frame.header.clone(),
                entries,
            });
            loaded.last = Some(frame);
        }
    }
    Ok(loaded)
}

async fn entries_of(store: &dyn Store, frame: &Frame) -> Result<Vec<Entry>, LoadError> {
    let index = frame.header.index;
    let tree = frame.header.tree;
    let judged = |error: RecordError| match error {
        RecordError::NeedsNewerVersion { .. } => LoadError::NeedsNewerVersion { index, error },
        other @ RecordError::Malformed { .. } => LoadError::Corrupt(JournalCorruptError {
            tree,
            index,
            why: other.to_string(),
        }),
    };
    let mut blobs = BTreeMap::new();
    for digest in blobs_of(&frame.body).map_err(judged)? {
        blobs.insert(digest, store.blob(tree, digest).await?);
    }
    let body = restore(&frame.body, &blobs).map_err(judged)?;
    read_entries(&body).map_err(judged)
}

impl Loaded {
    /// How the tree was started, where it was.
    #[must_use]
    pub fn started(&self) -> Option<&Started> {
        self.entries().find_map(|entry| {
            if let Record::Started(started) = &entry.record {
                Some(&**started)
            } else {
                None
            }
        })
    }

    /// All entries in order.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.frames.iter().flat_map(|frame| &frame.entries)
    }
}
