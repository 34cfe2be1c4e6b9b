//! The trees of one session: which are held, which are asked for, and which the store says are another's.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_types::{LeaseLostReason, TreeId};

use super::{Action, ClaimRefusal, Event};
use crate::Revision;

#[derive(Debug, Clone)]
pub(super) struct Trees {
    keys_max: usize,
    owned: BTreeMap<TreeId, Revision>,
    asked: BTreeSet<TreeId>,
}

impl Trees {
    pub(super) const fn new(keys_max: usize) -> Self {
        Self {
            keys_max,
            owned: BTreeMap::new(),
            asked: BTreeSet::new(),
        }
    }

    pub(super) fn room(&self) -> usize {
        self.keys_max
            .saturating_sub(self.owned.len() + self.asked.len())
    }

    pub(super) fn want(&mut self, tree: TreeId, is_held: bool) -> Action {
        let refuse = |why| Action::RefuseClaim { tree, why };
        if self.owned.contains_key(&tree) || self.asked.contains(&tree) {
            return refuse(ClaimRefusal::Already);
        }
        if is_held {
            return refuse(ClaimRefusal::Held);
        }
        if self.room() == 0 {
            return refuse(ClaimRefusal::Full);
        }
        self.asked.insert(tree);
        assert!(
            self.owned.len() + self.asked.len() <= self.keys_max,
            "LEASE-8: a session holds at most its limit of keys"
        );
        Action::Claim { tree }
    }

    pub(super) fn claim_ended(&mut self, tree: TreeId, won: Option<Revision>) -> Vec<Action> {
        let was_asked = self.asked.remove(&tree);
        let Some(create_revision) = won else {
            return vec![];
        };
        if !was_asked {
            return self.give_back_stray(tree, create_revision);
        }
        self.owned.insert(tree, create_revision);
        vec![]
    }

    pub(super) fn released(&mut self, tree: TreeId) -> Vec<Action> {
        self.lose_and_release(tree, LeaseLostReason::Released)
    }

    pub(super) fn fenced(&mut self, tree: TreeId) -> Vec<Action> {
        self.lose_and_release(tree, LeaseLostReason::Fenced)
    }

    fn lose_and_release(&mut self, tree: TreeId, reason: LeaseLostReason) -> Vec<Action> {
        let Some(create_revision) = self.owned.remove(&tree) else {
            return vec![];
        };
        vec![
            Action::Lose { tree, reason },
            Action::Release {
                tree,
                create_revision,
            },
        ]
    }

    pub(super) fn seen(
        &mut self,
        tree: TreeId,
        at: Revision,
        seen: Option<Revision>,
    ) -> Vec<Action> {
        let Some(ours) = self.owned.get(&tree) else {
            return vec![];
        };
        if at < *ours || seen == Some(*ours) {
            return vec![];
        }
        self.owned.remove(&tree);
        vec![Action::Lose {
            tree,
            reason: LeaseLostReason::Taken,
        }]
    }

    pub(super) fn swept(
        &mut self,
        at: Revision,
        listed: &BTreeMap<TreeId, Revision>,
    ) -> Vec<Action> {
        let held: Vec<_> = self.owned.keys().copied().collect();
        let mut actions = vec![];
        for tree in held {
            actions.extend(self.seen(tree, at, listed.get(&tree).copied()));
        }
        for (tree, revision) in listed {
            actions.extend(self.give_back_stray(*tree, *revision));
        }
        actions
    }

    /// A claim that landed late, or a release that did not: the store holds a key for us that nobody uses.
    fn give_back_stray(&self, tree: TreeId, create_revision: Revision) -> Vec<Action> {
        if self.asked.contains(&tree) || self.owned.get(&tree) == Some(&create_revision) {
            return vec![];
        }
        vec![Action::Release {
            tree,
            create_revision,
        }]
    }

    pub(super) fn lose_all(&mut self, reason: LeaseLostReason) -> Vec<Action> {
        self.asked.clear();
        std::mem::take(&mut self.owned)
            .into_keys()
            .map(|tree| Action::Lose { tree, reason })
            .collect()
    }
}

/// LEASE-2: once the session is over, wishes are refused and nothing else is answered.
pub(super) fn after_the_end(event: &Event) -> Vec<Action> {
    match event {
        Event::Wanted { tree } => vec![Action::RefuseClaim {
            tree: *tree,
            why: ClaimRefusal::SessionOver,
        }],
        Event::Tick
        | Event::Renewal { .. }
        | Event::SessionGone
        | Event::ClaimEnded { .. }
        | Event::Released { .. }
        | Event::Fenced { .. }
        | Event::Seen { .. }
        | Event::Swept { .. }
        | Event::Close => vec![],
    }
}
