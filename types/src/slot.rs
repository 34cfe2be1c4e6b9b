//! Slots: the 64 shares of all trees, by which keepers, doorbells and owner keys are spread.

use std::fmt;

use crate::{Digest, TreeId};

/// One of [`Slot::COUNT`] shares of all trees. A tree's slot follows from its id and never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(u8);

impl Slot {
    /// How many slots there are: enough that a hundred instances share them evenly, few enough to watch each.
    pub const COUNT: u8 = 64;

    /// The slot of a tree.
    #[must_use]
    pub fn of(tree: TreeId) -> Self {
        let digest = Digest::of(&tree.as_u128().to_be_bytes());
        let first = digest.as_bytes().first().copied().unwrap_or(0);
        Self(first % Self::COUNT)
    }

    /// The slot with this number, if there is one.
    #[must_use]
    pub const fn numbered(number: u8) -> Option<Self> {
        if number < Self::COUNT {
            return Some(Self(number));
        }
        None
    }

    /// Its number, from 0.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// All slots, in order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_thousand_trees_reach_every_slot_and_no_other_number_is_one() {
        let reached: BTreeSet<Slot> = (0..1_000)
            .map(|number| Slot::of(TreeId::from_u128(number)))
            .collect();
        assert_eq!(reached, Slot::all().collect());
        assert_eq!(Slot::numbered(63).map(Slot::get), Some(63));
        assert_eq!(Slot::numbered(64), None);
    }
}
