//! The budget of one tree: reserved before it is spent, settled after, never under-reported.
//!
//! - LEDGER-1: settled, possible and reserved money together never exceed the limit at the time of a reservation.
//! - LEDGER-2: a reservation is settled, released, or booked as possible spend, and each only once.
//! - LEDGER-3: totals never wrap and never fall.

use std::collections::BTreeMap;

use leasehold_types::{Money, SpendEntry, TokenUsage};

/// A budget does not cover what a call may cost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "[budget.exceeded] BudgetExceededError: {needed} would be reserved, {left} of {limit} is left"
)]
pub struct BudgetExceededError {
    /// What the call may cost.
    pub needed: Money,
    /// What is left.
    pub left: Money,
    /// The limit.
    pub limit: Money,
}

/// Spend and reservations of one tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ledger {
    limit: Option<Money>,
    settled: Money,
    possible: Money,
    reserved: BTreeMap<String, Money>,
    tokens: TokenUsage,
    by_caller: BTreeMap<String, Money>,
}

impl Ledger {
    /// Sets the limit; only the start of an execution does.
    pub fn set_limit(&mut self, limit: Option<Money>) {
        self.limit = limit;
    }

    /// The limit, if there is one.
    #[must_use]
    pub const fn limit(&self) -> Option<Money> {
        self.limit
    }

    /// Spend that is certain.
    #[must_use]
    pub const fn settled(&self) -> Money {
        self.settled
    }

    /// Spend that may have happened: reservations whose calls were cut off.
    #[must_use]
    pub const fn possible(&self) -> Money {
        self.possible
    }

    /// Tokens that were used.
    #[must_use]
    pub const fn tokens(&self) -> TokenUsage {
        self.tokens
    }

    /// Certain spend by `caller service`.
    #[must_use]
    pub const fn by_caller(&self) -> &BTreeMap<String, Money> {
        &self.by_caller
    }

    /// Whether the budget covers `amount` more.
    ///
    /// # Errors
    /// LEDGER-1 would not hold.
    pub fn covers(&self, amount: Money) -> Result<(), BudgetExceededError> {
        self.has_room(self.taken(""), amount)
    }

    /// Whether the budget covers `amount` more once the reservation named `key` is booked as `booked`.
    ///
    /// # Errors
    /// LEDGER-1 would not hold.
    pub fn covers_after(
        &self,
        key: &str,
        booked: Money,
        amount: Money,
    ) -> Result<(), BudgetExceededError> {
        self.has_room(self.taken(key).saturating_add(booked), amount)
    }

    fn has_room(&self, taken: Money, needed: Money) -> Result<(), BudgetExceededError> {
        let Some(limit) = self.limit else {
            return Ok(());
        };
        match taken.checked_add(needed) {
            Some(total) if total <= limit => Ok(()),
            Some(_) | None => Err(BudgetExceededError {
                needed,
                left: limit.saturating_sub(taken),
                limit,
            }),
        }
    }

    /// What is booked and reserved, without the reservation named `except`.
    fn taken(&self, except: &str) -> Money {
        let booked = self.settled.saturating_add(self.possible);
        self.reserved
            .iter()
            .filter(|(key, _)| key.as_str() != except)
            .fold(booked, |sum, (_, amount)| sum.saturating_add(*amount))
    }

    /// What is reserved for the call named `key`; zero if nothing is.
    #[must_use]
    pub fn held(&self, key: &str) -> Money {
        self.reserved.get(key).copied().unwrap_or_default()
    }

    /// Reserves `amount` for the call named `key`. Whether it is covered was asked before.
    pub fn reserve(&mut self, key: String, amount: Money) {
        if amount > Money::ZERO {
            self.reserved.insert(key, amount);
        }
    }

