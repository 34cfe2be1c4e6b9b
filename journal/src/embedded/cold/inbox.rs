//! Letters in redb.

use std::sync::Arc;

use leasehold_types::{BoxFuture, TreeId};
use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};

use super::{sealed, unsealed};
use crate::embedded::EmbeddedStore;
use crate::{Inbox, JournalError, Letter, LetterId, LetterSeq, Ring, StoredLetter};

/// Unsettled letters: tree and place, to checksum, id and body.
const LETTERS: TableDefinition<'_, (u128, u64), &[u8]> = TableDefinition::new("letters");
/// Every letter ever put: tree and id, to place.
const PLACES: TableDefinition<'_, (u128, u128), u64> = TableDefinition::new("letter_places");
/// The last place given: by tree.
const LAST_PLACES: TableDefinition<'_, u128, u64> = TableDefinition::new("letter_last_places");

pub(super) fn make_tables(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(LETTERS)?;
    transaction.open_table(PLACES)?;
    transaction.open_table(LAST_PLACES)?;
    Ok(())
}

fn put(transaction: &WriteTransaction, letter: &Letter) -> Result<LetterSeq, redb::Error> {
    let tree = letter.tree.as_u128();
    let mut places = transaction.open_table(PLACES)?;
    if let Some(place) = places.get((tree, letter.id.0))? {
        return Ok(LetterSeq(place.value()));
    }
    let mut last_places = transaction.open_table(LAST_PLACES)?;
    let last = last_places.get(tree)?.map_or(0, |place| place.value());
    let place = last + 1;
    last_places.insert(tree, place)?;
    places.insert((tree, letter.id.0), place)?;
    let mut value = letter.id.0.to_be_bytes().to_vec();
    value.extend_from_slice(&letter.body);
    let bytes = sealed(&owner(tree, place), &value);
    let mut letters = transaction.open_table(LETTERS)?;
    letters.insert((tree, place), bytes.as_slice())?;
    Ok(LetterSeq(place))
}

fn owner(tree: u128, place: u64) -> Vec<u8> {
    [&tree.to_be_bytes()[..], &place.to_be_bytes()].concat()
}

fn waiting_trees(transaction: &ReadTransaction) -> Result<Vec<TreeId>, redb::Error> {
    let letters = transaction.open_table(LETTERS)?;
    let mut trees = Vec::new();
    let mut next = Some(0);
    while let Some(from) = next {
        let Some(entry) = letters.range((from, 0)..)?.next() else {
            break;
        };
        let tree = entry?.0.value().0;
        trees.push(TreeId::from_u128(tree));
        next = tree.checked_add(1);
    }
    Ok(trees)
}

impl Inbox for EmbeddedStore {
    fn put(&self, letter: Letter) -> BoxFuture<'_, Result<LetterSeq, JournalError>> {
        Box::pin(async move {
            letter.check()?;
            let tree = letter.tree;
            let work = move |transaction: &WriteTransaction| put(transaction, &letter);
            let put = self.cold.change_and_ring(work, move |_, ring| ring(tree));
            Ok(put.await?)
        })
    }

    fn letters(
        &self,
        tree: TreeId,
        after: LetterSeq,
    ) -> BoxFuture<'_, Result<Vec<StoredLetter>, JournalError>> {
        let letters = self.cold.read(|transaction| {
            let table = transaction.open_table(LETTERS)?;
            let number = tree.as_u128();
            let mut letters = Vec::new();
            let Some(first) = after.0.checked_add(1) else {
                return Ok(letters);
            };
            for entry in table.range((number, first)..=(number, u64::MAX))? {
                let (key, bytes) = entry?;
                let seq = LetterSeq(key.value().1);
                letters.extend(read(tree, seq, bytes.value())?);
            }
            Ok(letters)
        });
        Box::pin(std::future::ready(letters))
    }

    fn settle(&self, tree: TreeId, seq: LetterSeq) -> BoxFuture<'_, Result<(), JournalError>> {
        Box::pin(async move {
            let settled = self.cold.change(move |transaction| {
                let mut letters = transaction.open_table(LETTERS)?;
                letters.remove((tree.as_u128(), seq.0))?;
                Ok(())
            });
            Ok(settled.await?)
        })
    }

    fn listen(&self, ring: Ring) {
        self.cold.set_ring(Arc::clone(&ring));
        // A store that cannot be read says so to the next who reads a letter.
        for tree in self.cold.read(waiting_trees).unwrap_or_default() {
            ring(tree);
        }
    }
}

fn read(tree: TreeId, seq: LetterSeq, bytes: &[u8]) -> Result<Option<StoredLetter>, redb::Error> {
    let value = unsealed(&owner(tree.as_u128(), seq.0), bytes)?;
    let Some((id, body)) = value.split_first_chunk::<16>() else {
        return Ok(None);
    };
    let letter = Letter {
        id: LetterId(u128::from_be_bytes(*id)),
        tree,
        body: body.to_vec(),
    };
    Ok(Some(StoredLetter { seq, letter }))
}
