//! What a tool pays: recorded as it happens, handed over with the outcome whatever the outcome is.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use leasehold_types::{Amount, Money, MoneyError, PriceSource, SpendEntry, TokenUsage};

/// Why a spend was not recorded. The tool sees it; `?` makes it the tool's own error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpendError {
    /// The amount is not exact.
    #[error(transparent)]
    Amount(#[from] MoneyError),
    /// The service has no name, or one that does not fit a report.
    #[error("[spend.service-invalid] a service's name has 1 to {max} bytes and no control characters", max = Spend::SERVICE_BYTES_MAX)]
    Service,
    /// One call recorded more entries than are kept.
    #[error("[spend.too-many] one call records at most {max} entries: add them up", max = Spend::ENTRIES_MAX)]
    TooMany,
    /// The call ended before: its spend is handed over already.
    #[error("[spend.call-ended] the call has ended: nothing can be recorded for it any more")]
    Ended,
}

/// Records what a tool pays to services that are not models. Take it as a parameter.
///
/// Entries count in every budget as the tool's, also when the call fails afterwards.
#[derive(Debug, Clone)]
pub struct Spend {
    caller: Arc<str>,
    entries: Arc<Mutex<Ledger>>,
}

#[derive(Debug)]
enum Ledger {
    Open(Vec<SpendEntry>),
    Ended,
}

impl Spend {
    /// The longest name of a service, in bytes.
    pub const SERVICE_BYTES_MAX: usize = 128;
    /// The most entries of one call: more would not fit its outcome's frame.
    pub const ENTRIES_MAX: usize = 256;

    /// A counter for one call of the tool of this name.
    #[must_use]
    pub fn of_tool(name: &str) -> Self {
        Self {
            caller: format!("tool:{name}").into(),
            entries: Arc::new(Mutex::new(Ledger::Open(Vec::new()))),
        }
    }

    /// Records that `amount` was paid to `service`.
    ///
    /// # Errors
    /// The amount names no exact sum, the service's name does not fit, or the call recorded too much or has ended.
    pub fn record(&self, service: &str, amount: impl Into<Amount>) -> Result<(), SpendError> {
        let money = amount.into().money()?;
        let is_named = !service.is_empty() && service.len() <= Self::SERVICE_BYTES_MAX;
        if !is_named || service.chars().any(char::is_control) {
            return Err(SpendError::Service);
        }
        match &mut *self.ledger() {
            Ledger::Ended => Err(SpendError::Ended),
            Ledger::Open(entries) if entries.len() >= Self::ENTRIES_MAX => Err(SpendError::TooMany),
            Ledger::Open(entries) => {
                entries.push(self.entry(service, money));
                Ok(())
            }
        }
    }

    /// Takes all entries; nothing can be recorded afterwards.
    #[must_use]
    pub fn end(&self) -> Vec<SpendEntry> {
        match std::mem::replace(&mut *self.ledger(), Ledger::Ended) {
            Ledger::Open(entries) => entries,
            Ledger::Ended => Vec::new(),
        }
    }

    fn entry(&self, service: &str, money: Money) -> SpendEntry {
        SpendEntry {
            caller: self.caller.as_ref().to_owned(),
            service: service.to_owned(),
            tokens: TokenUsage::default(),
            money,
            source: PriceSource::Declared,
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A tool that panicked while it recorded left whole entries behind.
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::{cents, usd};

    // CONTRACT S2
    #[test]
    fn what_a_tool_pays_is_the_tools_and_exact() {
        let spend = Spend::of_tool("pay-tool");
        spend.record("card-network", usd(0.002)).unwrap();
        spend.record("mail", cents(3)).unwrap();
        let entries = spend.end();
        let told: Vec<String> = entries.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "tool:pay-tool card-network 0.002 USD",
                "tool:pay-tool mail 0.03 USD"
            ]
        );
        assert_eq!(entries[0].source, PriceSource::Declared);
    }

    // CONTRACT S2
    #[test]
    fn an_invalid_amount_is_an_error_the_tool_sees() {
        let spend = Spend::of_tool("pay-tool");
        for amount in [0.1 + 0.2, f64::NAN, -1.0] {
            let refused = spend.record("card-network", usd(amount));
            assert!(
                matches!(refused, Err(SpendError::Amount(MoneyError::Invalid(_)))),
                "{amount}"
            );
        }
        assert_eq!(spend.end(), []);
    }

    #[test]
    fn a_counter_has_bounds_and_an_end() {
        let spend = Spend::of_tool("pay-tool");
        for service in ["", "a\nb", &"a".repeat(129)] {
            assert_eq!(spend.record(service, cents(1)), Err(SpendError::Service));
        }
        for _ in 0..Spend::ENTRIES_MAX {
            spend.record("mail", cents(1)).unwrap();
        }
        assert_eq!(spend.record("mail", cents(1)), Err(SpendError::TooMany));
        assert_eq!(spend.end().len(), Spend::ENTRIES_MAX);
        assert_eq!(spend.record("mail", cents(1)), Err(SpendError::Ended));
    }
}
