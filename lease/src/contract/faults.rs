//! Contract cases about faults: the store behind [`FaultyLeaseStore`], and what a claimer and the machine make of it.

use std::sync::Arc;

use leasehold_types::{LeaseLostReason, Uptime, seconds};

use super::{Case, Fixture, revision_of, sessions::ATTEMPT, unexpected};
use crate::{
    Action, Change, Claim, ClaimOutcome, Event, Expiry, Fault, FaultyLeaseStore, LeaseConfig,
    LeaseMachine, LeaseStore, Release, ReleaseOutcome, Renewal, Revision, Scope, Session,
    claim_one, release_one,
};

fn faulty(case: &Case<'_>) -> FaultyLeaseStore {
    FaultyLeaseStore::around(Arc::clone(&case.store))
}

fn machine() -> LeaseMachine {
    let times = LeaseConfig::default().check();
    let times = times.unwrap_or_else(|errors| unexpected("times that fit", &errors));
    LeaseMachine::opened(times, Expiry::ByTtl, Uptime::default())
}

/// A machine that has won `claim` at `create_revision`.
fn machine_owning(claim: Claim, create_revision: Revision) -> LeaseMachine {
    let mut machine = machine();
    let tree = claim.tree;
    let won = Some(create_revision);
    machine.on_event(Uptime::default(), &Event::Wanted { tree });
    machine.on_event(Uptime::default(), &Event::ClaimEnded { tree, won });
    machine
}

async fn sweep(store: &FaultyLeaseStore, session: &Session) -> Event {
    let listing = store.list(Scope::Session(session.id)).await;
    let listing = listing.unwrap_or_else(|error| unexpected("a list", &error));
    let owners = listing.owners.into_iter();
    Event::Swept {
        at: listing.at,
        owned: owners
            .map(|(t, owner)| (t, owner.create_revision))
            .collect(),
    }
}

/// A claim that timed out had landed: repeated with its token it is won, under a new one it would be held.
pub async fn a_claim_whose_answer_was_lost_is_recognised_by_its_token(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let session = case.session("a").await;
    let claim = case.claim(case.tree());
    store.spoil(Fault::AnswerLost);
    let unknown = claim_one(&store, &session, claim).await;
    assert!(matches!(unknown, ClaimOutcome::Unknown(_)), "{unknown:?}");
    let again = claim_one(&store, &session, claim).await;
    assert_eq!(Some(revision_of(&again)), case.seen(claim.tree).await);
}

/// A claim that was under way while somebody else won lands on a taken key.
pub async fn a_claim_that_lands_late_does_not_displace_a_winner(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let (slow, quick) = (case.session("slow").await, case.session("quick").await);
    let claim = case.claim(case.tree());
    store.spoil(Fault::LandsLater);
    claim_one(&store, &slow, claim).await;
    let won = case.won(&quick, case.claim(claim.tree)).await;
    store.deliver_late().await;
    assert_eq!(case.seen(claim.tree).await, Some(won.create_revision));
    let again = claim_one(&store, &slow, claim).await;
    assert!(matches!(again, ClaimOutcome::Held(_)), "{again:?}");
}

/// A claimer that gave up may still win later. Nobody would move the tree; the sweep finds the key and gives it back.
// CASE 48
pub async fn a_claim_that_lands_after_it_was_given_up_is_swept_and_given_back(
    fixture: &dyn Fixture,
) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let session = case.session("a").await;
    let claim = case.claim(case.tree());
    let tree = claim.tree;
    let mut machine = machine();
    machine.on_event(Uptime::default(), &Event::Wanted { tree });
    store.spoil(Fault::LandsLater);
    claim_one(&store, &session, claim).await;
    machine.on_event(Uptime::default(), &Event::ClaimEnded { tree, won: None });
    store.deliver_late().await;
    let actions = machine.on_event(Uptime::default(), &sweep(&store, &session).await);
    let [
        Action::Release {
            tree,
            create_revision,
        },
    ] = actions.as_slice()
    else {
        unexpected("LEASE-7: a release", &actions)
    };
    let (tree, create_revision) = (*tree, *create_revision);
    let release = Release {
        tree,
        create_revision,
    };
    assert_eq!(release_one(&store, release).await, ReleaseOutcome::Released);
    assert_eq!(case.seen(tree).await, None);
}

