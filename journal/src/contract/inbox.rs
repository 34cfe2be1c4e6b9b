//! The cases of the `Inbox` trait.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_types::TreeId;

use super::world::tree;
use crate::{Inbox, JournalError, Letter, LetterId, LetterSeq, Ring, Store};

fn letter(tree: TreeId, id: u128) -> Letter {
    let id = LetterId(tree.as_u128() ^ id);
    let body = format!("letter {}", id.0).into_bytes();
    Letter { id, tree, body }
}

async fn waiting(inbox: &dyn Inbox, tree: TreeId) -> Vec<Letter> {
    let letters = inbox.letters(tree, LetterSeq::default()).await.unwrap();
    letters.into_iter().map(|stored| stored.letter).collect()
}

/// Case.
pub async fn letters_come_in_order_after_a_cursor(store: Arc<dyn Store>) {
    let (tree, other) = (tree("letters", 0), tree("letters", 1));
    let mut places = Vec::new();
    for id in 1..=5 {
        places.push(store.put(letter(tree, id)).await.unwrap());
        store.put(letter(other, id)).await.unwrap();
    }
    assert!(places.is_sorted() && places[0] > LetterSeq::default());
    for (count, place) in places.iter().enumerate() {
        let later = store.letters(tree, *place).await.unwrap();
        let later: Vec<_> = later.iter().map(|stored| stored.seq).collect();
        assert_eq!(later, places[count + 1..]);
    }
    let expected: Vec<_> = (1..=5).map(|id| letter(tree, id)).collect();
    assert_eq!(waiting(&*store, tree).await, expected);
}

/// Case.
pub async fn a_letter_put_again_is_stored_once_even_after_it_was_settled(store: Arc<dyn Store>) {
    let tree = tree("again", 0);
    let at_once = (0..8).map(|_| store.put(letter(tree, 1)));
    let places = join_all(at_once).await;
    let first = places[0].clone().unwrap();
    assert!(places.into_iter().all(|place| place == Ok(first)));
    let second = store.put(letter(tree, 2)).await.unwrap();
    store.settle(tree, first).await.unwrap();
    assert_eq!(store.put(letter(tree, 1)).await, Ok(first));
    assert_eq!(store.put(letter(tree, 2)).await, Ok(second));
    assert_eq!(waiting(&*store, tree).await, [letter(tree, 2)]);
}

/// Case.
pub async fn a_settled_letter_does_not_come_back(store: Arc<dyn Store>) {
    let tree = tree("settled", 0);
    let first = store.put(letter(tree, 1)).await.unwrap();
    let second = store.put(letter(tree, 2)).await.unwrap();
    store.settle(tree, first).await.unwrap();
    store.settle(tree, first).await.unwrap();
    store.settle(tree, LetterSeq(u64::MAX)).await.unwrap();
    assert_eq!(waiting(&*store, tree).await, [letter(tree, 2)]);
    store.settle(tree, second).await.unwrap();
    assert_eq!(waiting(&*store, tree).await, []);
    let third = store.put(letter(tree, 3)).await.unwrap();
    assert!(third > second, "a place is never given twice");
}

fn bell() -> (Ring, Receiver<TreeId>) {
    let (rung, heard) = std::sync::mpsc::channel();
    // Who no longer listens misses nothing: the next listener is told of what waits.
    let ring: Ring = Arc::new(move |tree| rung.send(tree).unwrap_or(()));
    (ring, heard)
}

/// Listens until all have been heard of, and says what was heard.
#[track_caller]
fn hear(bell: &Receiver<TreeId>, expected: &[TreeId]) -> BTreeSet<TreeId> {
    let mut heard = BTreeSet::new();
    while !expected.iter().all(|tree| heard.contains(tree)) {
        match bell.recv_timeout(Duration::from_secs(10)) {
            Ok(tree) => heard.insert(tree),
            Err(_) => panic!("heard {heard:?}, expected {expected:?}"),
        };
    }
    heard
}

/// Case.
pub async fn the_bell_rings_for_each_letter_and_for_those_that_wait_already(store: Arc<dyn Store>) {
    let [waits, settled, later] = [0, 1, 2].map(|number| tree("bell", number));
    store.put(letter(waits, 1)).await.unwrap();
    let place = store.put(letter(settled, 1)).await.unwrap();
    store.settle(settled, place).await.unwrap();
    let (ring, first) = bell();
    store.listen(ring);
    store.put(letter(later, 1)).await.unwrap();
    assert!(!hear(&first, &[waits, later]).contains(&settled));
    let (ring, second) = bell();
    store.listen(ring);
    store.put(letter(settled, 2)).await.unwrap();
    hear(&second, &[waits, settled, later]);
}

/// Case.
pub async fn a_letter_over_the_limit_is_refused(store: Arc<dyn Store>) {
    let tree = tree("letter limit", 0);
    let sized = |id, bytes| Letter {
        body: vec![7; bytes],
        ..letter(tree, id)
    };
    let refused = store.put(sized(1, Letter::BYTES_MAX + 1)).await;
    assert!(matches!(refused, Err(JournalError::TooLarge { .. })));
    store.put(sized(2, Letter::BYTES_MAX)).await.unwrap();
    let kept = waiting(&*store, tree).await;
    assert_eq!(kept, [sized(2, Letter::BYTES_MAX)]);
}
