//! Reading a tree's frames one after another, from any position, as far as they can be read.
//!
//! It never stops at what it does not understand: a record of a newer release is named, a broken frame ends the reading with
//! its index, and everything before it is shown. `leasehold_actors::load` is stricter, because something runs from what it reads.

use std::collections::BTreeMap;

use leasehold_execution::spill::{blobs_of, restore};
use leasehold_execution::{Entry, RecordError, read_entries};
use leasehold_journal::{BlobError, Chain, Frame, FrameHeader, JournalError, Store, StoredFrame};
use leasehold_types::{Timestamp, TreeId};
use serde::Deserialize;

/// The bytes asked for with one read.
const READ_BYTES: usize = 1 << 20;

/// One frame as it was read.
#[derive(Debug)]
pub(super) struct ReadFrame {
    /// Its header.
    pub(super) header: FrameHeader,
    /// Its size in the store, in bytes.
    pub(super) stored_bytes: usize,
    /// Its body as stored: JSON lines, large ones replaced by the names of their blobs.
    pub(super) raw: Vec<u8>,
    /// Its records.
    pub(super) records: Vec<ReadRecord>,
}

/// One record as it was read.
#[derive(Debug)]
pub(super) struct ReadRecord {
    /// The line, whole, as JSON text.
    pub(super) line: String,
    /// What it says.
    pub(super) said: Said,
}

/// What a record says to this build.
#[derive(Debug)]
pub(super) enum Said {
    /// A record of a kind that is known.
    Known(Box<Entry>),
    /// Another one.
    Unknown {
        /// Its kind, where that can be read.
        kind: String,
        /// When it was made, where that can be read.
        at: Option<Timestamp>,
        /// Why it is not known.
        why: String,
    },
}

/// Why reading went no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Broken {
    /// The frame that cannot be read.
    pub(super) frame: u64,
    /// Why.
    pub(super) why: String,
}

/// What a step of the reader found.
#[derive(Debug)]
pub(super) enum Step {
    /// The next frame.
    Frame(Box<ReadFrame>),
    /// The tree's end, for now.
    Tail,
    /// A frame that cannot be read; nothing after it is looked at.
    Broken(Broken),
}

/// Reads one tree. It may be asked again after [`Step::Tail`].
#[derive(Debug)]
pub(super) struct FrameReader {
    tree: TreeId,
    chain: Chain,
    page: std::vec::IntoIter<StoredFrame>,
    broken: Option<Broken>,
}

impl FrameReader {
    /// A reader before the tree's first frame.
    pub(super) fn new(tree: TreeId) -> Self {
        Self {
            tree,
            chain: Chain::empty(tree),
            page: Vec::new().into_iter(),
            broken: None,
        }
    }

    /// The index of the frame to come.
    pub(super) const fn position(&self) -> u64 {
        self.chain.next_index().get()
    }

    /// Reads on.
    ///
    /// # Errors
    /// The store does not answer.
    pub(super) async fn step(&mut self, store: &dyn Store) -> Result<Step, JournalError> {
        if let Some(broken) = &self.broken {
            return Ok(Step::Broken(broken.clone()));
        }
        if self.page.as_slice().is_empty() {
            let from = self.chain.next_index();
            match store.read(self.tree, from, READ_BYTES).await {
                Ok(page) => self.page = page.into_iter(),
                Err(JournalError::Corrupt(error)) => return Ok(self.stop(&error.why)),
                Err(error) => return Err(error),
            }
        }
        let Some(stored) = self.page.next() else {
            return Ok(Step::Tail);
        };
        let frame = match self.chain.clone().read(&stored.bytes) {
            Ok(frame) => frame,
            Err(error) => return Ok(self.stop(&error.why)),
        };
        let blobs = match blobs(store, &frame).await {
            Ok(blobs) => blobs,
            Err(BlobError::Store(error)) => return Err(error),
            Err(error @ BlobError::Unavailable { .. }) => {
                return Ok(self.stop(&error.to_string()));
            }
        };
        let body = match restore(&frame.body, &blobs) {
            Ok(body) => body,
            Err(error) => return Ok(self.stop(&error.to_string())),
        };
        let records = records(&body);
        // It was read by a copy of this chain, so it fits.
        let _fits = self.chain.push(&frame);
        Ok(Step::Frame(Box::new(ReadFrame {
            records,
            stored_bytes: stored.bytes.len(),
            header: frame.header,
            raw: frame.body,
        })))
    }

    fn stop(&mut self, why: &str) -> Step {
        let broken = Broken {
            frame: self.position(),
            why: why.to_owned(),
        };
        self.broken = Some(broken.clone());
        Step::Broken(broken)
    }
}

async fn blobs(
    store: &dyn Store,
    frame: &Frame,
) -> Result<BTreeMap<leasehold_types::Digest, Vec<u8>>, BlobError> {
    let mut found = BTreeMap::new();
    // A body that is no list of records names no blob; what it is instead is said record by record.
    for digest in blobs_of(&frame.body).unwrap_or_default() {
        found.insert(digest, store.blob(frame.header.tree, digest).await?);
    }
    Ok(found)
}

fn records(body: &[u8]) -> Vec<ReadRecord> {
    let lines = body.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| ReadRecord {
            said: said(line),
            line: String::from_utf8_lossy(line).into_owned(),
        })
        .collect()
}

fn said(line: &[u8]) -> Said {
    #[derive(Deserialize)]
    struct Head {
        kind: String,
        at: Timestamp,
    }
    let unknown = |why: String| match serde_json::from_slice::<Head>(line) {
        Ok(Head { kind, at }) => Said::Unknown {
            kind,
            at: Some(at),
            why,
        },
        Err(_) => Said::Unknown {
            kind: "?".to_owned(),
            at: None,
            why,
        },
    };
    match read_entries(line) {
        Ok(mut entries) => match entries.pop() {
            Some(entry) => Said::Known(Box::new(entry)),
            None => unknown("its writer said that it may be passed over".to_owned()),
        },
        Err(RecordError::NeedsNewerVersion { version, .. }) => {
            unknown(format!("version {version} of a newer release"))
        }
        Err(RecordError::Malformed { why, .. }) => unknown(why),
    }
}

/// The tree's last frame, read by itself: what it says stands alone, its place in the chain is not checked.
///
/// # Errors
/// The store does not answer.
pub(super) async fn last_frame(
    store: &dyn Store,
    tree: TreeId,
) -> Result<Option<Result<ReadFrame, Broken>>, JournalError> {
    let read = store.tail(tree).await?;
    let Some(stored) = read.last else {
        return Ok(None);
    };
    let broken = |frame: u64, why: String| Ok(Some(Err(Broken { frame, why })));
    let frame = match Frame::read(&stored.bytes) {
        Ok(frame) => frame,
        Err(error) => return broken(0, error.to_string()),
    };
    let index = frame.header.index.get();
    let blobs = match blobs(store, &frame).await {
        Ok(blobs) => blobs,
        Err(BlobError::Store(error)) => return Err(error),
        Err(error @ BlobError::Unavailable { .. }) => return broken(index, error.to_string()),
    };
    let body = match restore(&frame.body, &blobs) {
        Ok(body) => body,
        Err(error) => return broken(index, error.to_string()),
    };
    Ok(Some(Ok(ReadFrame {
        records: records(&body),
        stored_bytes: stored.bytes.len(),
        header: frame.header,
        raw: frame.body,
    })))
}
