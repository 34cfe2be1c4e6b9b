//! The cases of claims that race and of outcomes that are not what they seem: a writer never re-bases, one function decides.

use std::sync::Arc;

use leasehold_types::{Epoch, TreeId};

use super::journal::race;
use super::world::{SeededRandom, settle, started, summary, tree, write};
use crate::faulty::{AppendFault, AppendFaults, FaultyStore};
use crate::{
    AppendOutcome, Chain, Frame, Journal, JournalCorruptError, ReadBack, Store, Tail, Writer,
    append,
};

async fn claimer(journal: &dyn Journal, tree: TreeId, random: &SeededRandom) -> Writer {
    let read = journal.tail(tree).await.unwrap();
    let last = Frame::read(&read.last.unwrap().bytes).unwrap();
    Writer::claiming(&last, read.tail, random)
}

async fn bodies(journal: &dyn Journal, tree: TreeId) -> Vec<Vec<u8>> {
    let mut chain = Chain::empty(tree);
    let mut bodies = Vec::new();
    loop {
        let page = journal
            .read(tree, chain.next_index(), 100_000)
            .await
            .unwrap();
        if page.is_empty() {
            return bodies;
        }
        let frames: Result<Vec<Frame>, JournalCorruptError> = page
            .iter()
            .map(|stored| chain.read(&stored.bytes))
            .collect();
        bodies.extend(frames.unwrap().into_iter().map(|frame| frame.body));
    }
}

/// Case.
pub async fn of_two_claims_at_once_exactly_one_gets_the_epoch(store: Arc<dyn Store>) {
    let tree = tree("claims", 0);
    let random = SeededRandom::new(1);
    started(&*store, tree, &random).await;
    for round in 1..=1_000_u64 {
        let mut rivals = [
            claimer(&*store, tree, &random).await,
            claimer(&*store, tree, &random).await,
        ];
        let frames = rivals
            .iter_mut()
            .map(|rival| (rival.tail(), rival.seal(summary(), b"claimed").unwrap()))
            .collect();
        let outcomes = race(&store, frames).await;
        let read = store.tail(tree).await.unwrap();
        let mut won = 0;
        for (rival, outcome) in rivals.iter().zip(outcomes) {
            let back = rival.classify(&read);
            match outcome {
                AppendOutcome::Acked(tail) => {
                    won += 1;
                    assert_eq!(back, ReadBack::Landed(tail));
                }
                AppendOutcome::Refused => assert_ne!(back, ReadBack::Landed(read.tail)),
                AppendOutcome::Unknown(_) | AppendOutcome::Failed(_) => panic!("{outcome:?}"),
            }
        }
        assert_eq!(won, 1, "round {round}");
        let written = read.last_written().unwrap();
        assert_eq!(written.map(|written| written.0), Some(Epoch::new(round)));
    }
    assert_eq!(bodies(&*store, tree).await.len(), 1_001);
}

/// Case.
pub async fn a_writer_whose_tree_was_claimed_is_fenced_for_good(store: Arc<dyn Store>) {
    let tree = tree("fenced", 0);
    let random = SeededRandom::new(1);
    started(&*store, tree, &random).await;
    let mut old = claimer(&*store, tree, &random).await;
    write(&*store, &mut old, b"old claims").await;
    let mut new = claimer(&*store, tree, &random).await;
    old.seal(summary(), b"prepared before the claim").unwrap();
    write(&*store, &mut new, b"new claims").await;
    let fenced = ReadBack::Fenced { by: Epoch::new(2) };
    for _ in 0..3 {
        assert_eq!(settle(&*store, &mut old).await, fenced);
        write(&*store, &mut new, b"new goes on").await;
    }
    assert_eq!(bodies(&*store, tree).await.len(), 6);
}

async fn one_fault(
    store: &Arc<dyn Store>,
    name: &str,
    fault: AppendFault,
) -> (FaultyStore, Writer, TreeId) {
    let tree = tree(name, 0);
    let mut writer = started(&**store, tree, &SeededRandom::new(1)).await;
    writer.seal(summary(), b"hit").unwrap();
    let faults = AppendFaults::at([(1, fault)]);
    (FaultyStore::new(Arc::clone(store), faults), writer, tree)
}

