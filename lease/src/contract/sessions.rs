//! Contract cases about sessions: renewal, end, TTL and cards.

use std::time::Duration;

use leasehold_types::{milliseconds, seconds};

use super::{Case, Fixture, TTL, unexpected};
use crate::{
    Attempt, ClaimOutcome, Expiry, LeaseStoreError, OpenOutcome, OpenSession, Renewal, Revocation,
    claim_one,
};

pub(super) const ATTEMPT: Attempt = Attempt {
    endpoint: 0,
    timeout: milliseconds(2_500),
};

/// STORE-5.
// RELIABILITY L8, L21
pub async fn the_end_of_a_session_frees_its_keys_and_ends_its_rights(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let (session, other) = (case.session("a").await, case.session("b").await);
    let (one, two) = (case.claim(case.tree()), case.claim(case.tree()));
    let kept = case.claim(case.tree());
    case.store.claim(&session, &[one, two]).await;
    case.won(&other, kept).await;
    assert_eq!(case.store.revoke(session.id).await, Revocation::Revoked);
    assert_eq!(case.seen(one.tree).await, None, "STORE-5");
    assert_eq!(case.seen(two.tree).await, None, "STORE-5");
    assert!(case.seen(kept.tree).await.is_some());
    assert_eq!(case.store.renew(&session, ATTEMPT).await, Renewal::Gone);
    let claim = claim_one(&*case.store, &session, one).await;
    assert_eq!(claim, ClaimOutcome::SessionGone, "STORE-5");
    case.won(&other, case.claim(one.tree)).await;
}

/// Two peers may prove one death.
pub async fn revoking_twice_is_revoked(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    for _ in 0..2 {
        assert_eq!(case.store.revoke(session.id).await, Revocation::Revoked);
    }
}

/// The time of a confirmation is that of the question, not of the answer.
pub async fn a_renewal_counts_from_before_it_was_asked(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    fixture.pass(milliseconds(20)).await;
    let before = fixture.clock().uptime();
    let renewal = case.store.renew(&session, ATTEMPT).await;
    let after = fixture.clock().uptime();
    let Renewal::Confirmed { sent } = renewal else {
        unexpected("a confirmation", &renewal)
    };
    assert!(
        (before..=after).contains(&sent),
        "{before:?} {sent:?} {after:?}"
    );
}

/// A renewal carries a session over its first TTL; silence ends it, if sessions of this store run out.
pub async fn a_session_ends_by_its_ttl_only_where_sessions_run_out(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let session = case.session("a").await;
    let held = case.won(&session, case.claim(case.tree())).await;
    for _ in 0..3 {
        fixture.pass(TTL / 2).await;
        let renewal = case.store.renew(&session, ATTEMPT).await;
        assert!(matches!(renewal, Renewal::Confirmed { .. }), "{renewal:?}");
    }
    assert_eq!(case.seen(held.tree).await, Some(held.create_revision));
    // A server may be late by half a second, and extends leases when its leader changes.
    fixture.pass(TTL * 2 + seconds(1)).await;
    let renewal = case.store.renew(&session, ATTEMPT).await;
    match case.store.expiry() {
        Expiry::ByTtl => {
            assert_eq!(renewal, Renewal::Gone);
            assert_eq!(case.seen(held.tree).await, None);
        }
        Expiry::Never => assert!(matches!(renewal, Renewal::Confirmed { .. })),
    }
}

/// Members see each other by their sessions.
pub async fn sessions_are_listed_with_their_cards(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let open = OpenSession {
        holder: case.holder("a"),
        ttl: TTL,
        card: vec![7; OpenSession::CARD_BYTES_MAX],
    };
    let opened = case.store.open_session(open).await;
    let OpenOutcome::Opened { session, .. } = opened else {
        unexpected("a session", &opened)
    };
    let listing = case.store.sessions().await;
    let listing = listing.unwrap_or_else(|error| unexpected("the sessions", &error));
    assert!(listing.sessions.contains(&session));
    case.store.revoke(session.id).await;
    let listing = case.store.sessions().await;
    let listing = listing.unwrap_or_else(|error| unexpected("the sessions", &error));
    assert!(!listing.sessions.contains(&session));
}

/// Every member reads every card.
pub async fn a_card_over_the_limit_is_refused(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let bytes = OpenSession::CARD_BYTES_MAX + 1;
    let open = OpenSession {
        holder: case.holder("a"),
        ttl: Duration::from_secs(15),
        card: vec![7; bytes],
    };
    let outcome = case.store.open_session(open).await;
    let refused = OpenOutcome::Refused(LeaseStoreError::CardTooLarge { bytes });
    assert_eq!(outcome, refused);
}
