//! Letters in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_types::{BoxFuture, TreeId};

use crate::{
    Inbox, JournalError, Letter, LetterId, LetterSeq, MemoryStore, Ring, StoredLetter, unpoisoned,
};

/// One tree's letters.
#[derive(Default)]
pub(super) struct TreeInbox {
    /// The place of every letter ever put, so that none is stored a second time.
    places: BTreeMap<LetterId, LetterSeq>,
    unsettled: BTreeMap<LetterSeq, Letter>,
}

impl TreeInbox {
    fn put(&mut self, letter: Letter) -> LetterSeq {
        if let Some(seq) = self.places.get(&letter.id) {
            return *seq;
        }
        let seq = LetterSeq(self.places.len() as u64 + 1);
        self.places.insert(letter.id, seq);
        self.unsettled.insert(seq, letter);
        seq
    }

    fn after(&self, after: LetterSeq) -> Vec<StoredLetter> {
        let later = self.unsettled.iter().filter(|(seq, _)| **seq > after);
        later
            .map(|(seq, letter)| StoredLetter {
                seq: *seq,
                letter: letter.clone(),
            })
            .collect()
    }
}

impl Inbox for MemoryStore {
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>> {
        let tree = letter.tree;
        if let Err(error) = letter.check() {
            return super::ready(Err(error));
        }
        let seq = {
            let mut state = unpoisoned(&self.state);
            state.inboxes.entry(tree).or_default().put(letter)
        };
        let ring = unpoisoned(&self.ring).clone();
        if let Some(ring) = ring {
            ring(tree);
        }
        super::ready(Ok(seq))
    }

    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>> {
        let state = unpoisoned(&self.state);
        let letters = state.inboxes.get(&tree).map(|inbox| inbox.after(after));
        super::ready(Ok(letters.unwrap_or_default()))
    }

    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>> {
        if let Some(inbox) = unpoisoned(&self.state).inboxes.get_mut(&tree) {
            inbox.unsettled.remove(&seq);
        }
        super::ready(Ok(()))
    }

    fn listen(&self, ring: Ring) {
        *unpoisoned(&self.ring) = Some(Arc::clone(&ring));
        let waiting: Vec<TreeId> = {
            let state = unpoisoned(&self.state);
            let inboxes = state.inboxes.iter();
            inboxes
                .filter(|(_, inbox)| !inbox.unsettled.is_empty())
                .map(|(tree, _)| *tree)
                .collect()
        };
        for tree in waiting {
            ring(tree);
        }
    }
}
