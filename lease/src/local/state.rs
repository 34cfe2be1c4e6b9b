//! What a local lease store knows: sessions, owners, and who follows them.
//!
//! Pure but for the feeds it tells. The invariants are those of the store, STORE-1 to STORE-6.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leasehold_types::{BoxFuture, TreeId, Uptime};

use crate::{
    Change, ChangeFeed, Claim, ClaimOutcome, Listing, OpenSession, Owner, OwnerValue, Release,
    ReleaseOutcome, Revision, Scope, Session, SessionId, SessionListing,
};

/// Changes a feed holds for a slow reader; past it they are lost and the feed says so.
const FEED_CHANGES_MAX: usize = 4_096;

#[derive(Debug, Default)]
pub(super) struct State {
    revision: Revision,
    sessions: BTreeMap<SessionId, Live>,
    owners: BTreeMap<TreeId, Owner>,
    followers: Vec<Follower>,
}

#[derive(Debug)]
struct Live {
    session: Session,
    open: OpenSession,
    expires_at: Uptime,
}

#[derive(Debug)]
struct Follower {
    scope: Scope,
    changes: async_channel::Sender<Change>,
    missed: Arc<AtomicBool>,
}

impl State {
    fn advance(&mut self) -> Revision {
        self.revision = self.revision.next();
        self.revision
    }

    pub(super) fn open(&mut self, open: OpenSession, now: Uptime) -> Session {
        let create_revision = self.advance();
        let session = Session {
            id: SessionId::new(create_revision.get()),
            create_revision,
            holder: open.holder.clone(),
            card: open.card.clone(),
        };
        let live = Live {
            session: session.clone(),
            expires_at: now.plus(open.ttl),
            open,
        };
        self.sessions.insert(session.id, live);
        session
    }

    fn live(&mut self, session: &Session) -> Option<&mut Live> {
        let live = self.sessions.get_mut(&session.id)?;
        (live.session.create_revision == session.create_revision).then_some(live)
    }

    pub(super) fn renew(&mut self, session: &Session, now: Uptime) -> bool {
        let Some(live) = self.live(session) else {
            return false;
        };
        live.expires_at = now.plus(live.open.ttl);
        true
    }

    pub(super) fn expire(&mut self, now: Uptime) {
        let over = self.sessions.iter().filter(|(_, l)| l.expires_at <= now);
        let over: Vec<_> = over.map(|(id, _)| *id).collect();
        for id in over {
            self.end(id);
        }
    }

    pub(super) fn end(&mut self, id: SessionId) {
        if self.sessions.remove(&id).is_none() {
            return;
        }
        let held = |owner: &Owner| owner.session == Some(id);
        let freed = self.owners.iter().filter(|(_, owner)| held(owner));
        let freed: Vec<_> = freed.map(|(tree, _)| *tree).collect();
        for tree in freed {
            self.free(tree);
        }
    }

    pub(super) fn claim(&mut self, session: &Session, claim: Claim) -> ClaimOutcome {
        if self.live(session).is_none() {
            return ClaimOutcome::SessionGone;
        }
        if let Some(owner) = self.owners.get(&claim.tree) {
            if owner.is_claimed_by(claim.token) {
                let create_revision = owner.create_revision;
                return ClaimOutcome::Claimed { create_revision };
            }
            return ClaimOutcome::Held(owner.clone());
        }
        let value = OwnerValue::Known {
            holder: session.holder.clone(),
            token: claim.token,
        };
        let create_revision = self.own(claim.tree, value, Some(session.id));
        ClaimOutcome::Claimed { create_revision }
    }

    fn own(&mut self, tree: TreeId, value: OwnerValue, session: Option<SessionId>) -> Revision {
        let create_revision = self.advance();
        let owner = Owner {
            value,
            create_revision,
            session,
        };
        let replaced = self.owners.insert(tree, owner.clone());
        assert!(replaced.is_none(), "STORE-1: a tree has at most one owner");
        let at = create_revision;
        self.tell(tree, session, Change::Claimed { tree, owner, at });
        create_revision
    }

    pub(super) fn release(&mut self, release: Release) -> ReleaseOutcome {
        match self.owners.get(&release.tree) {
            None => ReleaseOutcome::Released,
            Some(owner) if owner.create_revision == release.create_revision => {
                self.free(release.tree);
                ReleaseOutcome::Released
            }
            Some(owner) => ReleaseOutcome::Superseded(owner.clone()),
        }
    }

    fn free(&mut self, tree: TreeId) {
        let Some(owner) = self.owners.remove(&tree) else {
            return;
        };
        let at = self.advance();
        self.tell(tree, owner.session, Change::Freed { tree, at });
    }

    pub(super) fn listing(&self, in_scope: impl Fn(TreeId, Option<SessionId>) -> bool) -> Listing {
        let owners = self.owners.iter();
        Listing {
            at: self.revision,
            owners: owners
                .filter(|(tree, owner)| in_scope(**tree, owner.session))
                .map(|(tree, owner)| (*tree, owner.clone()))
                .collect(),
        }
    }

    pub(super) fn sessions(&self) -> SessionListing {
        SessionListing {
            at: self.revision,
            sessions: self.sessions.values().map(|l| l.session.clone()).collect(),
        }
    }

    pub(super) fn watch(&mut self, scope: Scope) -> LocalFeed {
        // A bounded channel takes its whole room at once, and there is a feed for each slot: the bound is kept by `tell`,
        // under the lock all senders share.
        let (sender, changes) = async_channel::unbounded();
        let missed = Arc::<AtomicBool>::default();
        self.followers.push(Follower {
            scope,
            changes: sender,
            missed: Arc::clone(&missed),
        });
        LocalFeed { changes, missed }
    }

    fn tell(&mut self, tree: TreeId, session: Option<SessionId>, change: Change) {
        self.followers.retain(|follower| {
            if follower.scope.holds(tree, session) {
                follower.push(&change);
            }
            !follower.changes.is_closed()
        });
    }

    #[cfg(feature = "contract-tests")]
    pub(super) fn plant_unreadable(&mut self, tree: TreeId) {
        self.free(tree);
        self.own(tree, OwnerValue::Unreadable, None);
    }
}

impl Follower {
    fn push(&self, change: &Change) {
        let has_room = self.changes.len() < FEED_CHANGES_MAX;
        if !has_room || self.changes.try_send(change.clone()).is_err() {
            self.missed.store(true, Ordering::Release);
        }
    }
}

/// The reading end of one follower.
#[derive(Debug)]
pub(super) struct LocalFeed {
    changes: async_channel::Receiver<Change>,
    missed: Arc<AtomicBool>,
}

impl ChangeFeed for LocalFeed {
    fn next(&mut self) -> BoxFuture<'_, Option<Change>> {
        Box::pin(async move {
            if self.missed.swap(false, Ordering::AcqRel) {
                return Some(Change::Missed);
            }
            self.changes.recv().await.ok()
        })
    }
}
