//! The shop: orders and refunds in CSV files, tickets in a JSON file, in one directory. Every call reads and writes the files.
//!
//! - SHOP-1: a refund's key stands in the file with it: the same key again is the same refund, not a second one.
//! - SHOP-2: a file is replaced whole or not at all, and by one process at a time.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Why the shop cannot do what it is asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShopError {
    /// There is no such order.
    #[error("no order {0}")]
    NoOrder(String),
    /// There is no such ticket.
    #[error("no ticket {0}")]
    NoTicket(String),
    /// More than the customer paid and has not got back.
    #[error("order {order} has {left} cents left to refund, not {asked}")]
    TooMuch {
        /// The order.
        order: String,
        /// Cents that can still be refunded.
        left: u32,
        /// Cents asked for.
        asked: u32,
    },
    /// The key was used for another refund.
    #[error("the key of this refund was used for {0}")]
    KeyUsed(String),
    /// A file cannot be read or written.
    #[error("the shop's files cannot be used: {0}")]
    File(#[from] std::io::Error),
    /// A CSV file does not hold what it should.
    #[error("a table of the shop cannot be read: {0}")]
    Table(#[from] csv::Error),
    /// The tickets cannot be read.
    #[error("the tickets cannot be read: {0}")]
    Tickets(#[from] serde_json::Error),
}

/// One line of `orders.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Order {
    /// Its number, like `A-1042`.
    pub(crate) order: String,
    /// Who bought it.
    pub(crate) customer: String,
    /// What it was.
    pub(crate) item: String,
    /// What was paid, in cents.
    pub(crate) cents: u32,
    /// When, as `2026-11-19`.
    pub(crate) paid_on: String,
}

/// One line of `refunds.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refund {
    /// The idempotency key it was paid under.
    pub(crate) key: String,
    /// The order.
    pub(crate) order: String,
    /// Cents.
    pub(crate) cents: u32,
    /// The receipt's number.
    pub(crate) receipt: String,
}

/// One ticket of `tickets.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ticket {
    /// Its number, like `T-7`.
    pub(crate) id: String,
    /// Who wrote it.
    pub(crate) from: String,
    /// Its subject.
    pub(crate) subject: String,
    /// What it says.
    pub(crate) text: String,
    /// `open` or `closed`.
    pub(crate) status: String,
    /// What was answered, each under its idempotency key.
    pub(crate) replies: Vec<Reply>,
}

/// An answer to a ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reply {
    /// The idempotency key it was written under.
    pub(crate) key: String,
    /// What it says.
    pub(crate) text: String,
}

/// The shop's files.
#[derive(Debug, Clone)]
pub(crate) struct Shop {
    directory: PathBuf,
}

