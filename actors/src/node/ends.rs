//! What the ends of trees mean: another look, another try, a restart, quarantine, or nothing.

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::record::ClaimCause;
use leasehold_types::TreeId;
use ractor::{ActorId, ActorRef};

use super::{Awake, Closed, Due, Handled, Left, NodeMsg, State};
use crate::claim::{ClaimOrder, give_back_by_token};
use crate::errand::run_errand;
use crate::restart::RestartLimiter;

/// How long to wait before a tree that the store could not serve is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

impl State {
    pub(super) async fn closed(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        was: Awake,
        how: Closed,
        left: Left,
    ) -> Handled {
        if let Some(told) = &self.on_closed {
            told(tree, &how);
        }
        self.unable.remove(&tree);
        match &how {
            Closed::Suspect => self.suspect(tree, &was),
            Closed::Unavailable { why } => {
                tracing::warn!(%tree, why, "tree cannot be served now");
                self.later(myself, tree).await?;
            }
            Closed::Corrupt { why } | Closed::WaitingForVersion { why } => {
                tracing::error!(%tree, why, "tree is left alone");
                self.unable.insert(tree, why.clone());
            }
            Closed::Ended => {
                self.limiters.remove(&tree);
                self.look_again(myself, tree, &was, left).await?;
            }
            Closed::Resting { .. } | Closed::Blocked | Closed::HeldElsewhere => {
                self.look_again(myself, tree, &was, left).await?;
            }
            Closed::Missing | Closed::Released | Closed::Fenced { .. } => {}
        }
        self.admit(myself).await?;
        self.drained();
        Ok(())
    }

    /// NODE-2.
    async fn look_again(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        was: &Awake,
        left: Left,
    ) -> Handled {
        match (left, was.again) {
            (Left::Letters, _) => self.bell(myself, tree).await,
            (Left::Nothing, Some(cause)) => self.wake(myself, tree, cause).await,
            (Left::Later, _) => self.later(myself, tree).await,
            (Left::Nothing, None) => Ok(()),
        }
    }

    async fn later(&mut self, myself: &ActorRef<NodeMsg>, tree: TreeId) -> Handled {
        self.say_after(myself, RETRY_AFTER, Due::Retry(tree)).await
    }

    pub(super) async fn retry(&mut self, myself: &ActorRef<NodeMsg>, tree: TreeId) -> Handled {
        self.timers.retain(|_, due| *due != Due::Retry(tree));
        self.wake(myself, tree, ClaimCause::Takeover).await
    }

    /// An actor failed or was killed: a timer rings at once, a tree starts again.
    pub(super) async fn failed(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        actor: ActorId,
        error: &str,
    ) -> Handled {
        if let Some(due) = self.timers.remove(&actor) {
            myself.cast(due.message())?;
            return Ok(());
        }
        let tree = self.by_actor.get(&actor).copied();
        let (Some(tree), Some(was)) = (tree, self.forget(actor)) else {
            return Ok(());
        };
        self.restarts += 1;
        if was.last_try || self.is_draining {
            return self.give_up(myself, tree, &was, error).await;
        }
        let quarantine = self.judge(tree, error);
        // The key stays ours: the same token is recognised, the epoch is a new one.
        let order = ClaimOrder {
            tree,
            cause: ClaimCause::Restart,
            token: was.token,
            alone: was.alone,
            quarantine,
            hold: Arc::default(),
        };
        self.spawn(myself, order).await
    }

    /// Why a tree that failed is stopped, if it failed too often.
    fn judge(&mut self, tree: TreeId, error: &str) -> Option<String> {
        let now = self.deps.clock.uptime();
        self.limiters.retain(|_, limiter| !limiter.is_idle(now));
        let limiter: &mut RestartLimiter = self.limiters.entry(tree).or_default();
        if limiter.may_restart(now) {
            tracing::warn!(%tree, error, "tree actor failed, started again");
            return None;
        }
        tracing::error!(%tree, error, "tree actors failed too often, quarantined");
        Some(format!(
            "its actors failed more than 3 times in 60 s, last: {error}"
        ))
    }

    /// Not even its quarantine could be journaled, or the instance goes: nobody here tries again.
    async fn give_up(
        &mut self,
        myself: &ActorRef<NodeMsg>,
        tree: TreeId,
        was: &Awake,
        error: &str,
    ) -> Handled {
        tracing::error!(%tree, error, "tree actor failed, tree is left alone");
        if was.last_try {
            self.unable.insert(tree, error.to_owned());
        }
        let (deps, token) = (Arc::clone(&self.deps), was.token);
        let errand = Box::pin(async move { give_back_by_token(&deps, tree, token).await });
        run_errand(myself.get_cell(), errand).await?;
        self.admit(myself).await?;
        self.drained();
        Ok(())
    }
}
