//! Prices: what a model's tokens cost.
//!
//! - PRICE-2: amounts are whole micro-units, rounded up; what does not fit becomes the largest amount, never a small one.

use leasehold_types::{Money, TokenUsage};

const TOKENS_PER_PRICE: u128 = 1_000_000;

/// What a million tokens of each kind cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Input that the provider's cache did not hold.
    pub input: Money,
    /// Input read from the provider's cache.
    pub cached: Money,
    /// Output, reasoning included.
    pub output: Money,
}

/// What a model's tokens cost; perhaps other rates for long requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    rates: Rates,
    long: Option<(u64, Rates)>,
}

impl Rates {
    const fn per_million(input: u64, cached: u64, output: u64) -> Self {
        Self {
            input: Money::from_micros(input),
            cached: Money::from_micros(cached),
            output: Money::from_micros(output),
        }
    }
}

impl Price {
    /// Costs nothing: a model on one's own machine, a script.
    pub const FREE: Self = Self::per_million(0, 0, 0);

    /// Prices of a million tokens each of uncached input, cached input and output, in micro-units.
    #[must_use]
    pub const fn per_million(input: u64, cached: u64, output: u64) -> Self {
        Self {
            rates: Rates::per_million(input, cached, output),
            long: None,
        }
    }

    /// The same, with other rates for a whole call whose input, cached or not, has more than `tokens` tokens.
    #[must_use]
    pub const fn above(mut self, tokens: u64, input: u64, cached: u64, output: u64) -> Self {
        self.long = Some((tokens, Rates::per_million(input, cached, output)));
        self
    }

    /// The rates of a call with `input` tokens.
    #[must_use]
    pub fn rates(&self, input: u64) -> Rates {
        self.long
            .filter(|(tokens, _)| input > *tokens)
            .map_or(self.rates, |(_, rates)| rates)
    }

    /// What `usage` costs, rounded up to a whole micro-unit.
    #[must_use]
    pub fn of(&self, usage: TokenUsage) -> Money {
        let rates = self.rates(usage.input);
        let cached = usage.cached.min(usage.input);
        total(&[
            (usage.input - cached, rates.input),
            (cached, rates.cached),
            (usage.output, rates.output),
        ])
    }

    /// What `usage` costs if none of it is cheaper for being cached.
    pub(crate) fn dearest(&self, usage: TokenUsage) -> Money {
        let rates = self.rates(usage.input);
        let input = rates.input.max(rates.cached);
        total(&[(usage.input, input), (usage.output, rates.output)])
    }
}

/// Two numbers of 64 bits multiplied fit 128, and so does the sum of three such.
fn total(parts: &[(u64, Money)]) -> Money {
    let cost = |(tokens, price): &(u64, Money)| u128::from(*tokens) * u128::from(price.micros());
    let sum = parts.iter().map(cost).fold(0_u128, u128::saturating_add);
    let micros = sum.div_ceil(TOKENS_PER_PRICE);
    Money::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price::per_million(3_000_000, 300_000, 15_000_000);

    fn usage(input: u64, cached: u64, output: u64) -> TokenUsage {
        TokenUsage {
            input,
            output,
            cached,
        }
    }

    // CONTRACT S3
    #[test]
    fn costs_are_whole_micro_units_rounded_up_and_never_wrap() {
        let cost = |tokens| PRICE.of(tokens).micros();
        assert_eq!(cost(usage(1_000_000, 0, 0)), 3_000_000);
        assert_eq!(cost(usage(1_000, 1_000, 0)), 300);
        assert_eq!(cost(usage(1, 1, 0)), 1, "0.3 of a micro-unit");
        assert_eq!(cost(usage(1, 0, 1)), 18);
        assert_eq!(cost(usage(0, 0, 0)), 0);
        assert_eq!(cost(usage(u64::MAX, 0, u64::MAX)), u64::MAX);
        assert_eq!(cost(usage(5, 50, 0)), 2, "no more is cached than was sent");
    }

    #[test]
    fn a_long_request_costs_its_own_rates_as_a_whole() {
        let price = PRICE.above(1_000, 6_000_000, 600_000, 22_500_000);
        assert_eq!(price.of(usage(1_000, 0, 100)).micros(), 4_500);
        assert_eq!(price.of(usage(1_001, 1, 100)).micros(), 6_000 + 1 + 2_250);
        assert_eq!(price.dearest(usage(1_001, 0, 0)).micros(), 6_006);
    }
}
