//! Reservations: the most a call may use, known before it is dispatched.
//!
//! - RESERVE-1: an estimate of input is never below what a byte-level tokenizer counts for the same text.

use leasehold_types::{Money, TokenUsage};

use crate::{ModelError, ModelRequest, Price};

/// Tokens for what a provider writes around one message or one tool: roles, separators, its own type syntax.
const TOKENS_PER_ITEM: u64 = 32;

/// Tokens for what a provider puts before a request, as its own prompt for tool use; the largest published one has 346.
const TOKENS_PER_REQUEST: u64 = 512;

/// The most a call may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reservation {
    /// Input estimated from bytes, and the request's limit of output.
    pub tokens: TokenUsage,
    /// The tokens times the price; `None` where no price is known.
    pub money: Option<Money>,
}

impl Reservation {
    /// Estimates a call.
    ///
    /// One byte counts as one token: a token of a byte-level tokenizer covers at least one byte, so real text stays well below.
    #[must_use]
    pub fn of(request: &ModelRequest, price: Option<Price>) -> Self {
        let items = request.messages.len() as u64 + request.tools.len() as u64;
        let messages: u64 = request.messages.iter().map(crate::Message::bytes).sum();
        let tools: u64 = request
            .tools
            .iter()
            .map(crate::ToolDefinitionRef::bytes)
            .sum();
        let bytes = request.instructions.len() as u64 + messages + tools;
        Self::counted(items, bytes, request.max_output_tokens, price)
    }

    /// The same from sums: so many messages and tools, so many bytes of text in them and in the instructions.
    #[must_use]
    pub fn counted(items: u64, bytes: u64, max_output_tokens: u32, price: Option<Price>) -> Self {
        let overhead = TOKENS_PER_REQUEST.saturating_add(items.saturating_mul(TOKENS_PER_ITEM));
        let tokens = TokenUsage {
            input: overhead.saturating_add(bytes),
            output: u64::from(max_output_tokens),
            cached: 0,
        };
        Self {
            tokens,
            money: price.map(|price| price.dearest(tokens)),
        }
    }

    /// The money to reserve where a budget counts money.
    ///
    /// # Errors
    /// [`ModelError::PriceUnknown`]: a call without a price is refused, never free.
    pub fn money_for(&self, model: &str) -> Result<Money, ModelError> {
        self.money.ok_or_else(|| ModelError::PriceUnknown {
            model: model.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::{Message, PriceBook};

    const PRICE: Price = Price::per_million(3_000_000, 300_000, 15_000_000);

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
}
