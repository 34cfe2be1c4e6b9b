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