impl Shop {
    /// The shop in `directory`. Nothing is read before it is asked.
    #[must_use]
    pub(crate) fn open(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
        }
    }

    /// A new shop in `directory` with the example's orders and tickets, unless there is one.
    ///
    /// # Errors
    /// The files cannot be written.
    pub(crate) fn with_samples(directory: impl Into<PathBuf>) -> Result<Self, ShopError> {
        let shop = Self::open(directory);
        fs::create_dir_all(&shop.directory)?;
        for (name, text) in [
            ("orders.csv", include_str!("../data/orders.csv")),
            ("tickets.json", include_str!("../data/tickets.json")),
            ("policy.txt", include_str!("../data/policy.txt")),
            ("refunds.csv", "key,order,cents,receipt\n"),
        ] {
            if !shop.path(name).exists() {
                shop.replace(name, text.as_bytes())?;
            }
        }
        Ok(shop)
    }

    /// Where the files are.
    #[must_use]
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The refund policy's text.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn policy(&self) -> Result<String, ShopError> {
        Ok(fs::read_to_string(self.path("policy.txt"))?)
    }

    /// One order, and the cents of it that were refunded.
    ///
    /// # Errors
    /// There is no such order.
    pub(crate) fn order(&self, number: &str) -> Result<(Order, u32), ShopError> {
        let mut reader = csv::Reader::from_path(self.path("orders.csv"))?;
        let orders: Vec<Order> = reader.deserialize().collect::<Result<_, _>>()?;
        let order = orders.into_iter().find(|order| order.order == number);
        let order = order.ok_or_else(|| ShopError::NoOrder(number.to_owned()))?;
        let refunded = self
            .refunds_of(number)?
            .iter()
            .map(|refund| refund.cents)
            .sum();
        Ok((order, refunded))
    }

    /// The refunds of one order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn refunds_of(&self, number: &str) -> Result<Vec<Refund>, ShopError> {
        Ok(self
            .refunds()?
            .into_iter()
            .filter(|refund| refund.order == number)
            .collect())
    }

    /// All refunds.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(crate) fn refunds(&self) -> Result<Vec<Refund>, ShopError> {
        let mut reader = csv::Reader::from_path(self.path("refunds.csv"))?;
        Ok(reader.deserialize().collect::<Result<_, _>>()?)
    }

    /// Pays a refund once per key: SHOP-1. Returns it, and whether it had been paid before.
    ///
    /// # Errors
    /// No such order, more than is left of it, or a key that was used for something else.
    pub(crate) fn pay(
        &self,
        order: &str,
        cents: u32,
        key: &str,
    ) -> Result<(Refund, bool), ShopError> {
        let _held = self.lock()?;
        let mut refunds = self.refunds()?;
        if let Some(paid) = refunds.iter().find(|refund| refund.key == key) {
            if (paid.order.as_str(), paid.cents) != (order, cents) {
                return Err(ShopError::KeyUsed(format!(
                    "{} cents of {}",
                    paid.cents, paid.order
                )));
            }
            return Ok((paid.clone(), true));
        }
        let (found, refunded) = self.order(order)?;
        let left = found.cents.saturating_sub(refunded);
        if cents > left {
            let order = order.to_owned();
            return Err(ShopError::TooMuch {
                order,
                left,
                asked: cents,
            });
        }
        let refund = Refund {
            key: key.to_owned(),
            order: order.to_owned(),
            cents,
            receipt: format!("R-{:04}", refunds.len() + 1),
        };
        refunds.push(refund.clone());
        let mut writer = csv::Writer::from_writer(vec![]);
        for refund in &refunds {
            writer.serialize(refund)?;
        }
        let bytes = writer.into_inner().map_err(|error| error.into_error())?;
        self.replace("refunds.csv", &bytes)?;
        Ok((refund, false))
    }

    /// One ticket.
    ///
    /// # Errors
    /// There is no such ticket.
    pub(crate) fn ticket(&self, id: &str) -> Result<Ticket, ShopError> {
        let ticket = self.tickets()?.into_iter().find(|ticket| ticket.id == id);
        ticket.ok_or_else(|| ShopError::NoTicket(id.to_owned()))
    }

    fn tickets(&self) -> Result<Vec<Ticket>, ShopError> {
        Ok(serde_json::from_slice(&fs::read(
            self.path("tickets.json"),
        )?)?)
    }

    /// Answers a ticket once per key, and closes it.
    ///
    /// # Errors
    /// There is no such ticket.
    pub(crate) fn close(&self, id: &str, text: &str, key: &str) -> Result<Ticket, ShopError> {
        let _held = self.lock()?;
        let mut tickets = self.tickets()?;
        let ticket = tickets.iter_mut().find(|ticket| ticket.id == id);
        let ticket = ticket.ok_or_else(|| ShopError::NoTicket(id.to_owned()))?;
        if !ticket.replies.iter().any(|reply| reply.key == key) {
            ticket.replies.push(Reply {
                key: key.to_owned(),
                text: text.to_owned(),
            });
        }
        "closed".clone_into(&mut ticket.status);
        let closed = ticket.clone();
        self.replace("tickets.json", &serde_json::to_vec_pretty(&tickets)?)?;
        Ok(closed)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// One process at a time changes the files; the lock ends with its holder.
    fn lock(&self) -> Result<File, ShopError> {
        let file = File::create(self.path(".lock"))?;
        file.lock()?;
        Ok(file)
    }

    /// Replaces a file whole: SHOP-2.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), ShopError> {
        let mut file = tempfile::NamedTempFile::new_in(&self.directory)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(self.path(name)).map_err(|error| error.error)?;
        File::open(&self.directory)?.sync_all()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shop() -> (tempfile::TempDir, Shop) {
        let place = tempfile::tempdir().unwrap();
        let shop = Shop::with_samples(place.path()).unwrap();
        (place, shop)
    }

    #[test]
    fn the_same_key_is_the_same_refund_and_another_key_is_another() {
        let (_place, shop) = shop();
        let (first, again) = shop.pay("A-1042", 500, "k1").unwrap();
        assert!(!again);
        assert_eq!(
            shop.pay("A-1042", 500, "k1").unwrap(),
            (first, true),
            "SHOP-1"
        );
        assert!(matches!(
            shop.pay("A-1042", 600, "k1"),
            Err(ShopError::KeyUsed(_))
        ));
        shop.pay("A-1042", 500, "k2").unwrap();
        assert_eq!(shop.refunds_of("A-1042").unwrap().len(), 2);
        assert_eq!(shop.order("A-1042").unwrap().1, 1_000);
    }

    #[test]
    fn no_more_than_was_paid_is_refunded() {
        let (_place, shop) = shop();
        let error = shop.pay("A-1042", 2_001, "k1").unwrap_err();
        assert_eq!(
            error.to_string(),
            "order A-1042 has 2000 cents left to refund, not 2001"
        );
        assert_eq!(
            shop.pay("A-1", 1, "k").unwrap_err().to_string(),
            "no order A-1"
        );
        assert!(shop.refunds().unwrap().is_empty());
    }

    #[test]
    fn a_ticket_is_answered_once_per_key() {
        let (_place, shop) = shop();
        shop.close("T-7", "Done.", "k").unwrap();
        let ticket = shop.close("T-7", "Done.", "k").unwrap();
        assert_eq!(
            (ticket.status.as_str(), ticket.replies.len()),
            ("closed", 1)
        );
    }
}
