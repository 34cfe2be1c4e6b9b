//! A lease store that misbehaves as real ones were seen to: for contract suites and simulations.
//!
//! It wraps a well-behaved store and spoils the next calls as told, in the order told; without a fault it only passes on.
//! What it models: a write that timed out is applied when the server goes on; a keepalive is answered with no time left,
//! as a success; a read shows keys that are long gone; a watch skips events.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use leasehold_types::{BoxFuture, TreeId};

use crate::{
    Attempt, Change, ChangeFeed, Claim, ClaimOutcome, Expiry, LeaseStore, LeaseStoreError, Listing,
    OpenOutcome, OpenSession, Release, ReleaseOutcome, Renewal, Revocation, Scope, Session,
    SessionId, SessionListing,
};

/// What happens to the next write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The request is lost: unknown, and not applied.
    RequestLost,
    /// The answer is lost: unknown, and applied.
    AnswerLost,
    /// Unknown, and applied only by [`FaultyLeaseStore::deliver_late`].
    LandsLater,
    /// A renewal is answered with no time left; the session has ended. Other writes pass.
    NoTimeLeft,
}

/// A store with faults. Clones share them.
#[derive(Debug, Clone)]
pub struct FaultyLeaseStore {
    inner: Arc<dyn LeaseStore>,
    faults: Arc<Faults>,
}

#[derive(Debug, Default)]
struct Faults {
    writes: Mutex<VecDeque<Fault>>,
    late: Mutex<Vec<Late>>,
    stale: Mutex<Option<Listing>>,
    changes_to_lose: Arc<AtomicU64>,
}

#[derive(Debug)]
enum Late {
    Open(OpenSession),
    Renew(Session, Attempt),
    Revoke(SessionId),
    Claim(Session, Vec<Claim>),
    Release(Vec<Release>),
}

impl FaultyLeaseStore {
    /// Wraps a store; no fault yet.
    #[must_use]
    pub fn around(inner: Arc<dyn LeaseStore>) -> Self {
        Self {
            inner,
            faults: Arc::default(),
        }
    }

    /// Spoils the next write that is not spoiled yet.
    pub fn spoil(&self, fault: Fault) {
        locked(&self.faults.writes).push_back(fault);
    }

    /// Applies all writes that were to land later, in their order.
    pub async fn deliver_late(&self) {
        let late = std::mem::take(&mut *locked(&self.faults.late));
        for write in late {
            self.apply(write).await;
        }
    }

    /// The next read of owners shows them as they are now, however late it comes.
    ///
    /// # Errors
    /// The wrapped store cannot list.
    pub async fn remember_list(&self) -> Result<(), LeaseStoreError> {
        let listing = self.inner.list(Scope::All).await?;
        *locked(&self.faults.stale) = Some(listing);
        Ok(())
    }

    /// The next `count` changes reach no feed.
    pub fn lose_changes(&self, count: u64) {
        self.faults.changes_to_lose.store(count, Ordering::Release);
    }

    /// Which fault the next write meets; one that lands later is kept for then.
    fn next_fault(&self, write: impl FnOnce() -> Late) -> Option<Fault> {
        let fault = locked(&self.faults.writes).pop_front();
        if fault == Some(Fault::LandsLater) {
            locked(&self.faults.late).push(write());
        }
        fault
    }

    async fn apply(&self, write: Late) {
        match write {
            Late::Open(open) => drop(self.inner.open_session(open).await),
            Late::Renew(session, attempt) => drop(self.inner.renew(&session, attempt).await),
            Late::Revoke(session) => drop(self.inner.revoke(session).await),
            Late::Claim(session, claims) => drop(self.inner.claim(&session, &claims).await),
            Late::Release(releases) => drop(self.inner.release(&releases).await),
        }
    }

