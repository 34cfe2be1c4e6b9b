//! Money: whole micro-units of US dollars, checked arithmetic, never a float.
//!
//! - MONEY-1: no amount is ever rounded silently; what does not fit six decimals is refused.

use std::fmt;

use serde::{Deserialize, Serialize};

const MICROS_PER_UNIT: u64 = 1_000_000;

/// An amount of US dollars in micro-units (a millionth of a dollar), 0 to about 18.4 trillion dollars.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Money(u64);

/// Why an amount of money was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MoneyError {
    /// Not a finite number, negative, or with more than six decimals.
    #[error(
        "[money.invalid] {0} is not an amount: a finite number of 0 or more, with at most six decimals"
    )]
    Invalid(String),
    /// More than fits into whole micro-units.
    #[error(
        "[money.overflow] {0} is more than an amount can hold: at most 18446744073709.551615 USD"
    )]
    Overflow(String),
    /// A currency that is not accounted for.
    #[error("[money.currency] {0:?} names no amount of US dollars: write it like \"0.30 USD\"")]
    Currency(String),
}

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// An amount of whole micro-units.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The amount in micro-units.
    #[must_use]
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The sum, or `None` if it does not fit.
    #[must_use]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// The difference, or `None` if it were negative.
    #[must_use]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// The sum, or the largest amount: for totals that may be shown too small but must never wrap.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or nothing.
    #[must_use]
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// Reads an amount as people write it: `0.30 USD`.
    ///
    /// # Errors
    /// Another currency, a sign, more than six decimals, or more than fits.
    pub fn parse(text: &str) -> Result<Self, MoneyError> {
        let amount = text
            .strip_suffix(" USD")
            .ok_or_else(|| MoneyError::Currency(text.to_owned()))?;
        parse_decimal(amount)
    }
}

/// An amount as a program writes it: money, or why it is none.
///
/// The error surfaces where the amount is used: at `record`, or when the application is assembled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Amount(Result<Money, MoneyError>);

impl Amount {
    /// The amount of money.
    ///
    /// # Errors
    /// What was written names no exact amount.
    pub fn money(&self) -> Result<Money, MoneyError> {
        self.0.clone()
    }

    /// A budget of this much for one execution tree.
    #[must_use]
    pub const fn per_execution(self) -> Budget {
        Budget {
            scope: BudgetScope::Execution,
            limit: self,
        }
    }
}

impl From<Money> for Amount {
    fn from(money: Money) -> Self {
        Self(Ok(money))
    }
}

/// What a budget counts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum BudgetScope {
    /// One execution tree.
    Execution,
}

/// The most money that may be used within a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// What is counted together.
    pub scope: BudgetScope,
    /// The most.
    pub limit: Amount,
}

/// The exact amount a decimal number of dollars names: `usd(0.002)` is 2,000 micro-units.
///
/// The number's shortest decimal form is read digit by digit, so `usd(0.1 + 0.2)` is an error and not 300,000.
#[must_use]
pub fn usd(amount: f64) -> Amount {
    let text = format!("{amount}");
    if !amount.is_finite() || amount.is_sign_negative() {
        return Amount(Err(MoneyError::Invalid(text)));
    }
    Amount(parse_decimal(&text))
}

/// Whole cents.
#[must_use]
pub const fn cents(amount: u32) -> Money {
    Money(amount as u64 * (MICROS_PER_UNIT / 100))
}

fn parse_decimal(text: &str) -> Result<Money, MoneyError> {
    let invalid = || MoneyError::Invalid(text.to_owned());
    let overflow = || MoneyError::Overflow(text.to_owned());
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let dangling = text.contains('.') && fraction.is_empty();
    if whole.is_empty() || dangling || !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return Err(invalid());
    }
    let whole: u64 = whole.parse().map_err(|_| overflow())?;
    let fraction: u64 = format!("{fraction:0<6}").parse().map_err(|_| invalid())?;
    whole
        .checked_mul(MICROS_PER_UNIT)
        .and_then(|micros| micros.checked_add(fraction))
        .map(Money)
        .ok_or_else(overflow)
}

impl fmt::Display for Money {
    /// Writes `0.30 USD`: at least two decimals, at most six, no more than needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:06}", self.0 % MICROS_PER_UNIT);
        let shown = fraction.trim_end_matches('0').len().max(2);
        f.pad(&format!(
            "{}.{} USD",
            self.0 / MICROS_PER_UNIT,
            &fraction[..shown]
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT S3
    #[test]
    fn an_amount_is_exact_or_refused() {
        let micros = |amount| usd(amount).money().map(Money::micros);
        assert_eq!(micros(0.002), Ok(2_000));
        assert_eq!(micros(1.50), Ok(1_500_000));
        assert_eq!(micros(0.000_001), Ok(1));
        assert_eq!(micros(0.0), Ok(0));
        for refused in [0.1 + 0.2, f64::NAN, f64::INFINITY, -1.0, -0.0, 0.000_000_1] {
            assert!(
                matches!(usd(refused).money(), Err(MoneyError::Invalid(_))),
                "{refused}"
            );
        }
        assert!(matches!(usd(1e300).money(), Err(MoneyError::Overflow(_))));
    }

    // CONTRACT S3
    #[test]
    fn sums_are_checked() {
        assert_eq!(Money(u64::MAX).checked_add(Money(1)), None);
        assert_eq!(Money(1).checked_sub(Money(2)), None);
    }

    #[test]
    fn amounts_are_written_as_they_are_read() {
        for text in ["0.30 USD", "0.002 USD", "12.00 USD", "0.000001 USD"] {
            assert_eq!(Money::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "0.30", "0.30 EUR", "-1 USD", "1. USD", ".5 USD", "1e3 USD", " USD",
        ] {
            assert!(Money::parse(text).is_err(), "{text}");
        }
    }
}
