//! What was used: tokens and money, and where the price came from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Money;

/// Tokens of one model call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Tokens of the request, the cached ones included.
    pub input: u64,
    /// Tokens of the answer, reasoning included.
    pub output: u64,
    /// Tokens of the request that the provider read from its cache.
    pub cached: u64,
}

impl TokenUsage {
    /// Input and output together.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The sums of both, field by field.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
        }
    }
}

/// Where an amount of money came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PriceSource {
    /// The provider's own figure.
    Provider,
    /// Tokens times the price book.
    PriceBook,
    /// The usage was missing or absurd: the reservation was booked instead.
    Estimate,
    /// The tool said what it paid.
    Declared,
    /// No price is known; allowed only where no budget counts money.
    Unpriced,
}

/// One amount that was used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpendEntry {
    /// Who used it: `agent:<name>` or `tool:<name>`.
    pub caller: String,
    /// What was paid: a model, or a service that is not one.
    pub service: String,
    /// Tokens, zero for what is not a model.
    #[serde(default)]
    pub tokens: TokenUsage,
    /// Money.
    pub money: Money,
    /// Where the amount of money came from.
    pub source: PriceSource,
}

impl fmt::Display for SpendEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.caller, self.service, self.money)
    }
}
