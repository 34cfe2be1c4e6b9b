//! Prices: what tokens cost, and what an answer is booked at.
//!
//! - PRICE-1: a model without a price has none; it is never taken for free.
//! - PRICE-2: amounts are whole micro-units, rounded up; what does not fit becomes the largest amount, never a small one.
//! - PRICE-3: a provider's numbers that are missing or cannot be true never lower what is booked: the reservation is.

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_types::{Money, PriceSource, TokenUsage};

use crate::{ModelAnswer, Reservation, price_table};

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

/// What an answer is booked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSpend {
    /// The provider's numbers, else the reservation's.
    pub tokens: TokenUsage,
    /// The amount.
    pub money: Money,
    /// Where the amount came from.
    pub source: PriceSource,
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

impl ModelSpend {
    /// What `answer` is booked at: the provider's own figure, else its tokens times `price`, else the reservation.
    #[must_use]
    pub fn settle(price: Option<Price>, answer: &ModelAnswer, reservation: Reservation) -> Self {
        let (money, source) = match (answer.cost, answer.usage, price, reservation.money) {
            (Some(cost), _, _, _) => (cost, PriceSource::Provider),
            (None, Some(usage), Some(price), _) => (price.of(usage), PriceSource::PriceBook),
            (None, None, _, Some(reserved)) => (reserved, PriceSource::Estimate),
            (None, None, Some(price), None) => {
                (price.dearest(reservation.tokens), PriceSource::Estimate)
            }
            (None, Some(_), None, Some(reserved)) => (reserved, PriceSource::Estimate),
            (None, _, None, None) => (Money::ZERO, PriceSource::Unpriced),
        };
        Self {
            tokens: answer.usage.unwrap_or(reservation.tokens),
            money,
            source,
        }
    }

    /// What an attempt without an answer is booked at, where it may have been billed: the reservation.
    #[must_use]
    pub fn possible(reservation: Reservation) -> Self {
        Self {
            tokens: reservation.tokens,
            money: reservation.money.unwrap_or(Money::ZERO),
            source: reservation
                .money
                .map_or(PriceSource::Unpriced, |_| PriceSource::Estimate),
        }
    }
}

/// Model names and their prices. A clone shares the entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceBook {
    prices: Arc<BTreeMap<String, Price>>,
}

impl PriceBook {
    /// A book without entries.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The prices that the providers publish, as of [`PriceBook::BUILT_IN_DATE`].
    #[must_use]
    pub fn built_in() -> Self {
        let entry = |(name, price): &(&str, Price)| ((*name).to_owned(), *price);
        Self {
            prices: Arc::new(price_table::BUILT_IN.iter().map(entry).collect()),
        }
    }

    /// The month in which the built-in prices were read from the providers' public price pages.
    pub const BUILT_IN_DATE: &str = price_table::READ_IN;

    /// The book with `price` for `model`, in place of an earlier one. `<provider>/*` prices every other model of a provider.
    #[must_use]
    pub fn with(mut self, model: &str, price: Price) -> Self {
        Arc::make_mut(&mut self.prices).insert(model.to_owned(), price);
        self
    }

    /// The price of `model`: its own entry, else that of the name without its date, else its provider's `/*` entry.
    #[must_use]
    pub fn price(&self, model: &str) -> Option<Price> {
        let any = |model: &str| {
            model
                .split_once('/')
                .map(|(provider, _)| format!("{provider}/*"))
        };
        let entry = |name: &str| self.prices.get(name).copied();
        entry(model)
            .or_else(|| entry(without_date(model)))
            .or_else(|| entry(&any(model)?))
    }

    /// What `answer` of `model` is booked at.
    #[must_use]
    pub fn spend(&self, model: &str, answer: &ModelAnswer, reservation: Reservation) -> ModelSpend {
        ModelSpend::settle(self.price(model), answer, reservation)
    }
}

