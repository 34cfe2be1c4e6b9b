//! Reading a journal: each frame is held against the one before it.
//!
//! - CHAIN-1: a gap, a fork, an epoch that falls, a foreign tree or a wrong hash is refused with its index.

use leasehold_types::{Digest, Epoch, FrameIndex, Tenant, TreeId};

use crate::Frame;

/// A tree's journal is not what was written: the tree is quarantined, others go on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("[journal.corrupt] JournalCorruptError: tree {tree}, frame {index}: {why}")]
pub struct JournalCorruptError {
    /// The tree.
    pub tree: TreeId,
    /// The first frame that is wrong.
    pub index: FrameIndex,
    /// What is wrong with it.
    pub why: String,
}

/// What the next frame of a tree must fit to.
#[derive(Debug, Clone)]
pub struct Chain {
    tree: TreeId,
    tenant: Option<Tenant>,
    next: FrameIndex,
    epoch: Epoch,
    hash: Digest,
}

impl Chain {
    /// A chain whose first frame is still to come.
    #[must_use]
    pub fn empty(tree: TreeId) -> Self {
        let next = FrameIndex::FIRST;
        Self {
            tree,
            tenant: None,
            next,
            epoch: Epoch::NONE,
            hash: Digest::default(),
        }
    }

    /// The index of the frame to come.
    #[must_use]
    pub const fn next_index(&self) -> FrameIndex {
        self.next
    }

    /// The epoch of the last frame.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Reads the next frame from its bytes and takes it into the chain.
    ///
    /// # Errors
    /// The bytes are no frame, or it does not fit to the one before it.
    pub fn read(&mut self, bytes: &[u8]) -> Result<Frame, JournalCorruptError> {
        let frame = Frame::read(bytes).map_err(|error| self.corrupt(&error))?;
        self.push(&frame)?;
        Ok(frame)
    }

    /// Takes a frame into the chain.
    ///
    /// # Errors
    /// It does not fit to the one before it.
    pub fn push(&mut self, frame: &Frame) -> Result<(), JournalCorruptError> {
        let header = &frame.header;
        let why = if header.tree != self.tree {
            Some("it belongs to another tree")
        } else if header.index != self.next {
            Some("its index is not the next one")
        } else if header.previous != self.hash {
            Some("it does not name the hash of the frame before it")
        } else if header.epoch < self.epoch {
            Some("its epoch is lower than that of the frame before it")
        } else if self
            .tenant
            .as_ref()
            .is_some_and(|tenant| *tenant != header.tenant)
        {
            Some("it belongs to another tenant")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(self.corrupt(&why));
        }
        self.tenant.get_or_insert_with(|| header.tenant.clone());
        self.next = header.index.next();
        self.epoch = header.epoch;
        self.hash = frame.hash;
        Ok(())
    }

    /// Says that the frame to come is wrong.
    pub fn corrupt(&self, why: &dyn std::fmt::Display) -> JournalCorruptError {
        JournalCorruptError {
            tree: self.tree,
            index: self.next,
            why: why.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::header;
    use crate::{FrameHeader, SealedFrame};

    fn after_first(change: impl FnOnce(&mut FrameHeader)) -> Result<(), JournalCorruptError> {
        let first = SealedFrame::seal(&header(0, 1, Digest::default()), b"a").unwrap();
        let mut second = header(1, 1, first.hash);
        change(&mut second);
        let second = SealedFrame::seal(&second, b"b").unwrap();
        let mut chain = Chain::empty(TreeId::from_u128(7));
        chain.read(&first.bytes).unwrap();
        chain.read(&second.bytes).map(|_| ())
    }

    // BAD INPUT 66, 68
    #[test]
    fn a_frame_that_does_not_fit_is_refused_with_its_index() {
        assert_eq!(after_first(|_| {}), Ok(()));
        assert_eq!(after_first(|next| next.epoch = Epoch::new(9)), Ok(()));
        type Change = fn(&mut FrameHeader);
        let wrong: [(&str, Change); 5] = [
            ("gap", |next| next.index = FrameIndex::new(2)),
            ("repeat", |next| next.index = FrameIndex::new(0)),
            ("fork", |next| next.previous = Digest::of(b"other")),
            ("lower epoch", |next| next.epoch = Epoch::NONE),
            ("foreign tree", |next| next.tree = TreeId::from_u128(8)),
        ];
        for (name, change) in wrong {
            let error = after_first(change).unwrap_err();
            assert_eq!(error.index, FrameIndex::new(1), "CHAIN-1: {name}");
        }
        let other_tenant = after_first(|next| next.tenant = Tenant::new("other"));
        assert!(other_tenant.is_err(), "CHAIN-1: foreign tenant");
    }
}
