//! Contract cases about owner keys: claims, releases, lists and feeds.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use leasehold_types::{Slot, TreeId};

use super::{Case, Fixture, revision_of, unexpected};
use crate::{
    Change, Claim, ClaimOutcome, OwnerValue, Release, ReleaseOutcome, Revision, Scope, claim_one,
    release_one,
};

/// STORE-1: an instance that starts again under its old name does not inherit what its former start holds.
// CASE 44, 47
pub async fn two_starts_of_one_instance_are_two_holders(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let (former, now) = (case.session("a").await, case.session("a").await);
    let claim = case.claim(case.tree());
    let held = case.won(&former, claim).await;
    let outcome = claim_one(&*case.store, &now, case.claim(claim.tree)).await;
    let ClaimOutcome::Held(owner) = outcome else {
        unexpected("a refusal", &outcome)
    };
    assert_eq!(owner.holder(), Some(&former.holder), "STORE-1");
    assert_ne!(owner.holder(), Some(&now.holder));
    assert_eq!(owner.create_revision, held.create_revision);
    assert_eq!(owner.session, Some(former.id));
}

/// STORE-3: only the token says "mine": a second claim of the same start is a second claim.
pub async fn two_claims_of_one_holder_are_told_apart_by_their_tokens(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let tree = case.tree();
    case.won(&session, case.claim(tree)).await;
    let second = claim_one(&*case.store, &session, case.claim(tree)).await;
    assert!(matches!(second, ClaimOutcome::Held(_)), "{second:?}");
}

/// STORE-4: what a stalled holder sends under its old revision frees nothing of its successor's, who may be itself.
// CASE 44
pub async fn a_stale_release_frees_nothing(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let tree = case.tree();
    let first = case.won(&session, case.claim(tree)).await;
    release_one(&*case.store, first).await;
    let second = case.won(&session, case.claim(tree)).await;
    let outcome = release_one(&*case.store, first).await;
    let ReleaseOutcome::Superseded(owner) = outcome else {
        unexpected("a release that is too late", &outcome)
    };
    assert_eq!(owner.create_revision, second.create_revision, "STORE-4");
    assert_eq!(case.seen(tree).await, Some(second.create_revision));
}

/// STORE-1 under a race.
pub async fn of_many_claims_at_once_exactly_one_wins(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let mut sessions = vec![];
    for number in 0..20 {
        sessions.push(case.session(&format!("instance-{number}")).await);
    }
    for _ in 0..10 {
        let tree = case.tree();
        let race = sessions.iter().map(|session| {
            let claim = case.claim(tree);
            let store = &*case.store;
            async move { claim_one(store, session, claim).await }
        });
        let outcomes = join_all(race).await;
        let won = |outcome: &&ClaimOutcome| matches!(outcome, ClaimOutcome::Claimed { .. });
        assert_eq!(outcomes.iter().filter(won).count(), 1, "{outcomes:?}");
    }
}

/// STORE-3.
pub async fn a_claim_repeated_with_its_token_is_recognised(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let claim = case.claim(case.tree());
    let first = case.won(&session, claim).await;
    let again = claim_one(&*case.store, &session, claim).await;
    assert_eq!(revision_of(&again), first.create_revision, "STORE-3");
}

/// STORE-4: a release that is repeated after an unknown outcome finds nothing, which is what it wanted.
pub async fn a_release_repeated_is_released(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let held = case.won(&session, case.claim(case.tree())).await;
    for _ in 0..2 {
        let outcome = release_one(&*case.store, held).await;
        assert_eq!(outcome, ReleaseOutcome::Released);
    }
    assert_eq!(case.seen(held.tree).await, None);
}

/// STORE-6: more trees than one transaction of a store takes, every seventh of them taken.
pub async fn in_a_batch_a_taken_key_refuses_no_other(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let (other, session) = (case.session("other").await, case.session("a").await);
    let claims: Vec<Claim> = (0..300).map(|_| case.claim(case.tree())).collect();
    let taken: Vec<Claim> = claims
        .iter()
        .step_by(7)
        .map(|c| case.claim(c.tree))
        .collect();
    case.store.claim(&other, &taken).await;
    let outcomes = case.store.claim(&session, &claims).await;
    assert_eq!(outcomes.len(), claims.len(), "one answer for each claim");
    let mut releases = vec![];
    for (place, (claim, outcome)) in claims.iter().zip(&outcomes).enumerate() {
        if place % 7 == 0 {
            assert!(
                matches!(outcome, ClaimOutcome::Held(_)),
                "{place}: {outcome:?}"
            );
            // Released under a revision that is not the holder's: must stay.
            let create_revision = Revision::new(u64::MAX / 4);
            let tree = claim.tree;
            releases.push(Release {
                tree,
                create_revision,
            });
        } else {
            let (tree, create_revision) = (claim.tree, revision_of(outcome));
            releases.push(Release {
                tree,
                create_revision,
            });
        }
    }
    let outcomes = case.store.release(&releases).await;
    for (place, outcome) in outcomes.iter().enumerate() {
        let was_ours = *outcome == ReleaseOutcome::Released;
        assert_eq!(was_ours, place % 7 != 0, "STORE-6: {place}: {outcome:?}");
    }
}

