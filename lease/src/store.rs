//! The lease store: sessions with a TTL, and one key per owned tree that hangs on a session.
//!
//! - STORE-1: at any revision a tree has at most one owner.
//! - STORE-2: create revisions rise; two ownership periods of a tree never share one.
//! - STORE-3: a claim repeated with its token gives the same answer: what has landed is recognised, not contested.
//! - STORE-4: a release or a renewal compares create revisions: a stale holder can neither free nor keep what is another's.
//! - STORE-5: the end of a session frees all its keys, and nothing can be claimed on it after.
//! - STORE-6: in a batch each item stands alone: one taken key refuses no other.
//!
//! Source: Gray & Cheriton, "Leases" (1989); Burrows, "The Chubby lock service" (2006), for sessions.

use std::time::Duration;

use leasehold_types::{BoxFuture, TreeId};

use crate::{
    ChangeFeed, ClaimOutcome, ClaimToken, LeaseStoreError, Listing, OpenOutcome, OpenSession,
    ReleaseOutcome, Renewal, Revision, Revocation, Scope, Session, SessionId, SessionListing,
};

/// Which endpoint to ask, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// Rises by one to ask for another endpoint; a store takes it modulo the number it has.
    pub endpoint: u32,
    /// After this long the attempt has failed, whatever the connection does.
    pub timeout: Duration,
}

/// Whether sessions run out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// A session lives until it is revoked.
    Never,
    /// A session ends when its TTL has passed since the last renewal arrived.
    ByTtl,
}

/// One tree to claim, and the token of this claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The tree.
    pub tree: TreeId,
    /// Random and new for each claim; the same when an unknown claim is repeated.
    pub token: ClaimToken,
}

/// One tree to give back, and which ownership of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Release {
    /// The tree.
    pub tree: TreeId,
    /// The create revision of the key that was won.
    pub create_revision: Revision,
}

/// Where instances agree who should move which tree.
///
/// All futures may be dropped at any point; what they asked for is then an unknown outcome. No future waits longer than
/// the store's own time limit for one attempt, with a silent network too. Repeating any call with the same arguments is
/// harmless. No answer of a store proves that a writer may write: the journal's epoch does.
pub trait LeaseStore: Send + Sync + std::fmt::Debug {
    /// Whether this store's sessions run out: what the lease machine counts by.
    fn expiry(&self) -> Expiry;

    /// Opens a session. Each call opens another one, for the same holder too.
    ///
    /// The TTL granted is at least the one asked for. [`OpenOutcome::Opened`] counts from before the request was sent.
    fn open_session(&self, open: OpenSession) -> BoxFuture<'_, OpenOutcome>;

    /// Renews a session once. See [`Renewal`] for what counts.
    ///
    /// An answer after `attempt.timeout` is not confirmed, but the session may have been renewed.
    fn renew<'a>(&'a self, session: &'a Session, attempt: Attempt) -> BoxFuture<'a, Renewal>;

    /// Ends a session and frees its keys, at once. Any session, one's own or that of an instance proved dead.
    fn revoke(&self, session: SessionId) -> BoxFuture<'_, Revocation>;

    /// Claims trees on a session. Answers in the order asked, one for each claim; a tree named twice is claimed once.
    ///
    /// A claim wins if the tree has no owner, and has won if the owner's token is the claim's.
    fn claim<'a>(
        &'a self,
        session: &'a Session,
        claims: &'a [Claim],
    ) -> BoxFuture<'a, Vec<ClaimOutcome>>;

    /// Gives trees back. Answers in the order asked, one for each release.
    fn release<'a>(&'a self, releases: &'a [Release]) -> BoxFuture<'a, Vec<ReleaseOutcome>>;

    /// The owner of one tree: a [`Listing`] with one entry, or none.
    fn holder(&self, tree: TreeId) -> BoxFuture<'_, Result<Listing, LeaseStoreError>>;

    /// The owners in scope, for sweeps.
    fn list(&self, scope: Scope) -> BoxFuture<'_, Result<Listing, LeaseStoreError>>;

    /// The live sessions, for membership.
    fn sessions(&self) -> BoxFuture<'_, Result<SessionListing, LeaseStoreError>>;

    /// Follows changes in scope from now on.
    fn watch(&self, scope: Scope) -> BoxFuture<'_, Result<Box<dyn ChangeFeed>, LeaseStoreError>>;
}

/// Claims one tree.
pub async fn claim_one(store: &dyn LeaseStore, session: &Session, claim: Claim) -> ClaimOutcome {
    let mut outcomes = store.claim(session, &[claim]).await;
    outcomes.pop().unwrap_or_else(|| {
        ClaimOutcome::Unknown(LeaseStoreError::Silent("no answer for the claim".into()))
    })
}

/// Gives one tree back.
pub async fn release_one(store: &dyn LeaseStore, release: Release) -> ReleaseOutcome {
    let mut outcomes = store.release(&[release]).await;
    outcomes.pop().unwrap_or_else(|| {
        ReleaseOutcome::Unknown(LeaseStoreError::Silent("no answer for the release".into()))
    })
}
