//! The lease store of one process: a map behind a mutex.
//!
//! With [`Expiry::Never`] it serves the embedded store, whose lock on the file is the lease: no session runs out.
//! With [`Expiry::ByTtl`] it stands in for a lease server in simulations: a session that was not renewed has ended when
//! next anything is asked. It answers at once and never with an unknown outcome.

mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leasehold_types::{BoxFuture, Clock, TreeId};

use crate::{
    Attempt, ChangeFeed, Claim, ClaimOutcome, Expiry, LeaseStore, LeaseStoreError, Listing,
    OpenOutcome, OpenSession, Release, ReleaseOutcome, Renewal, Revocation, Scope, Session,
    SessionId, SessionListing,
};
use state::State;

/// A lease store in memory. Clones share one state.
#[derive(Debug, Clone)]
pub struct LocalLeaseStore {
    clock: Arc<dyn Clock>,
    expiry: Expiry,
    state: Arc<Mutex<State>>,
}

impl LocalLeaseStore {
    /// An empty store.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, expiry: Expiry) -> Self {
        Self {
            clock,
            expiry,
            state: Arc::default(),
        }
    }

    /// Puts a key on a tree that no session holds and nobody can read, as a foreign program might.
    #[cfg(feature = "contract-tests")]
    pub fn plant_unreadable(&self, tree: TreeId) {
        self.state().plant_unreadable(tree);
    }

    /// The state as of now: sessions that have run out are gone.
    fn state(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.expiry == Expiry::ByTtl {
            state.expire(self.clock.uptime());
        }
        state
    }
}

impl LeaseStore for LocalLeaseStore {
    fn expiry(&self) -> Expiry {
        self.expiry
    }

    fn open_session(&self, open: OpenSession) -> BoxFuture<'_, OpenOutcome> {
        Box::pin(async move {
            let sent = self.clock.uptime();
            let bytes = open.card.len();
            if bytes > OpenSession::CARD_BYTES_MAX {
                return OpenOutcome::Refused(LeaseStoreError::CardTooLarge { bytes });
            }
            let session = self.state().open(open, sent);
            OpenOutcome::Opened { session, sent }
        })
    }

    fn renew<'a>(&'a self, session: &'a Session, _attempt: Attempt) -> BoxFuture<'a, Renewal> {
        Box::pin(async move {
            let sent = self.clock.uptime();
            if self.state().renew(session, sent) {
                return Renewal::Confirmed { sent };
            }
            Renewal::Gone
        })
    }

    fn revoke(&self, session: SessionId) -> BoxFuture<'_, Revocation> {
        Box::pin(async move {
            self.state().end(session);
            Revocation::Revoked
        })
    }

    fn claim<'a>(
        &'a self,
        session: &'a Session,
        claims: &'a [Claim],
    ) -> BoxFuture<'a, Vec<ClaimOutcome>> {
        Box::pin(async move {
            let mut state = self.state();
            let claim = |claim: &Claim| state.claim(session, *claim);
            claims.iter().map(claim).collect()
        })
    }

    fn release<'a>(&'a self, releases: &'a [Release]) -> BoxFuture<'a, Vec<ReleaseOutcome>> {
        Box::pin(async move {
            let mut state = self.state();
            let release = |release: &Release| state.release(*release);
            releases.iter().map(release).collect()
        })
    }

    fn holder(&self, tree: TreeId) -> BoxFuture<'_, Result<Listing, LeaseStoreError>> {
        Box::pin(async move { Ok(self.state().listing(|held, _| held == tree)) })
    }

    fn list(&self, scope: Scope) -> BoxFuture<'_, Result<Listing, LeaseStoreError>> {
        Box::pin(async move {
            let in_scope = |tree, session| scope.holds(tree, session);
            Ok(self.state().listing(in_scope))
        })
    }

    fn sessions(&self) -> BoxFuture<'_, Result<SessionListing, LeaseStoreError>> {
        Box::pin(async move { Ok(self.state().sessions()) })
    }

    fn watch(&self, scope: Scope) -> BoxFuture<'_, Result<Box<dyn ChangeFeed>, LeaseStoreError>> {
        Box::pin(async move {
            let feed: Box<dyn ChangeFeed> = Box::new(self.state().watch(scope));
            Ok(feed)
        })
    }
}
