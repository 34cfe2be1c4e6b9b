//! The keeper's arithmetic: which trees are to be woken, and when. Pure.
//!
//! - KEEP-1: a tree is woken for its timer at or after its due time, never before.
//! - KEEP-2: at most one time is held for a tree; what the tree said last counts.
//! - KEEP-3: a tree that closes again with a time that has passed is not woken sooner than [`AGAIN_MIN`] later.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use leasehold_actors::Closed;
use leasehold_types::{Timestamp, TreeId, TreeState, TreeSummary};

/// The least time between two timer wakes of a tree that made no progress.
pub(super) const AGAIN_MIN: Duration = Duration::from_secs(1);
/// When a tree that somebody else held is looked at again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// A tree to wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// It has steps left from an owner that is gone.
    LeftOver(TreeId),
    /// A timer of it ended.
    Due(TreeId),
}

/// The times of the trees at rest.
#[derive(Debug, Default)]
pub(super) struct KeeperMachine {
    by_time: BTreeSet<(Timestamp, TreeId)>,
    by_tree: BTreeMap<TreeId, Timestamp>,
}

impl KeeperMachine {
    /// Takes note of a tree that was there before this instance.
    pub(super) fn on_head(
        &mut self,
        now: Timestamp,
        tree: TreeId,
        summary: &TreeSummary,
    ) -> Option<Wake> {
        match summary.state {
            TreeState::Live => Some(Wake::LeftOver(tree)),
            TreeState::Resting => match summary.next_due {
                Some(due) if due <= now => Some(Wake::Due(tree)),
                Some(due) => {
                    self.hold(tree, due);
                    None
                }
                None => None,
            },
            TreeState::Blocked | TreeState::Ended => None,
        }
    }

    /// Takes note of how a tree's actors ended.
    pub(super) fn on_closed(&mut self, now: Timestamp, tree: TreeId, how: &Closed) {
        match how {
            Closed::Resting { due: Some(due) } if *due <= now => {
                self.hold(tree, now.plus(AGAIN_MIN));
            }
            Closed::Resting { due: Some(due) } => self.hold(tree, *due),
            Closed::HeldElsewhere | Closed::Fenced { .. } => self.hold(tree, now.plus(LOOK_AGAIN)),
            // The node itself tries again what the store did not serve, and runs suspects in their turn.
            Closed::Resting { due: None }
            | Closed::Ended
            | Closed::Released
            | Closed::Blocked
            | Closed::Unavailable { .. }
            | Closed::Corrupt { .. }
            | Closed::WaitingForVersion { .. }
            | Closed::Missing
            | Closed::Suspect => self.forget(tree),
        }
    }

    /// The trees that are due.
    pub(super) fn on_tick(&mut self, now: Timestamp) -> Vec<Wake> {
        let mut due = Vec::new();
        while let Some((time, tree)) = self.by_time.first().copied() {
            if time > now {
                break;
            }
            self.forget(tree);
            due.push(Wake::Due(tree));
        }
        due
    }

    /// When [`Self::on_tick`] next gives something.
    pub(super) fn next_deadline(&self) -> Option<Timestamp> {
        self.by_time.first().map(|(time, _)| *time)
    }

    /// How many trees it holds a time for.
    pub(super) fn held(&self) -> usize {
        self.by_tree.len()
    }

    fn hold(&mut self, tree: TreeId, due: Timestamp) {
        self.forget(tree);
        self.by_tree.insert(tree, due);
        self.by_time.insert((due, tree));
    }

    fn forget(&mut self, tree: TreeId) {
        if let Some(due) = self.by_tree.remove(&tree) {
            self.by_time.remove(&(due, tree));
        }
    }
}

#[cfg(test)]
mod tests {
    use leasehold_types::Digest;

    use super::*;

    const TREE: TreeId = TreeId::from_u128(7);

    const fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1_000)
    }

    fn head(state: TreeState, due: Option<i64>) -> TreeSummary {
        TreeSummary {
            state,
            next_due: due.map(at),
            config_hash: Digest::default(),
            reader_version: 1,
            workflow: "w".to_owned(),
            thread: String::new(),
            pauses: vec![],
        }
    }

    #[track_caller]
    fn check(summary: &TreeSummary, now: i64, wake: Option<Wake>, next: Option<i64>) {
        let mut machine = KeeperMachine::default();
        assert_eq!(machine.on_head(at(now), TREE, summary), wake);
        assert_eq!(machine.next_deadline(), next.map(at));
    }

    // CASE 92, 93
    #[test]
    fn what_was_left_over_or_fell_due_meanwhile_is_woken_at_once_and_the_rest_is_held() {
        use TreeState::{Blocked, Ended, Live, Resting};
        check(&head(Live, None), 5, Some(Wake::LeftOver(TREE)), None);
        check(&head(Live, Some(9)), 5, Some(Wake::LeftOver(TREE)), None);
        check(&head(Resting, None), 5, None, None);
        check(&head(Resting, Some(6)), 5, None, Some(6));
        check(&head(Resting, Some(5)), 5, Some(Wake::Due(TREE)), None);
        check(&head(Resting, Some(1)), 5, Some(Wake::Due(TREE)), None);
        check(&head(Blocked, Some(1)), 5, None, None);
        check(&head(Ended, Some(1)), 5, None, None);
    }

    #[test]
    fn a_tree_is_woken_when_it_is_due_and_once() {
        let mut machine = KeeperMachine::default();
        let other = TreeId::from_u128(8);
        machine.on_closed(at(0), TREE, &Closed::Resting { due: Some(at(10)) });
        machine.on_closed(at(0), other, &Closed::Resting { due: Some(at(5)) });
        machine.on_closed(at(0), other, &Closed::Resting { due: Some(at(20)) });
        assert_eq!(
            (machine.held(), machine.next_deadline()),
            (2, Some(at(10))),
            "KEEP-2"
        );
        assert_eq!(machine.on_tick(at(9)), [], "KEEP-1");
        assert_eq!(machine.on_tick(at(10)), [Wake::Due(TREE)], "KEEP-1");
        assert_eq!(machine.on_tick(at(10)), []);
        assert_eq!(machine.on_tick(at(99)), [Wake::Due(other)]);
        assert_eq!((machine.held(), machine.next_deadline()), (0, None));
    }

    #[test]
    fn a_tree_that_is_not_at_rest_any_more_is_not_woken() {
        let mut machine = KeeperMachine::default();
        let ends = [
            Closed::Ended,
            Closed::Blocked,
            Closed::Released,
            Closed::Missing,
            Closed::Suspect,
            Closed::Resting { due: None },
            Closed::Corrupt { why: String::new() },
            Closed::WaitingForVersion { why: String::new() },
            Closed::Unavailable { why: String::new() },
        ];
        for how in ends {
            machine.on_closed(at(0), TREE, &Closed::Resting { due: Some(at(10)) });
            machine.on_closed(at(1), TREE, &how);
            assert_eq!(machine.on_tick(at(99)), [], "{how:?}");
        }
    }

    #[test]
    fn a_tree_without_progress_waits_a_second_and_one_held_elsewhere_is_looked_at_again() {
        let mut machine = KeeperMachine::default();
        machine.on_closed(at(10), TREE, &Closed::Resting { due: Some(at(3)) });
        assert_eq!(machine.next_deadline(), Some(at(11)), "KEEP-3");
        machine.on_closed(at(10), TREE, &Closed::HeldElsewhere);
        assert_eq!(machine.next_deadline(), Some(at(40)));
    }
}