    /// The call named `key` has told what it used: its reservation ends.
    pub fn settle(&mut self, key: &str, spend: &[SpendEntry]) {
        self.release(key);
        for entry in spend {
            self.settled = self.settled.saturating_add(entry.money);
            self.tokens = self.tokens.plus(entry.tokens);
            let total = self
                .by_caller
                .entry(format!("{} {}", entry.caller, entry.service))
                .or_default();
            *total = total.saturating_add(entry.money);
        }
    }

    /// The call named `key` used nothing: its reservation ends.
    pub fn release(&mut self, key: &str) {
        self.reserved.remove(key);
    }

    /// Nobody knows what the call named `key` used: its reservation becomes possible spend.
    pub fn book_possible(&mut self, key: &str) {
        self.doubt(key, &[]);
    }

    /// The call named `key` told some spend and may have used more: what is left of its reservation becomes possible spend.
    pub fn doubt(&mut self, key: &str, told: &[SpendEntry]) {
        let rest = self.held(key).saturating_sub(total(told));
        self.possible = self.possible.saturating_add(rest);
        self.settle(key, told);
    }
}

/// The money of all entries.
#[must_use]
pub fn total(spend: &[SpendEntry]) -> Money {
    spend
        .iter()
        .fold(Money::ZERO, |sum, entry| sum.saturating_add(entry.money))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::PriceSource;

    fn micros(amount: u64) -> Money {
        Money::from_micros(amount)
    }

    fn spend(amount: u64) -> SpendEntry {
        SpendEntry {
            caller: "tool:a-tool".to_owned(),
            service: "card-network".to_owned(),
            tokens: TokenUsage::default(),
            money: micros(amount),
            source: PriceSource::Declared,
        }
    }

    // CONTRACT S5
    // CASE 116
    #[test]
    fn parallel_reservations_never_pass_the_limit_together() {
        let mut ledger = Ledger::default();
        ledger.set_limit(Some(micros(35)));
        let reserved = (0..20)
            .filter(|call| {
                let covered = ledger.covers(micros(10)).is_ok();
                if covered {
                    ledger.reserve(call.to_string(), micros(10));
                }
                covered
            })
            .count();
        assert_eq!(reserved, 3, "LEDGER-1");
        assert_eq!(ledger.covers(micros(10)).unwrap_err().left, micros(5));
        ledger.settle("0", &[spend(1)]);
        assert!(
            ledger.covers(micros(14)).is_ok(),
            "what was not used is free again"
        );
    }

    // CONTRACT S5
    #[test]
    fn a_call_that_was_cut_off_stays_booked_and_only_once() {
        let mut ledger = Ledger::default();
        ledger.set_limit(Some(micros(20)));
        ledger.reserve("a".to_owned(), micros(15));
        ledger.book_possible("a");
        ledger.book_possible("a");
        assert_eq!(ledger.possible(), micros(15), "LEDGER-2");
        assert!(ledger.covers(micros(6)).is_err());
    }

    // CONTRACT S5
    #[test]
    fn what_a_doubtful_call_did_not_tell_of_its_reservation_is_possible_spend() {
        let mut ledger = Ledger::default();
        ledger.set_limit(Some(micros(20)));
        ledger.reserve("a".to_owned(), micros(15));
        assert!(ledger.covers_after("a", micros(15), micros(6)).is_err());
        assert!(ledger.covers_after("a", micros(4), micros(16)).is_ok());
        ledger.doubt("a", &[spend(4)]);
        assert_eq!(
            (ledger.settled(), ledger.possible()),
            (micros(4), micros(11))
        );
        assert_eq!(ledger.held("a"), Money::ZERO, "LEDGER-2");
    }

    #[test]
    fn totals_do_not_wrap() {
        let mut ledger = Ledger::default();
        ledger.settle("a", &[spend(u64::MAX), spend(1)]);
        assert_eq!(ledger.settled(), micros(u64::MAX), "LEDGER-3");
        ledger.set_limit(Some(micros(u64::MAX)));
        assert!(ledger.covers(micros(1)).is_err());
    }
}