    fn stale(&self, in_scope: impl Fn(TreeId, Option<SessionId>) -> bool) -> Option<Listing> {
        let mut listing = locked(&self.faults.stale).take()?;
        listing
            .owners
            .retain(|tree, owner| in_scope(*tree, owner.session));
        Some(listing)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn silent() -> LeaseStoreError {
    LeaseStoreError::Silent("the attempt timed out".into())
}

/// Asks the wrapped store, unless the request is lost; hides its answer, where a fault hides it.
async fn spoiled<T>(
    fault: Option<Fault>,
    unknown: impl FnOnce() -> T,
    ask: impl Future<Output = T>,
) -> T {
    match fault {
        None | Some(Fault::NoTimeLeft) => ask.await,
        Some(Fault::RequestLost | Fault::LandsLater) => unknown(),
        Some(Fault::AnswerLost) => {
            drop(ask.await);
            unknown()
        }
    }
}

impl LeaseStore for FaultyLeaseStore {
    fn expiry(&self) -> Expiry {
        self.inner.expiry()
    }

    fn open_session(&self, open: OpenSession) -> BoxFuture<'_, OpenOutcome> {
        let fault = self.next_fault(|| Late::Open(open.clone()));
        let unknown = || OpenOutcome::Unknown(silent());
        Box::pin(spoiled(fault, unknown, self.inner.open_session(open)))
    }

    fn renew<'a>(&'a self, session: &'a Session, attempt: Attempt) -> BoxFuture<'a, Renewal> {
        Box::pin(async move {
            let fault = self.next_fault(|| Late::Renew(session.clone(), attempt));
            if fault == Some(Fault::NoTimeLeft) {
                drop(self.inner.revoke(session.id).await);
                return Renewal::Gone;
            }
            let unknown = || Renewal::NotConfirmed(silent());
            spoiled(fault, unknown, self.inner.renew(session, attempt)).await
        })
    }

    fn revoke(&self, session: SessionId) -> BoxFuture<'_, Revocation> {
        let fault = self.next_fault(|| Late::Revoke(session));
        let unknown = || Revocation::Unknown(silent());
        Box::pin(spoiled(fault, unknown, self.inner.revoke(session)))
    }

    fn claim<'a>(
        &'a self,
        session: &'a Session,
        claims: &'a [Claim],
    ) -> BoxFuture<'a, Vec<ClaimOutcome>> {
        let fault = self.next_fault(|| Late::Claim(session.clone(), claims.to_vec()));
        let unknown = || {
            let each = claims.iter().map(|_| ClaimOutcome::Unknown(silent()));
            each.collect()
        };
        Box::pin(spoiled(fault, unknown, self.inner.claim(session, claims)))
    }

    fn release<'a>(&'a self, releases: &'a [Release]) -> BoxFuture<'a, Vec<ReleaseOutcome>> {
        let fault = self.next_fault(|| Late::Release(releases.to_vec()));
        let unknown = || {
            let each = releases.iter().map(|_| ReleaseOutcome::Unknown(silent()));
            each.collect()
        };
        Box::pin(spoiled(fault, unknown, self.inner.release(releases)))
    }

    fn holder(&self, tree: TreeId) -> BoxFuture<'_, Result<Listing, LeaseStoreError>> {
        match self.stale(|held, _| held == tree) {
            Some(listing) => Box::pin(std::future::ready(Ok(listing))),
            None => self.inner.holder(tree),
        }
    }

    fn list(&self, scope: Scope) -> BoxFuture<'_, Result<Listing, LeaseStoreError>> {
        match self.stale(|tree, session| scope.holds(tree, session)) {
            Some(listing) => Box::pin(std::future::ready(Ok(listing))),
            None => self.inner.list(scope),
        }
    }

    fn sessions(&self) -> BoxFuture<'_, Result<SessionListing, LeaseStoreError>> {
        self.inner.sessions()
    }

    fn watch(&self, scope: Scope) -> BoxFuture<'_, Result<Box<dyn ChangeFeed>, LeaseStoreError>> {
        Box::pin(async move {
            let inner = self.inner.watch(scope).await?;
            let to_lose = Arc::clone(&self.faults.changes_to_lose);
            let feed: Box<dyn ChangeFeed> = Box::new(LossyFeed { inner, to_lose });
            Ok(feed)
        })
    }
}

#[derive(Debug)]
struct LossyFeed {
    inner: Box<dyn ChangeFeed>,
    to_lose: Arc<AtomicU64>,
}

impl LossyFeed {
    fn loses_one(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.to_lose
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, less)
            .is_ok()
    }
}

impl ChangeFeed for LossyFeed {
    fn next(&mut self) -> BoxFuture<'_, Option<Change>> {
        Box::pin(async move {
            loop {
                let change = self.inner.next().await?;
                if !self.loses_one() {
                    return Some(change);
                }
            }
        })
    }
}
