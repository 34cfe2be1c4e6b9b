//! Permits: the one way to be allowed to act outside, and the guard that grants them.
//!
//! A model or tool call takes a [`Permit`] by value; only [`OwnershipGuard::permit`] makes one.
//!
//! - PERMIT-1: no permit is granted before the step's intent is durable under the guard's epoch.
//! - PERMIT-2: no permit is granted at or after the guard's deadline, or once the tree's signal is aborted.
//! - PERMIT-3: a deadline that has passed is never moved: losing is final.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{
    AbortReason, ExecutionLeaseLostError, FencingToken, FrameIndex, LeaseLostReason, Signal, Uptime,
};

/// What a step must show to be permitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepIntent {
    /// The frame that holds the step's intent.
    pub frame: FrameIndex,
    /// The least time the step needs before the deadline.
    pub needs: Duration,
}

/// Why a permit was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PermitRefused {
    /// The tree's signal is aborted.
    #[error("{0}")]
    Aborted(AbortReason),
    /// The lease's deadline is too near or has passed.
    #[error(transparent)]
    Lost(#[from] ExecutionLeaseLostError),
    /// The step's intent is not durable yet.
    #[error(
        "[permit.intent-not-durable] the intent in frame {intent} is not durable: the journal is acknowledged before frame {durable}"
    )]
    NotDurable {
        /// The frame that holds the intent.
        intent: FrameIndex,
        /// The first frame that is not acknowledged.
        durable: FrameIndex,
    },
}

/// The right to make one call outside, under one epoch. Cannot be copied, made or kept by anybody else.
#[derive(Debug)]
#[must_use]
pub struct Permit {
    token: FencingToken,
    intent: FrameIndex,
}

impl Permit {
    /// The tree and epoch it was granted under.
    #[must_use]
    pub const fn token(&self) -> FencingToken {
        self.token
    }

    /// The frame that holds the intent it was granted for.
    #[must_use]
    pub const fn intent(&self) -> FrameIndex {
        self.intent
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Permit {}
}

/// What a call outside asks for. Only [`Permit`] is one.
#[diagnostic::on_unimplemented(
    message = "a call needs a `Permit`; only `OwnershipGuard::permit` makes one",
    label = "not a `Permit`"
)]
pub trait PermitToken: sealed::Sealed + Send {
    /// The permit itself.
    fn into_permit(self) -> Permit;
}

impl PermitToken for Permit {
    fn into_permit(self) -> Permit {
        self
    }
}

/// Says whether one tree, held under one epoch, may act: asked before each call, told by journal and lease.
///
/// Clones share one state, so a watchdog on its own thread can move or end it while actors ask.
#[derive(Debug, Clone)]
pub struct OwnershipGuard(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    token: FencingToken,
    signal: Signal,
    /// Microseconds of [`Uptime`]; `u64::MAX` where no lease store can take the tree away.
    deadline: AtomicU64,
    /// The first frame that is not acknowledged.
    durable: AtomicU64,
}

impl OwnershipGuard {
    /// A guard for a tree that was just claimed: `claimed` is the frame of the claim, acknowledged.
    ///
    /// Without `deadline` the tree is held as long as the process lives, as in the embedded store, whose lock is the lease.
    #[must_use]
    pub fn claimed(
        token: FencingToken,
        claimed: FrameIndex,
        deadline: Option<Uptime>,
        signal: Signal,
    ) -> Self {
        Self(Arc::new(Inner {
            token,
            signal,
            deadline: AtomicU64::new(deadline.map_or(u64::MAX, Uptime::as_micros)),
            durable: AtomicU64::new(claimed.next().get()),
        }))
    }

    /// The tree and epoch that are guarded.
    #[must_use]
    pub fn token(&self) -> FencingToken {
        self.0.token
    }

    /// The tree's signal; every execution's and call's is below it.
    #[must_use]
    pub fn signal(&self) -> &Signal {
        &self.0.signal
    }

    /// Takes note that all frames up to and including `frame` are acknowledged.
    pub fn acknowledged(&self, frame: FrameIndex) {
        self.0
            .durable
            .fetch_max(frame.next().get(), Ordering::AcqRel);
    }