/// STORE-6: the second naming of a tree, under its own token, finds it held by the first.
pub async fn a_tree_named_twice_in_a_batch_is_claimed_once(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let tree = case.tree();
    let claims = [case.claim(tree), case.claim(tree), case.claim(case.tree())];
    let outcomes = case.store.claim(&session, &claims).await;
    assert!(
        matches!(
            outcomes.as_slice(),
            [
                ClaimOutcome::Claimed { .. },
                ClaimOutcome::Held(_),
                ClaimOutcome::Claimed { .. }
            ]
        ),
        "{outcomes:?}"
    );
}

/// STORE-2.
pub async fn create_revisions_rise_with_each_ownership(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let tree = case.tree();
    let mut last = Revision::default();
    for _ in 0..5 {
        let held = case.won(&session, case.claim(tree)).await;
        assert!(held.create_revision > last, "STORE-2");
        last = held.create_revision;
        release_one(&*case.store, held).await;
    }
}

/// A list is complete for its scope, and says how old it is.
pub async fn a_list_shows_its_scope_and_its_revision(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let (a, b) = (case.session("a").await, case.session("b").await);
    let (ours, theirs) = (case.claim(case.tree()), case.claim(case.tree()));
    case.won(&a, ours).await;
    let last = case.won(&b, theirs).await;
    let trees = async |scope| {
        let listing = case.store.list(scope).await;
        let listing = listing.unwrap_or_else(|error| unexpected("a list", &error));
        assert!(
            listing.at >= last.create_revision,
            "a fresh list is not old"
        );
        listing.owners.into_keys().collect::<BTreeSet<TreeId>>()
    };
    assert_eq!(
        trees(Scope::Session(a.id)).await,
        BTreeSet::from([ours.tree])
    );
    let all = trees(Scope::All).await;
    assert!(all.contains(&ours.tree) && all.contains(&theirs.tree));
    let slot = trees(Scope::Slot(Slot::of(ours.tree))).await;
    assert!(slot.contains(&ours.tree));
    assert!(
        slot.iter()
            .all(|tree| Slot::of(*tree) == Slot::of(ours.tree))
    );
}

/// Without a fault a feed tells both kinds of change, with what a list would show.
pub async fn a_feed_shows_claims_and_frees_of_its_scope_in_order(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let (a, b) = (case.session("a").await, case.session("b").await);
    let feed = case.store.watch(Scope::Session(a.id)).await;
    let mut feed = feed.unwrap_or_else(|error| unexpected("a feed", &error));
    case.won(&b, case.claim(case.tree())).await;
    let held = case.won(&a, case.claim(case.tree())).await;
    release_one(&*case.store, held).await;
    let claimed = feed.next().await;
    let Some(Change::Claimed { tree, owner, at }) = claimed else {
        unexpected("the claim", &claimed)
    };
    assert_eq!((tree, at), (held.tree, held.create_revision));
    assert_eq!(owner.create_revision, held.create_revision);
    let freed = feed.next().await;
    let Some(Change::Freed { tree, at }) = freed else {
        unexpected("the release", &freed)
    };
    assert_eq!(tree, held.tree);
    assert!(at > held.create_revision);
}

/// A key nobody can read is not free: it is refused to claimers and left alone by releases.
// BAD INPUT 60
pub async fn an_unreadable_owner_key_is_held_by_somebody_unknown(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let tree = case.tree();
    fixture.plant_unreadable(tree).await;
    let outcome = claim_one(&*case.store, &session, case.claim(tree)).await;
    let ClaimOutcome::Held(owner) = outcome else {
        unexpected("a refusal", &outcome)
    };
    assert_eq!(owner.value, OwnerValue::Unreadable);
    assert_eq!(owner.session, None);
    assert_eq!(case.seen(tree).await, Some(owner.create_revision));
}
