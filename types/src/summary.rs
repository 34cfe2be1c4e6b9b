//! A tree in a few words: what each frame's header says of the tree after it.
//!
//! The directory is the fold of these; it is never asked who may write.

use crate::{Digest, Timestamp};

/// What a tree is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeState {
    /// It has steps to do: somebody should own it.
    Live,
    /// It waits for people or timers; nobody owns it.
    Resting,
    /// It is quarantined or parked: it moves when an operator says so.
    Blocked,
    /// Its last frame is written.
    Ended,
}

/// Who may answer a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answerer {
    /// The owner of the execution's thread.
    ThreadOwner,
    /// Whom the channel's own system authenticates, or any door's authenticated principal.
    Channel,
}

/// One open pause in a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PauseSummary {
    /// The execution's number in the tree.
    pub execution: u32,
    /// The pause's number in the execution.
    pub number: u32,
    /// The role asked, or `uncertain` where an operator must decide.
    pub role: String,
    /// Who may answer.
    pub answerer: Answerer,
}

/// What a frame's header says of its tree. At most [`TreeSummary::BYTES_MAX`] bytes when written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeSummary {
    /// What the tree is doing.
    pub state: TreeState,
    /// When it next has something to do by itself.
    pub next_due: Option<Timestamp>,
    /// The configuration it started with.
    pub config_hash: Digest,
    /// The lowest version of reader that understands its journal.
    pub reader_version: u16,
    /// The workflow or agent it runs.
    pub workflow: String,
    /// The conversation it belongs to; empty if none.
    pub thread: String,
    /// The first open pauses, at most [`TreeSummary::PAUSES_MAX`].
    pub pauses: Vec<PauseSummary>,
}

impl TreeSummary {
    /// The most bytes a written summary takes.
    pub const BYTES_MAX: usize = 256;
    /// The most open pauses a summary names; details come from the frames.
    pub const PAUSES_MAX: usize = 8;
}