    /// Moves the deadline to that of a confirmed renewal. A deadline already passed at `now` stays: PERMIT-3.
    pub fn renewed(&self, now: Uptime, deadline: Uptime) {
        let passed = |current: u64| current <= now.as_micros();
        let _moved = self
            .0
            .deadline
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |current| {
                (!passed(current)).then(|| current.max(deadline.as_micros()))
            });
    }

    /// Ends the guard: the signal is aborted with `ExecutionLeaseLostError` and no permit is granted again.
    pub fn lose(&self, reason: LeaseLostReason) {
        self.0.deadline.store(0, Ordering::Release);
        self.0.signal.abort(self.lost(reason).into());
    }

    /// Grants the right to make one call.
    ///
    /// # Errors
    /// The signal is aborted, the deadline is nearer than the step needs, or the step's intent is not durable.
    pub fn permit(&self, now: Uptime, step: StepIntent) -> Result<Permit, PermitRefused> {
        if let Some(reason) = self.0.signal.reason() {
            return Err(PermitRefused::Aborted(reason));
        }
        let deadline = self.0.deadline.load(Ordering::Acquire);
        if deadline != u64::MAX && now.plus(step.needs).as_micros() >= deadline {
            return Err(self.lost(LeaseLostReason::StoreSilent).into());
        }
        let durable = FrameIndex::new(self.0.durable.load(Ordering::Acquire));
        if step.frame >= durable {
            return Err(PermitRefused::NotDurable {
                intent: step.frame,
                durable,
            });
        }
        Ok(Permit {
            token: self.0.token,
            intent: step.frame,
        })
    }

    fn lost(&self, reason: LeaseLostReason) -> ExecutionLeaseLostError {
        ExecutionLeaseLostError {
            reason,
            tree: self.0.token.tree,
            epoch: self.0.token.epoch,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Epoch, TreeId};

    fn guard(deadline: Option<u64>) -> OwnershipGuard {
        let token = FencingToken {
            tree: TreeId::from_u128(1),
            epoch: Epoch::new(2),
        };
        let deadline = deadline.map(Uptime::from_micros);
        OwnershipGuard::claimed(token, FrameIndex::new(4), deadline, Signal::root())
    }

    fn step(frame: u64) -> StepIntent {
        StepIntent {
            frame: FrameIndex::new(frame),
            needs: Duration::from_micros(10),
        }
    }

    #[test]
    fn an_intent_that_is_not_durable_gets_no_permit() {
        let guard = guard(None);
        let now = Uptime::from_micros(0);
        assert!(
            guard.permit(now, step(4)).is_ok(),
            "the claim's own frame is acknowledged"
        );
        assert!(
            matches!(
                guard.permit(now, step(5)),
                Err(PermitRefused::NotDurable { .. })
            ),
            "PERMIT-1"
        );
        guard.acknowledged(FrameIndex::new(5));
        assert!(guard.permit(now, step(5)).is_ok());
    }

    #[test]
    fn the_deadline_is_exclusive_and_a_passed_one_never_moves() {
        let guard = guard(Some(100));
        assert!(guard.permit(Uptime::from_micros(89), step(4)).is_ok());
        assert!(matches!(
            guard.permit(Uptime::from_micros(90), step(4)),
            Err(PermitRefused::Lost(_))
        ));
        guard.renewed(Uptime::from_micros(99), Uptime::from_micros(200));
        assert!(guard.permit(Uptime::from_micros(150), step(4)).is_ok());
        guard.renewed(Uptime::from_micros(200), Uptime::from_micros(400));
        assert!(
            guard.permit(Uptime::from_micros(201), step(4)).is_err(),
            "PERMIT-3"
        );
    }

    // CONTRACT R2
    #[test]
    fn a_lost_lease_aborts_the_signal_with_its_reason_and_ends_all_permits() {
        let guard = guard(None);
        guard.lose(LeaseLostReason::Fenced);
        let Some(AbortReason::LeaseLost(error)) = guard.signal().reason() else {
            panic!("the signal tells of the loss");
        };
        assert_eq!(
            (error.reason, error.epoch),
            (LeaseLostReason::Fenced, Epoch::new(2))
        );
        assert!(
            guard.permit(Uptime::from_micros(0), step(4)).is_err(),
            "PERMIT-2"
        );
        guard.renewed(Uptime::from_micros(1), Uptime::from_micros(900));
        assert!(
            guard.permit(Uptime::from_micros(2), step(4)).is_err(),
            "D7: lost is final"
        );
    }
}
