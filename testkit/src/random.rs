//! Seeded chance: the same numbers for the same seed. Never fit for secrets.

use std::sync::atomic::{AtomicU64, Ordering};

use leasehold_types::Random;

/// Random numbers that a seed determines.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// The numbers of this seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

/// Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators" (2014), splitmix64.
impl Random for SeededRandom {
    fn next_u64(&self) -> u64 {
        const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
        let state = self.0.fetch_add(GAMMA, Ordering::Relaxed);
        let value = state.wrapping_add(GAMMA);
        let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_published_numbers_each_time() {
        for _again in 0..2 {
            let random = SeededRandom::new(1_234_567);
            let first = [random.next_u64(), random.next_u64()];
            assert_eq!(
                first,
                [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]
            );
        }
    }
}