/// Whatever a lost release did, repeating it neither fails nor frees a successor's key.
pub async fn a_release_whose_outcome_is_unknown_is_repeated_without_harm(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let (session, next) = (case.session("a").await, case.session("b").await);
    for fault in [Fault::RequestLost, Fault::AnswerLost] {
        let held = case.won(&session, case.claim(case.tree())).await;
        store.spoil(fault);
        let outcome = release_one(&store, held).await;
        assert!(matches!(outcome, ReleaseOutcome::Unknown(_)), "{outcome:?}");
        assert_eq!(release_one(&store, held).await, ReleaseOutcome::Released);
    }
    let held = case.won(&session, case.claim(case.tree())).await;
    store.spoil(Fault::LandsLater);
    release_one(&store, held).await;
    release_one(&store, held).await;
    let successor = case.won(&next, case.claim(held.tree)).await;
    store.deliver_late().await;
    assert_eq!(
        case.seen(held.tree).await,
        Some(successor.create_revision),
        "STORE-4"
    );
}

/// A keepalive's answer without time left comes as a success: it is the loss, at once.
// CASE 55
pub async fn a_renewal_answered_with_no_time_left_is_the_loss_of_all_trees(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let session = case.session("a").await;
    let claim = case.claim(case.tree());
    let held = case.won(&session, claim).await;
    let mut machine = machine_owning(claim, held.create_revision);
    let asked = Uptime::default().plus(seconds(5));
    machine.on_event(asked, &Event::Tick);
    store.spoil(Fault::NoTimeLeft);
    let outcome = store.renew(&session, ATTEMPT).await;
    assert_eq!(outcome, Renewal::Gone);
    let attempt = 1;
    let actions = machine.on_event(asked, &Event::Renewal { attempt, outcome });
    let (tree, reason) = (claim.tree, LeaseLostReason::Taken);
    let lost = [
        Action::Lose { tree, reason },
        Action::SessionOver { reason },
    ];
    assert_eq!(actions, lost);
}

/// A renewal that may have been lost extends nothing, though the session lives.
pub async fn a_renewal_without_an_answer_confirms_nothing(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let session = case.session("a").await;
    let mut machine = machine();
    let before = machine.deadline();
    for (attempt, fault) in [(1, Fault::RequestLost), (2, Fault::AnswerLost)] {
        let due = machine.next_deadline();
        let due = due.unwrap_or_else(|| unexpected("a live session", &machine));
        machine.on_event(due, &Event::Tick);
        store.spoil(fault);
        let outcome = store.renew(&session, ATTEMPT).await;
        assert!(matches!(outcome, Renewal::NotConfirmed(_)), "{outcome:?}");
        let actions = machine.on_event(due, &Event::Renewal { attempt, outcome });
        assert_eq!(actions, [], "LEASE-1");
    }
    assert_eq!(machine.deadline(), before);
    assert!(matches!(
        store.renew(&session, ATTEMPT).await,
        Renewal::Confirmed { .. }
    ));
}

/// A read from before the claim shows no key of ours: that is old news, not a loss.
pub async fn a_list_older_than_the_claim_takes_nothing_away(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let session = case.session("a").await;
    let remembered = store.remember_list().await;
    assert_eq!(remembered, Ok(()));
    let claim = case.claim(case.tree());
    let held = case.won(&session, claim).await;
    let mut machine = machine_owning(claim, held.create_revision);
    let stale = sweep(&store, &session).await;
    assert_eq!(machine.on_event(Uptime::default(), &stale), [], "LEASE-6");
    release_one(&store, held).await;
    let fresh = sweep(&store, &session).await;
    let (tree, reason) = (claim.tree, LeaseLostReason::Taken);
    let lost = [Action::Lose { tree, reason }];
    assert_eq!(machine.on_event(Uptime::default(), &fresh), lost);
}

/// A feed that lost the event of a free tree is silent; the list beside it is not.
// RELIABILITY L18
pub async fn what_a_feed_lost_a_list_shows(fixture: &dyn Fixture) {
    let case = Case::of(fixture);
    let store = faulty(&case);
    let session = case.session("a").await;
    let scope = Scope::Session(session.id);
    let feed = store.watch(scope).await;
    let mut feed = feed.unwrap_or_else(|error| unexpected("a feed", &error));
    store.lose_changes(1);
    let unseen = case.won(&session, case.claim(case.tree())).await;
    let seen = case.won(&session, case.claim(case.tree())).await;
    let change = feed.next().await;
    let Some(Change::Claimed { tree, .. }) = change else {
        unexpected("the second claim", &change)
    };
    assert_eq!(tree, seen.tree);
    let listing = store.list(scope).await;
    let listing = listing.unwrap_or_else(|error| unexpected("a list", &error));
    assert!(listing.owners.contains_key(&unseen.tree));
}
