//! The price book: model names and their prices.
//!
//! - PRICE-1: a model without a price has none; it is never taken for free.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{ModelAnswer, ModelSpend, Price, Reservation, price_table};

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
    use leasehold_types::Money;

    const PRICE: Price = Price::per_million(3_000_000, 300_000, 15_000_000);

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
