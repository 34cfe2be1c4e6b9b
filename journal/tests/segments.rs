//! Segments that are full to their last byte: the log goes on behind them for whoever writes, follows and opens it.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use leasehold_journal::contract::block_on;
use leasehold_journal::embedded::{EmbeddedStore, StoreWarning};
use leasehold_journal::{FollowCursor, Journal, Writer};
use support::{Image, bodies, fast_directory, open, tree, write_acked, writer};

const SEGMENT_BYTES: usize = 512 * 1_024;
/// Records of 1,024 bytes that a segment holds behind its first page.
const RECORDS: usize = SEGMENT_BYTES / 1_024 - 4;
/// The frame of a record of 1,024 bytes, which needs no padding.
const FRAME_BYTES: usize = 935;

/// A body whose frame has [`FRAME_BYTES`].
fn body() -> Vec<u8> {
    let directory = fast_directory();
    let store = open(directory.path()).store;
    write_acked(&store, &mut writer(&store, tree(0), 0), b"");
    let last = block_on(store.tail(tree(0))).unwrap().last.unwrap();
    vec![b'x'; FRAME_BYTES - last.bytes.len()]
}

/// Fills the first segment with frames of one tree.
fn fill(store: &EmbeddedStore, body: &[u8]) -> Writer {
    let mut writer = writer(store, tree(0), 0);
    for _ in 0..RECORDS {
        write_acked(store, &mut writer, body);
    }
    writer
}

#[test]
fn a_follower_goes_on_behind_a_segment_that_is_full_to_its_last_byte() {
    let (directory, body) = (fast_directory(), body());
    let store = open(directory.path()).store;
    let mut cursor = block_on(store.follow(FollowCursor::default()))
        .unwrap()
        .next;
    let mut writer = fill(&store, &body);
    let mut followed = 0;
    while followed < RECORDS {
        let page = block_on(store.follow(cursor)).unwrap();
        (cursor, followed) = (page.next, followed + page.heads.len());
    }
    assert_eq!(Image::of(directory.path()).used(), SEGMENT_BYTES);
    write_acked(&store, &mut writer, b"behind");
    let page = block_on(store.follow(cursor)).unwrap();
    assert_eq!(page.heads.len(), 1);
}

#[test]
fn a_log_that_ends_with_its_segment_is_opened_and_gone_on_with_after_a_crash() {
    let (directory, body) = (fast_directory(), body());
    let store = open(directory.path()).store;
    let mut filled = fill(&store, &body);
    let ends_with_it = Image::of(directory.path());
    write_acked(&store, &mut filled, b"behind");
    for (mut image, frames) in [
        (ends_with_it, RECORDS),
        (Image::of(directory.path()), RECORDS + 1),
    ] {
        assert_eq!(image.used(), SEGMENT_BYTES);
        let (directory, opened) = image.open();
        let opened = opened.unwrap();
        let is_whole = |warning: &StoreWarning| {
            !matches!(
                warning,
                StoreWarning::TornTail { .. } | StoreWarning::Damage { .. }
            )
        };
        assert!(
            opened.warnings.iter().all(is_whole),
            "{:?}",
            opened.warnings
        );
        let cursor = block_on(opened.store.follow(FollowCursor::default())).unwrap();
        let mut again = writer(&opened.store, tree(0), 1);
        write_acked(&opened.store, &mut again, b"after");
        let page = block_on(opened.store.follow(cursor.next)).unwrap();
        assert_eq!(page.heads.len(), 1);
        let (_directory, again) = Image::of(directory.path()).open();
        let found = bodies(&again.unwrap().store, tree(0)).unwrap();
        assert_eq!(found.len(), frames + 1);
    }
}
