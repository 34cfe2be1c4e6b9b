//! The contract suite of lease stores: what every backend holds, with and without faults.
//!
//! A backend implements [`Fixture`] and expands [`crate::lease_contract_tests!`]; each case is then a test of its own.
//! The tag above a case names what each of these tests proves.
//! The cases assume no empty store: they use trees that nobody else has.

#![expect(
    clippy::missing_panics_doc,
    reason = "a contract case fails as a test fails"
)]

mod faults;
mod keys;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leasehold_types::{BootId, BoxFuture, Clock, InstanceId, Random, TreeId, seconds};

use crate::{
    Claim, ClaimOutcome, ClaimToken, Holder, LeaseStore, OpenOutcome, OpenSession, Release,
    Revision, Session, claim_one,
};

pub use faults::*;
pub use keys::*;
pub use sessions::*;

/// One backend under test.
pub trait Fixture: Send + Sync {
    /// The store.
    fn store(&self) -> Arc<dyn LeaseStore>;
    /// The clock the store sends by.
    fn clock(&self) -> Arc<dyn Clock>;
    /// Numbers no other fixture on the same server has.
    fn random(&self) -> &dyn Random;
    /// Lets time pass on the store's clock.
    fn pass(&self, time: Duration) -> BoxFuture<'_, ()>;
    /// Puts an owner key on `tree` whose value is not one of ours and which hangs on no session.
    fn plant_unreadable(&self, tree: TreeId) -> BoxFuture<'_, ()>;
}

/// The TTL the cases open sessions with: long enough for a slow disk.
pub const TTL: Duration = seconds(15);

/// Names, trees and sessions for one case.
struct Case<'a> {
    fixture: &'a dyn Fixture,
    store: Arc<dyn LeaseStore>,
    made: AtomicU64,
}

impl<'a> Case<'a> {
    fn of(fixture: &'a dyn Fixture) -> Self {
        Self {
            fixture,
            store: fixture.store(),
            made: AtomicU64::new(0),
        }
    }

    /// A tree nobody has.
    fn tree(&self) -> TreeId {
        let random = self.fixture.random();
        let made = self.made.fetch_add(1, Ordering::Relaxed);
        TreeId::from_u128((u128::from(random.next_u64()) << 64) | u128::from(made))
    }

    fn holder(&self, instance: &str) -> Holder {
        Holder {
            instance: InstanceId::new(instance),
            boot: BootId::new(self.fixture.random()),
        }
    }

    fn claim(&self, tree: TreeId) -> Claim {
        let token = ClaimToken::new(self.fixture.random());
        Claim { tree, token }
    }

    /// A session of a new start of `instance`.
    async fn session(&self, instance: &str) -> Session {
        let open = OpenSession {
            holder: self.holder(instance),
            ttl: TTL,
            card: vec![],
        };
        match self.store.open_session(open).await {
            OpenOutcome::Opened { session, .. } => session,
            other @ (OpenOutcome::Unknown(_) | OpenOutcome::Refused(_)) => {
                unexpected("a session", &other)
            }
        }
    }

    /// Claims a tree that is free.
    async fn won(&self, session: &Session, claim: Claim) -> Release {
        let outcome = claim_one(&*self.store, session, claim).await;
        Release {
            tree: claim.tree,
            create_revision: revision_of(&outcome),
        }
    }

    /// The create revision of a tree's key as the store shows it.
    async fn seen(&self, tree: TreeId) -> Option<Revision> {
        let listing = self.store.holder(tree).await;
        let listing = listing.unwrap_or_else(|error| unexpected("the holder", &error));
        Some(listing.owners.get(&tree)?.create_revision)
    }
}

fn revision_of(outcome: &ClaimOutcome) -> Revision {
    match outcome {
        ClaimOutcome::Claimed { create_revision } => *create_revision,
        ClaimOutcome::Held(_) | ClaimOutcome::Unknown(_) | ClaimOutcome::SessionGone => {
            unexpected("a claim that won", outcome)
        }
    }
}

#[expect(clippy::panic, reason = "a contract case fails as a test fails")]
fn unexpected(wanted: &str, got: &dyn std::fmt::Debug) -> ! {
    panic!("expected {wanted}, got {got:?}")
}

/// Expands to one test for each case of the contract: `run` drives a future to its end, `make` gives a [`Fixture`].
#[macro_export]
macro_rules! lease_contract_tests {
    ($run:path, $make:path) => {
        $crate::lease_contract_tests! { @each $run, $make,
            two_starts_of_one_instance_are_two_holders
            two_claims_of_one_holder_are_told_apart_by_their_tokens
            a_stale_release_frees_nothing
            of_many_claims_at_once_exactly_one_wins
            a_claim_repeated_with_its_token_is_recognised
            a_release_repeated_is_released
            in_a_batch_a_taken_key_refuses_no_other
            a_tree_named_twice_in_a_batch_is_claimed_once
            create_revisions_rise_with_each_ownership
            a_list_shows_its_scope_and_its_revision
            a_feed_shows_claims_and_frees_of_its_scope_in_order
            an_unreadable_owner_key_is_held_by_somebody_unknown
            the_end_of_a_session_frees_its_keys_and_ends_its_rights
            revoking_twice_is_revoked
            a_renewal_counts_from_before_it_was_asked
            a_session_ends_by_its_ttl_only_where_sessions_run_out
            sessions_are_listed_with_their_cards
            a_card_over_the_limit_is_refused
            a_claim_whose_answer_was_lost_is_recognised_by_its_token
            a_claim_that_lands_late_does_not_displace_a_winner
            a_claim_that_lands_after_it_was_given_up_is_swept_and_given_back
            a_release_whose_outcome_is_unknown_is_repeated_without_harm
            a_renewal_answered_with_no_time_left_is_the_loss_of_all_trees
            a_renewal_without_an_answer_confirms_nothing
            a_list_older_than_the_claim_takes_nothing_away
            what_a_feed_lost_a_list_shows
        }
    };
    (@each $run:path, $make:path, $($case:ident)*) => {
        $(
            #[test]
            fn $case() {
                $run($crate::contract::$case(&$make()));
            }
        )*
    };
}
