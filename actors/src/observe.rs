//! Observers: told of what has become durable, for live views. They may be slow or absent; nothing waits for them.

use leasehold_execution::Entry;
use leasehold_types::{FrameIndex, TreeId};

/// Told of durable entries, on the tree's own actor. It must not block.
pub trait Observer: Send + Sync + std::fmt::Debug {
    /// Whether entries are wanted at all: if not, none are kept for it.
    fn is_interested(&self) -> bool {
        true
    }

    /// The entries of one frame, durable, in order.
    fn durable(&self, tree: TreeId, frame: FrameIndex, entries: &[Entry]);
}

/// Observes nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ignore;

impl Observer for Ignore {
    fn is_interested(&self) -> bool {
        false
    }
    fn durable(&self, _: TreeId, _: FrameIndex, _: &[Entry]) {}
}