/// The name without a trailing `-20250929` or `-2025-08-07`: a dated release costs what its name does.
fn without_date(model: &str) -> &str {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let date = |text: &str| match text.split('-').collect::<Vec<_>>().as_slice() {
        [day] => day.len() == 8 && digits(day),
        [year, month, day] => {
            (year.len(), month.len(), day.len()) == (4, 2, 2)
                && [year, month, day].into_iter().all(|part| digits(part))
        }
        _ => false,
    };
    [9, 11]
        .into_iter()
        .filter_map(|length| model.split_at_checked(model.len().checked_sub(length)?))
        .find_map(|(name, tail)| {
            tail.strip_prefix('-')
                .filter(|tail| date(tail))
                .map(|_| name)
        })
        .unwrap_or(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, ModelError, ModelRequest, StopReason};

    const PRICE: Price = Price::per_million(3_000_000, 300_000, 15_000_000);

    fn usage(input: u64, cached: u64, output: u64) -> TokenUsage {
        TokenUsage {
            input,
            output,
            cached,
        }
    }

    fn answer(usage: Option<TokenUsage>, cost: Option<Money>) -> ModelAnswer {
        ModelAnswer {
            text: "hi".into(),
            calls: vec![],
            echo: None,
            stop: StopReason::Finished,
            usage,
            cost,
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

    #[track_caller]
    fn check(price: Option<Price>, answer: &ModelAnswer, money: u64, source: PriceSource) {
        let request = ModelRequest::new("", vec![Message::user("hi")]);
        let spend = ModelSpend::settle(price, answer, Reservation::of(&request, price));
        assert_eq!((spend.money.micros(), spend.source), (money, source));
    }

    // CONTRACT S1
    #[test]
    fn the_providers_figure_comes_first_then_the_price_book() {
        let (known, figure) = (Some(usage(100, 0, 10)), Some(Money::from_micros(9)));
        check(
            Some(PRICE),
            &answer(known, figure),
            9,
            PriceSource::Provider,
        );
        check(
            Some(PRICE),
            &answer(known, None),
            450,
            PriceSource::PriceBook,
        );
        check(None, &answer(known, figure), 9, PriceSource::Provider);
        check(None, &answer(known, None), 0, PriceSource::Unpriced);
    }

    // BAD INPUT 21
    #[test]
    fn missing_usage_books_the_whole_reservation_and_says_so() {
        let request = ModelRequest::new("", vec![Message::user("hi")]);
        let reserved = Reservation::of(&request, Some(PRICE));
        let spend = ModelSpend::settle(Some(PRICE), &answer(None, None), reserved);
        assert_eq!(Some(spend.money), reserved.money);
        assert_eq!(spend.tokens, reserved.tokens);
        assert_eq!(spend.source, PriceSource::Estimate);
    }

    // CONTRACT S1
    #[test]
    fn a_call_without_a_known_price_is_refused_where_a_budget_counts_money() {
        let request = ModelRequest::new("", vec![Message::user("hi")]);
        let reservation = Reservation::of(&request, PriceBook::built_in().price("openai/nobody"));
        let error = reservation.money_for("openai/nobody").unwrap_err();
        assert!(matches!(error, ModelError::PriceUnknown { .. }), "{error}");
        assert!(error.to_string().starts_with("[model.price-unknown] "));
    }

    // CONTRACT S5
    #[test]
    fn a_reservation_covers_every_byte_of_the_request_and_the_whole_output() {
        let schema = Arc::new(serde_json::json!({"type": "object"}));
        let mut request = ModelRequest::new("be brief", vec![Message::user("é".repeat(1_000))]);
        request.tools = [crate::ToolDefinitionRef::new("a-tool", "Does.", schema)].into();
        request.max_output_tokens = 500;
        let reservation = Reservation::of(&request, Some(PRICE));
        assert!(
            reservation.tokens.input >= 8 + 2_000 + 6 + 5 + 17,
            "RESERVE-1"
        );
        assert_eq!(reservation.tokens.output, 500);
        assert_eq!(reservation.money, Some(PRICE.of(reservation.tokens)));
    }

    #[test]
    fn an_entry_serves_dated_releases_of_its_model_and_no_other_model() {
        let book = PriceBook::empty()
            .with("a/model-5", PRICE)
            .with("local/*", Price::FREE);
        for known in ["a/model-5", "a/model-5-20250929", "a/model-5-2025-08-07"] {
            assert_eq!(book.price(known), Some(PRICE), "{known}");
        }
        for unknown in [
            "a/model-5-pro",
            "a/model-5-1",
            "a/model-5-2025x08-07",
            "b/model-5",
            "a",
            "",
        ] {
            assert_eq!(book.price(unknown), None, "{unknown}");
        }
        assert_eq!(book.price("local/anything"), Some(Price::FREE));
    }

    #[test]
    fn the_built_in_prices_are_plausible_and_a_cache_never_makes_dearer() {
        for (name, price) in price_table::BUILT_IN {
            let (short, long) = (price.rates(1), price.rates(u64::MAX));
            assert!(
                short.cached <= short.input && short.input <= short.output,
                "{name}"
            );
            assert!(
                short.input <= long.input && short.output <= long.output,
                "{name}"
            );
            assert!(
                long.output <= Money::from_micros(200_000_000),
                "{name}: a unit is wrong"
            );
        }
        assert_eq!(
            PriceBook::built_in().prices.len(),
            price_table::BUILT_IN.len(),
            "none twice"
        );
    }

    #[test]
    fn an_application_overrides_a_price_without_changing_the_book_it_came_from() {
        let book = PriceBook::empty().with("a/b", PRICE);
        let own = book.clone().with("a/b", Price::FREE);
        assert_eq!(
            (book.price("a/b"), own.price("a/b")),
            (Some(PRICE), Some(Price::FREE))
        );
    }
}
