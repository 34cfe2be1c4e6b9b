//! What every backend must do: one suite per trait, run against each of them.
//!
//! A backend's test file hands [`store_contract!`](crate::store_contract) a function that makes a store, runs one case on it and cleans up.
//! The cases assume nothing about how trees lie in the store, and nothing of a runtime; each uses trees and keys of its own names.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a case fails by panicking, like any test"
)]

mod blobs;
mod inbox;
mod journal;
mod keys;
mod outcomes;
mod world;

pub use blobs::*;
pub use inbox::*;
pub use journal::*;
pub use keys::*;
pub use outcomes::*;
pub use world::{SeededRandom, block_on, settle, started, summary, tree};

/// Makes one test of each case of the suite. Takes a function `fn run(case)` that makes an empty store, runs
/// `case(store: Arc<dyn Store>)`, a future, to its end, and cleans up.
#[macro_export]
macro_rules! store_contract {
    ($run:path) => {
        // CONTRACT R3
        #[test]
        fn at_most_one_append_wins_on_one_tail() {
            $run($crate::contract::at_most_one_append_wins_on_one_tail);
        }
        #[test]
        fn an_acked_append_is_seen_by_every_read_that_begins_later() {
            $run($crate::contract::an_acked_append_is_seen_by_every_read_that_begins_later);
        }
        #[test]
        fn a_refused_append_changes_nothing() {
            $run($crate::contract::a_refused_append_changes_nothing);
        }
        #[test]
        fn a_tree_without_frames_has_an_empty_tail() {
            $run($crate::contract::a_tree_without_frames_has_an_empty_tail);
        }
        #[test]
        fn a_journal_is_read_in_order_page_by_page_from_any_index() {
            $run($crate::contract::a_journal_is_read_in_order_page_by_page_from_any_index);
        }
        #[test]
        fn trees_do_not_disturb_each_other() {
            $run($crate::contract::trees_do_not_disturb_each_other);
        }
        #[test]
        fn a_scan_tells_the_last_header_of_every_tree_in_the_order_of_their_ids() {
            $run($crate::contract::a_scan_tells_the_last_header_of_every_tree_in_the_order_of_their_ids);
        }
        #[test]
        fn a_follower_misses_nothing_between_its_first_cursor_and_its_pages() {
            $run($crate::contract::a_follower_misses_nothing_between_its_first_cursor_and_its_pages);
        }
        #[test]
        fn a_follower_waits_until_something_is_appended() {
            $run($crate::contract::a_follower_waits_until_something_is_appended);
        }
        #[test]
        fn the_largest_frame_there_may_be_is_kept_whole() {
            $run($crate::contract::the_largest_frame_there_may_be_is_kept_whole);
        }
        // CONTRACT R1, R3
        // RELIABILITY L24
        #[test]
        fn of_two_claims_at_once_exactly_one_gets_the_epoch() {
            $run($crate::contract::of_two_claims_at_once_exactly_one_gets_the_epoch);
        }
        // CONTRACT R3
        #[test]
        fn a_writer_whose_tree_was_claimed_is_fenced_for_good() {
            $run($crate::contract::a_writer_whose_tree_was_claimed_is_fenced_for_good);
        }
        #[test]
        fn a_lost_ack_is_found_by_reading_back() {
            $run($crate::contract::a_lost_ack_is_found_by_reading_back);
        }
        #[test]
        fn a_lost_append_is_sent_again_as_it_is() {
            $run($crate::contract::a_lost_append_is_sent_again_as_it_is);
        }
        #[test]
        fn an_append_that_lands_late_is_found_and_stands_once() {
            $run($crate::contract::an_append_that_lands_late_is_found_and_stands_once);
        }
        #[test]
        fn an_append_that_lands_late_under_a_claim_is_refused() {
            $run($crate::contract::an_append_that_lands_late_under_a_claim_is_refused);
        }
        #[test]
        fn a_refusal_of_an_own_write_that_landed_is_an_ack() {
            $run($crate::contract::a_refusal_of_an_own_write_that_landed_is_an_ack);
        }
        #[test]
        fn an_undecided_append_is_sent_again_and_is_no_loss() {
            $run($crate::contract::an_undecided_append_is_sent_again_and_is_no_loss);
        }
        // BAD INPUT 66
        #[test]
        fn a_foreign_frame_of_the_same_epoch_is_corruption_not_fencing() {
            $run($crate::contract::a_foreign_frame_of_the_same_epoch_is_corruption_not_fencing);
        }
        #[test]
        fn a_writer_under_any_faults_leaves_a_whole_chain() {
            $run($crate::contract::a_writer_under_any_faults_leaves_a_whole_chain);
        }
        #[test]
        fn letters_come_in_order_after_a_cursor() {
            $run($crate::contract::letters_come_in_order_after_a_cursor);
        }
        #[test]
        fn a_letter_put_again_is_stored_once_even_after_it_was_settled() {
            $run($crate::contract::a_letter_put_again_is_stored_once_even_after_it_was_settled);
        }
        #[test]
        fn a_settled_letter_does_not_come_back() {
            $run($crate::contract::a_settled_letter_does_not_come_back);
        }
        #[test]
        fn the_bell_rings_for_each_letter_and_for_those_that_wait_already() {
            $run($crate::contract::the_bell_rings_for_each_letter_and_for_those_that_wait_already);
        }
        #[test]
        fn a_letter_over_the_limit_is_refused() {
            $run($crate::contract::a_letter_over_the_limit_is_refused);
        }
        #[test]
        fn a_key_is_written_by_compare_and_set() {
            $run($crate::contract::a_key_is_written_by_compare_and_set);
        }
        #[test]
        fn of_many_writers_of_an_absent_key_one_wins() {
            $run($crate::contract::of_many_writers_of_an_absent_key_one_wins);
        }
        #[test]
        fn a_key_that_has_expired_is_absent_and_its_revision_never_comes_again() {
            $run($crate::contract::a_key_that_has_expired_is_absent_and_its_revision_never_comes_again);
        }
        #[test]
        fn a_key_is_deleted_only_at_its_revision() {
            $run($crate::contract::a_key_is_deleted_only_at_its_revision);
        }
        #[test]
        fn a_key_or_value_over_the_limit_is_refused() {
            $run($crate::contract::a_key_or_value_over_the_limit_is_refused);
        }
        #[test]
        fn a_blob_reads_back_by_tree_and_hash() {
            $run($crate::contract::a_blob_reads_back_by_tree_and_hash);
        }
        // BAD INPUT 70
        #[test]
        fn a_blob_that_is_not_there_is_unavailable() {
            $run($crate::contract::a_blob_that_is_not_there_is_unavailable);
        }
        #[test]
        fn the_blobs_of_one_tree_are_deleted_together() {
            $run($crate::contract::the_blobs_of_one_tree_are_deleted_together);
        }
        #[test]
        fn a_blob_over_the_limit_is_refused() {
            $run($crate::contract::a_blob_over_the_limit_is_refused);
        }
    };
}
