//! The shop: orders in a file, and the card network, which pays each key once.
//!
//! The network is played by a map in memory. It outlives the instance in tests, as the real one would.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::Refund;

/// Orders, and what was paid back of them.
#[derive(Debug)]
pub(crate) struct Shop {
    orders: Option<PathBuf>,
    paid: Mutex<BTreeMap<String, Refund>>,
}

/// Why the shop does not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShopError {
    /// There is no such order.
    #[error("no order {0}")]
    NoOrder(String),
    /// The orders cannot be read.
    #[error("the orders cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
}

impl Shop {
    /// A shop whose orders are in this file, one a line.
    pub(crate) fn open(orders: &str) -> Self {
        Self {
            orders: Some(orders.into()),
            ..Self::empty()
        }
    }

    /// A shop without orders.
    pub(crate) fn empty() -> Self {
        Self {
            orders: None,
            paid: Mutex::default(),
        }
    }

    /// What may be refunded.
    #[expect(clippy::unused_async, reason = "a real shop would ask a server")]
    pub(crate) async fn policy(&self) -> Result<String, ShopError> {
        Ok("Refunds within 30 days, to the card that paid.".to_owned())
    }

    /// Pays a refund. The same key is paid once, and answered with the same receipt.
    #[expect(
        clippy::unused_async,
        reason = "a real card network is asked over the wire"
    )]
    pub(crate) async fn pay(
        &self,
        refund: &Refund,
        key: impl Display,
    ) -> Result<String, ShopError> {
        if !self.has(&refund.order)? {
            return Err(ShopError::NoOrder(refund.order.clone()));
        }
        let mut paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        let paid = paid.entry(key.to_string()).or_insert_with(|| Refund {
            order: refund.order.clone(),
            cents: refund.cents,
        });
        Ok(format!("refunded {} cents of {}", paid.cents, paid.order))
    }

    /// How often an order was refunded.
    #[cfg(test)]
    pub(crate) fn refunds_of(&self, order: &str) -> usize {
        let paid = self.paid.lock().unwrap_or_else(PoisonError::into_inner);
        paid.values().filter(|refund| refund.order == order).count()
    }

    fn has(&self, order: &str) -> Result<bool, ShopError> {
        let Some(path) = &self.orders else {
            return Ok(false);
        };
        let orders = std::fs::read_to_string(path)?;
        Ok(orders.lines().any(|line| line == order))
    }
}
