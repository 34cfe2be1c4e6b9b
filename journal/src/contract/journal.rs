//! The cases of the `Journal` trait.

use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::task::{Context, Waker};

use futures_util::future::join_all;
use leasehold_types::{FrameIndex, Tenant, TreeId};

use super::world::{SeededRandom, started, summary, tree, write};
use crate::reply::{Reply, channel};
use crate::{
    AppendOutcome, Chain, FRAME_BYTES_MAX, FollowCursor, Journal, SealedFrame, Store, Tail, Writer,
    append,
};

/// Appends frames at the same moment, each from a thread of its own.
pub(super) async fn race(
    store: &Arc<dyn Store>,
    frames: Vec<(Tail, SealedFrame)>,
) -> Vec<AppendOutcome> {
    let barrier = Barrier::new(frames.len());
    let replies: Vec<Reply<AppendOutcome>> = std::thread::scope(|scope| {
        let threads: Vec<_> = frames
            .into_iter()
            .map(|(expected, frame)| {
                let barrier = &barrier;
                scope.spawn(move || {
                    let (sender, reply) = channel();
                    barrier.wait();
                    store.append(
                        expected,
                        frame,
                        Box::new(move |outcome| sender.send(outcome)),
                    );
                    reply
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    let outcomes = join_all(replies).await;
    outcomes.into_iter().map(Option::unwrap).collect()
}

async fn read_all(journal: &dyn Journal, tree: TreeId, bytes_max: usize) -> Vec<Vec<u8>> {
    let mut chain = Chain::empty(tree);
    let mut bodies = Vec::new();
    loop {
        let page = journal
            .read(tree, chain.next_index(), bytes_max)
            .await
            .unwrap();
        if page.is_empty() {
            return bodies;
        }
        for stored in page {
            bodies.push(chain.read(&stored.bytes).unwrap().body);
        }
    }
}

/// Case.
pub async fn at_most_one_append_wins_on_one_tail(store: Arc<dyn Store>) {
    let tree = tree("one winner", 0);
    for round in 0..50 {
        let seen = store.tail(tree).await.unwrap();
        let frames = (0..6)
            .map(|number| {
                let random = SeededRandom::new(round * 100 + number);
                let mut writer = Writer::starting(tree, Tenant::default(), seen.tail, &random);
                (seen.tail, writer.seal(summary(), b"race").unwrap())
            })
            .collect::<Vec<_>>();
        let ids: Vec<_> = frames.iter().map(|(_, frame)| frame.id).collect();
        let outcomes = race(&store, frames).await;
        let winners: Vec<_> = ids
            .iter()
            .zip(&outcomes)
            .filter(|(_, outcome)| matches!(outcome, AppendOutcome::Acked(_)))
            .collect();
        assert_eq!(winners.len(), 1, "round {round}: {outcomes:?}");
        let refused = outcomes.iter().filter(|o| **o == AppendOutcome::Refused);
        assert_eq!(refused.count(), 5, "round {round}: {outcomes:?}");
        let last = store.tail(tree).await.unwrap();
        assert_eq!(last.last_written().unwrap().unwrap().1, *winners[0].0);
        assert_eq!(*winners[0].1, AppendOutcome::Acked(last.tail));
    }
}

/// Case.
pub async fn an_acked_append_is_seen_by_every_read_that_begins_later(store: Arc<dyn Store>) {
    let tree = tree("never stale", 0);
    let mut writer = started(&*store, tree, &SeededRandom::new(1)).await;
    for _ in 0..200 {
        let frame = writer.seal(summary(), b"x").unwrap();
        let index = frame.index;
        let AppendOutcome::Acked(acked) = append(&*store, writer.tail(), frame.clone()).await
        else {
            panic!("not acked");
        };
        writer.acked(acked);
        let read = store.tail(tree).await.unwrap();
        assert_eq!(read.tail, acked);
        assert_eq!(read.last.unwrap().bytes, frame.bytes);
        let page = store.read(tree, index, 1).await.unwrap();
        assert_eq!(page.len(), 1);
        assert_eq!(page[0].bytes, frame.bytes);
    }
}

/// Case.
pub async fn a_refused_append_changes_nothing(store: Arc<dyn Store>) {
    let tree = tree("refused", 0);
    let empty = store.tail(tree).await.unwrap().tail;
    let mut writer = started(&*store, tree, &SeededRandom::new(1)).await;
    let first = writer.tail();
    write(&*store, &mut writer, b"second").await;
    for stale in [empty, first] {
        let random = SeededRandom::new(9);
        let mut late = Writer::starting(tree, Tenant::default(), stale, &random);
        let frame = late.seal(summary(), b"late").unwrap();
        assert_eq!(append(&*store, stale, frame).await, AppendOutcome::Refused);
    }
    assert_eq!(store.tail(tree).await.unwrap().tail, writer.tail());
    let bodies = read_all(&*store, tree, usize::MAX).await;
    assert_eq!(bodies, [b"started".to_vec(), b"second".to_vec()]);
}

/// Case.
pub async fn a_tree_without_frames_has_an_empty_tail(store: Arc<dyn Store>) {
    let tree = tree("absent", 0);
    let read = store.tail(tree).await.unwrap();
    assert_eq!((read.tail, read.last), (Tail::at(tree, 0), None));
    let page = store.read(tree, FrameIndex::FIRST, 1).await.unwrap();
    assert!(page.is_empty());
}

/// Case.
pub async fn a_journal_is_read_in_order_page_by_page_from_any_index(store: Arc<dyn Store>) {
    let tree = tree("paging", 0);
    let mut writer = started(&*store, tree, &SeededRandom::new(1)).await;
    let mut expected = vec![b"started".to_vec()];
    for number in 1..300_usize {
        let body = vec![u8::try_from(number % 251).unwrap(); number * 7 % 900];
        write(&*store, &mut writer, &body).await;
        expected.push(body);
    }
    for bytes_max in [0, 1, 3_000, 100_000, usize::MAX] {
        assert_eq!(
            read_all(&*store, tree, bytes_max).await,
            expected,
            "{bytes_max}"
        );
    }
    for from in [1, 63, 64, 65, 127, 128, 200, 299] {
        let page = store
            .read(tree, FrameIndex::new(from), usize::MAX)
            .await
            .unwrap();
        let header = crate::FrameHeader::read(&page[0].bytes).unwrap().0;
        assert_eq!(header.index, FrameIndex::new(from));
    }
    for from in [300, 301, u64::MAX] {
        let page = store.read(tree, FrameIndex::new(from), 1).await.unwrap();
        assert!(page.is_empty(), "{from}");
    }
    let page = store.read(tree, FrameIndex::FIRST, 3_000).await.unwrap();
    let bytes: usize = page.iter().map(|frame| frame.bytes.len()).sum();
    assert!(
        page.len() > 1 && bytes < 6_000,
        "a page has about the size asked for"
    );
}

/// Case.
pub async fn trees_do_not_disturb_each_other(store: Arc<dyn Store>) {
    let random = SeededRandom::new(1);
    let mut writers = Vec::new();
    for number in 0..64 {
        writers.push(started(&*store, tree("neighbours", number), &random).await);
    }
    for round in 0..10_u8 {
        let body = [round];
        let rounds = writers
            .iter_mut()
            .map(|writer| write(&*store, writer, &body));
        join_all(rounds).await;
    }
    for writer in &writers {
        let bodies = read_all(&*store, writer.token().tree, 2_000).await;
        let expected: Vec<Vec<u8>> = (0..10).map(|round| vec![round]).collect();
        assert_eq!(bodies[1..], expected);
    }
}

/// Case.
pub async fn a_scan_tells_the_last_header_of_every_tree_in_the_order_of_their_ids(
    store: Arc<dyn Store>,
) {
    let random = SeededRandom::new(1);
    let ours: Vec<TreeId> = (0..25).map(|number| tree("scan", number)).collect();
    for (number, tree) in ours.iter().rev().enumerate() {
        let mut writer = started(&*store, *tree, &random).await;
        for _ in 0..number % 3 {
            write(&*store, &mut writer, b"more").await;
        }
    }
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.scan(after, 7).await.unwrap();
        assert!(page.len() <= 7);
        let Some(last) = page.last() else { break };
        after = Some(last.header.tree);
        found.extend(page.into_iter().map(|head| head.header));
    }
    assert!(found.is_sorted_by_key(|header| header.tree));
    found.retain(|header| ours.contains(&header.tree));
    let expected: Vec<_> = ours
        .iter()
        .rev()
        .enumerate()
        .map(|(number, tree)| (*tree, FrameIndex::new(number as u64 % 3)))
        .rev()
        .collect();
    let found: Vec<_> = found
        .iter()
        .map(|header| (header.tree, header.index))
        .collect();
    assert_eq!(found, expected);
}

/// Case.
pub async fn a_follower_misses_nothing_between_its_first_cursor_and_its_pages(
    store: Arc<dyn Store>,
) {
    let random = SeededRandom::new(1);
    let mut before = started(&*store, tree("follow", 0), &random).await;
    let first = store.follow(FollowCursor::default()).await.unwrap();
    assert!(first.heads.is_empty());
    write(&*store, &mut before, b"more").await;
    for number in 1..40 {
        let mut writer = started(&*store, tree("follow", number), &random).await;
        write(&*store, &mut writer, b"more").await;
    }
    let mut last = std::collections::BTreeMap::new();
    let mut order = Vec::new();
    let mut cursor = first.next;
    while last.len() < 40 || last.values().any(|index| *index != FrameIndex::new(1)) {
        let page = store.follow(cursor).await.unwrap();
        assert!(!page.heads.is_empty());
        for head in page.heads {
            let seen = last.insert(head.header.tree, head.header.index);
            assert!(seen < Some(head.header.index), "in the order of appending");
            order.push(head.header.tree);
        }
        cursor = page.next;
    }
    order.dedup();
    let expected: Vec<_> = (0..40).map(|number| tree("follow", number)).collect();
    assert_eq!(order, expected);
}

/// Case.
pub async fn a_follower_waits_until_something_is_appended(store: Arc<dyn Store>) {
    let random = SeededRandom::new(1);
    let cursor = store.follow(FollowCursor::default()).await.unwrap().next;
    let mut context = Context::from_waker(Waker::noop());
    for number in 0..3 {
        {
            let mut waiting = pin!(store.follow(cursor));
            assert!(waiting.as_mut().poll(&mut context).is_pending() || number > 0);
        }
        let name = tree("waiting", number);
        started(&*store, name, &random).await;
        let page = store.follow(cursor).await.unwrap();
        let trees: Vec<_> = page.heads.iter().map(|head| head.header.tree).collect();
        let expected: Vec<_> = (0..=number).map(|number| tree("waiting", number)).collect();
        assert_eq!(trees, expected, "a dropped follower starts where it stood");
    }
}

/// Case.
pub async fn the_largest_frame_there_may_be_is_kept_whole(store: Arc<dyn Store>) {
    let tree = tree("largest", 0);
    let mut writer = started(&*store, tree, &SeededRandom::new(1)).await;
    let mut probe = Writer::starting(
        tree,
        Tenant::default(),
        writer.tail(),
        &SeededRandom::new(2),
    );
    let header_bytes = probe.seal(summary(), b"").unwrap().bytes.len();
    let body: Vec<u8> = (0..FRAME_BYTES_MAX - header_bytes)
        .map(|at| u8::try_from(at % 253).unwrap())
        .collect();
    write(&*store, &mut writer, &body).await;
    write(&*store, &mut writer, b"after").await;
    let bodies = read_all(&*store, tree, 1).await;
    assert!(bodies[1] == body && bodies[2] == b"after");
}
