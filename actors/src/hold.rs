//! A node's hold on a tree: the loss of a lease reaches the tree past every mailbox.
//!
//! - HOLD-1: once it is lost, no permit is granted under it, whether the claim is still under way or done.

use std::sync::OnceLock;

use leasehold_types::{
    AbortReason, Epoch, ExecutionLeaseLostError, LeaseLostReason, OwnershipGuard, Signal, TreeId,
};

/// The tree's signal, and its guard once it is claimed.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    signal: Signal,
    guard: OnceLock<OwnershipGuard>,
}

impl Hold {
    /// The signal that the tree's guard is made with.
    pub(crate) const fn signal(&self) -> &Signal {
        &self.signal
    }

    /// The tree is claimed; there is one claim to a hold.
    pub(crate) fn claimed(&self, guard: OwnershipGuard) {
        let _first = self.guard.set(guard);
    }

    /// HOLD-1.
    pub(crate) fn lose(&self, tree: TreeId, reason: LeaseLostReason) {
        if let Some(guard) = self.guard.get() {
            return guard.lose(reason);
        }
        let epoch = Epoch::NONE;
        let lost = ExecutionLeaseLostError {
            reason,
            tree,
            epoch,
        };
        self.signal.abort(AbortReason::LeaseLost(lost));
    }
}

/// Why a tree's lease is lost, if it is.
pub(crate) fn lost(signal: &Signal) -> Option<LeaseLostReason> {
    if !signal.is_aborted() {
        return None;
    }
    match signal.reason()? {
        AbortReason::LeaseLost(lost) => Some(lost.reason),
        AbortReason::Cancelled { .. }
        | AbortReason::TimedOut { .. }
        | AbortReason::BudgetExceeded(_)
        | AbortReason::Stopped(_) => Some(LeaseLostReason::Released),
    }
}
