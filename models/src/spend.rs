//! What an answer, or an attempt without one, is booked at.
//!
//! - PRICE-3: a provider's numbers that are missing or cannot be true never lower what is booked: the reservation is.

use leasehold_types::{Money, PriceSource, TokenUsage};

use crate::{ModelAnswer, Price, Reservation};

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Message, ModelRequest, StopReason};

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
}
