//! The writer of one tree under one epoch: it seals frames onto its own acked tail and never re-bases.
//!
//! - WRITE-1: a writer's tail moves with its own acked frames and never otherwise.
//! - WRITE-2: while an append's outcome is unknown, no other frame is sealed.
//! - WRITE-3: what became of a frame that was refused or is unknown is decided in [`Writer::classify`] and nowhere else.

use leasehold_types::{
    Digest, Epoch, FencingToken, FrameId, FrameIndex, Random, Tenant, TreeId, TreeSummary,
};

use crate::{Frame, FrameError, FrameHeader, SealedFrame, Tail, TailRead};

/// What a read-back says of a frame whose append was refused or is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadBack {
    /// It is there: acked, with this tail after it.
    Landed(Tail),
    /// A higher epoch is there: this writer is done, for good.
    Fenced {
        /// The epoch that is there.
        by: Epoch,
    },
    /// Nothing new is there: still unknown, read again or send the same frame again.
    NotYet,
    /// A foreign frame of the same or a lower epoch is there, or bytes that are no frame.
    Corrupt(String),
}

/// Seals the frames of one tree under one epoch.
#[derive(Debug)]
pub struct Writer {
    token: FencingToken,
    tenant: Tenant,
    salt: Digest,
    tail: Tail,
    next: FrameIndex,
    hash: Digest,
    in_flight: Option<SealedFrame>,
}

impl Writer {
    /// The writer of a tree's first frame, which claims nothing: its epoch is [`Epoch::NONE`].
    #[must_use]
    pub fn starting(tree: TreeId, tenant: Tenant, seen: Tail, random: &dyn Random) -> Self {
        let token = FencingToken {
            tree,
            epoch: Epoch::NONE,
        };
        let next = FrameIndex::FIRST;
        Self::at(token, tenant, seen, next, Digest::default(), random)
    }

    /// The writer that claims a tree whose last frame is `last`, read at `seen`: its epoch is the next one.
    #[must_use]
    pub fn claiming(last: &Frame, seen: Tail, random: &dyn Random) -> Self {
        let header = &last.header;
        let token = FencingToken {
            tree: header.tree,
            epoch: header.epoch.next(),
        };
        let next = header.index.next();
        Self::at(token, header.tenant.clone(), seen, next, last.hash, random)
    }

    fn at(
        token: FencingToken,
        tenant: Tenant,
        tail: Tail,
        next: FrameIndex,
        hash: Digest,
        random: &dyn Random,
    ) -> Self {
        let chance = [
            random.next_u64().to_be_bytes(),
            random.next_u64().to_be_bytes(),
        ];
        let salt = Digest::of(chance.as_flattened());
        Self {
            token,
            tenant,
            salt,
            tail,
            next,
            hash,
            in_flight: None,
        }
    }

    /// The tree and the epoch it writes under.
    #[must_use]
    pub const fn token(&self) -> FencingToken {
        self.token
    }

    /// The tree's tenant.
    #[must_use]
    pub const fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// What the frame in flight, or the next one, must find as the tail.
    #[must_use]
    pub const fn tail(&self) -> Tail {
        self.tail
    }

    /// The index of the frame in flight, or of the next one.
    #[must_use]
    pub const fn next_index(&self) -> FrameIndex {
        self.next
    }

    /// The frame whose outcome is not known yet.
    #[must_use]
    pub const fn in_flight(&self) -> Option<&SealedFrame> {
        self.in_flight.as_ref()
    }

    /// Seals the next frame. It is in flight until [`Writer::acked`].
    ///
    /// # Errors
    /// The frame is too large; nothing changed.
    ///
    /// # Panics
    /// WRITE-2: another frame is in flight.
    pub fn seal(&mut self, summary: TreeSummary, body: &[u8]) -> Result<SealedFrame, FrameError> {
        assert!(self.in_flight.is_none(), "WRITE-2: one append in flight");
        let header = FrameHeader {
            tenant: self.tenant.clone(),
            tree: self.token.tree,
            index: self.next,
            epoch: self.token.epoch,
            id: FrameId::derived(self.salt, self.next.get()),
            previous: self.hash,
            body_hash: Digest::default(),
            summary,
        };
        let sealed = SealedFrame::seal(&header, body)?;
        self.in_flight = Some(sealed.clone());
        Ok(sealed)
    }

    /// Takes note that the frame in flight is durable, and returns its index.
    ///
    /// # Panics
    /// WRITE-1: no frame is in flight.
    pub fn acked(&mut self, tail: Tail) -> FrameIndex {
        assert!(
            self.in_flight.is_some(),
            "WRITE-1: an ack without a frame in flight"
        );
        let Some(frame) = self.in_flight.take() else {
            return self.next;
        };
        self.tail = tail;
        self.hash = frame.hash;
        self.next = frame.index.next();
        frame.index
    }

    /// Decides what became of the frame in flight, from the tail as it was read afterwards.
    #[must_use]
    pub fn classify(&self, read: &TailRead) -> ReadBack {
        let written = match read.last_written() {
            Ok(written) => written,
            Err(error) => return ReadBack::Corrupt(error.to_string()),
        };
        let own = self.in_flight.as_ref().map(|frame| frame.id);
        match written {
            Some((_, id)) if Some(id) == own => ReadBack::Landed(read.tail),
            _ if read.tail == self.tail => ReadBack::NotYet,
            Some((epoch, _)) if epoch > self.token.epoch => ReadBack::Fenced { by: epoch },
            Some((epoch, id)) => ReadBack::Corrupt(format!(
                "frame {id} of epoch {epoch} stands where epoch {} alone may write",
                self.token.epoch
            )),
            None => ReadBack::Corrupt("the tree's frames are gone".to_owned()),
        }
    }
}
