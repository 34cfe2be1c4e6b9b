//! SIGKILL at random moments, five hundred times, over several executions at once.

#![expect(
    clippy::print_stdout,
    reason = "how much was killed is part of the result"
)]

use std::sync::atomic::{AtomicU64, Ordering};

use leasehold_types::Random;

use crate::check::{Met, check};
use crate::job::{Fault, POINTS};
use crate::points::expected;
use crate::site::{End, Site};

/// Numbers that follow from a seed. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014).
#[derive(Debug)]
pub(crate) struct Seeded(AtomicU64);

impl Seeded {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// A number from 0, less than `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next_u64() % bound
    }

    pub(crate) fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[usize::try_from(self.below(items.len() as u64)).unwrap()]
    }
}

impl Random for Seeded {
    fn next_u64(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.0.fetch_add(STEP, Ordering::SeqCst).wrapping_add(STEP);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

const SEED: u64 = 0x1ea5_e402;
const KILLS: u32 = 500;
/// Executions at once.
const CROWD: u64 = 8;
/// The most things that a worker says before it is killed, and the most appends before its fault.
const FAR: u64 = 25;

// RELIABILITY C3
// CONTRACT R4
#[test]
fn five_hundred_kills_at_random_moments_change_neither_answers_nor_effects() {
    let expected = expected();
    let mut random = Seeded::new(SEED);
    let mut site = Site::new(&[]);
    let (mut batches, mut processes, mut kills, mut met) = (0, 0, 0, Met::new());
    while kills < KILLS {
        let runs = (0..CROWD).map(|number| format!("reference-{}", batches * CROWD + number));
        site.next_runs(runs.collect());
        site.crashes = 0;
        while one(&mut site, &mut random) != End::Done {
            processes += 1;
        }
        kills += site.crashes;
        batches += 1;
        met.append(&mut check(
            &site,
            &expected,
            &format!("seed {SEED:#x}, batch {batches}"),
        ));
    }
    println!(
        "random: seed {SEED:#x}, {kills} kills of {processes} processes, {} executions; met {met:?}",
        batches * CROWD
    );
    for due in [
        "a call ran again",
        "a tree was taken over",
        "a write in doubt was not repeated",
        "a write in doubt was repeated",
        "an effect was known by its key",
        "the model was asked again",
    ] {
        assert!(met.contains(due), "{due}: {met:?}");
    }
}

fn one(site: &mut Site, random: &mut Seeded) -> End {
    let far = 1 + random.below(FAR);
    if random.below(2) == 0 {
        return site.run(Some(Fault::Append(random.one_of(&POINTS).0, far)));
    }
    site.run_and_kill_after(usize::try_from(far).unwrap())
}