#[track_caller]
fn landed(read: &ReadBack) -> Tail {
    match read {
        ReadBack::Landed(tail) => *tail,
        ReadBack::Fenced { .. } | ReadBack::NotYet | ReadBack::Corrupt(_) => panic!("{read:?}"),
    }
}

async fn stands_once(store: &Arc<dyn Store>, name: &str, fault: AppendFault) {
    let (faulty, mut writer, tree) = one_fault(store, name, fault).await;
    let tail = landed(&settle(&faulty, &mut writer).await);
    faulty.land_all().await;
    assert_eq!(store.tail(tree).await.unwrap().tail, tail);
    write(&faulty, &mut writer, b"next").await;
    let expected = [b"started".to_vec(), b"hit".to_vec(), b"next".to_vec()];
    assert_eq!(bodies(&**store, tree).await, expected);
}

/// Case.
pub async fn a_lost_ack_is_found_by_reading_back(store: Arc<dyn Store>) {
    stands_once(&store, "ack lost", AppendFault::AckLost).await;
}

/// Case.
pub async fn a_lost_append_is_sent_again_as_it_is(store: Arc<dyn Store>) {
    stands_once(&store, "lost", AppendFault::Lost).await;
}

/// Case.
pub async fn an_append_that_lands_late_is_found_and_stands_once(store: Arc<dyn Store>) {
    for reads in [1, 2, 5] {
        let name = format!("late {reads}");
        stands_once(&store, &name, AppendFault::LandsLate { reads }).await;
    }
}

/// Case.
pub async fn an_append_that_lands_late_under_a_claim_is_refused(store: Arc<dyn Store>) {
    let late = AppendFault::LandsLate { reads: 9 };
    let (faulty, mut old, tree) = one_fault(&store, "late and fenced", late).await;
    let frame = old.in_flight().unwrap().clone();
    let outcome = append(&faulty, old.tail(), frame).await;
    assert!(matches!(outcome, AppendOutcome::Unknown(_)));
    let mut new = claimer(&*store, tree, &SeededRandom::new(2)).await;
    write(&*store, &mut new, b"claimed").await;
    faulty.land_all().await;
    let fenced = ReadBack::Fenced { by: Epoch::new(1) };
    assert_eq!(settle(&faulty, &mut old).await, fenced);
    let expected = [b"started".to_vec(), b"claimed".to_vec()];
    assert_eq!(bodies(&*store, tree).await, expected);
}

/// Case.
pub async fn a_refusal_of_an_own_write_that_landed_is_an_ack(store: Arc<dyn Store>) {
    stands_once(&store, "own refused", AppendFault::OwnWriteRefused).await;
}

/// Case.
pub async fn an_undecided_append_is_sent_again_and_is_no_loss(store: Arc<dyn Store>) {
    stands_once(&store, "undecided", AppendFault::Undecided).await;
}

/// Case.
pub async fn a_foreign_frame_of_the_same_epoch_is_corruption_not_fencing(store: Arc<dyn Store>) {
    let tree = tree("foreign", 0);
    let mut writer = started(&*store, tree, &SeededRandom::new(1)).await;
    let mut foreign = Writer::starting(
        tree,
        writer.tenant().clone(),
        writer.tail(),
        &SeededRandom::new(2),
    );
    write(&*store, &mut foreign, b"foreign").await;
    writer.seal(summary(), b"own").unwrap();
    let read = settle(&*store, &mut writer).await;
    assert!(matches!(read, ReadBack::Corrupt(_)), "{read:?}");
}

/// Case.
pub async fn a_writer_under_any_faults_leaves_a_whole_chain(store: Arc<dyn Store>) {
    for seed in 0..8 {
        let tree = tree("any faults", seed);
        let mut writer = started(&*store, tree, &SeededRandom::new(seed)).await;
        let faulty = FaultyStore::new(Arc::clone(&store), AppendFaults::seeded(seed, 2));
        let mut expected = vec![b"started".to_vec()];
        for number in 0..60_u8 {
            writer.seal(summary(), &[number]).unwrap();
            landed(&settle(&faulty, &mut writer).await);
            expected.push(vec![number]);
        }
        faulty.land_all().await;
        assert_eq!(bodies(&*store, tree).await, expected, "seed {seed}");
    }
}
