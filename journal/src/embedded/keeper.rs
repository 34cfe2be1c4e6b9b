//! The keeper: a thread that prepares the next segment before it is needed and saves the table of trees.
//!
//! - KEEPER-1: the writer waits for a segment only when it is needed and not there.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::Shared;
use super::config::EmbeddedConfig;
use super::fault::{FaultPoint, Faults};
use super::place::check_space;
use super::segment::{Identity, make_segment, replace_file};
use super::table::NAME;
use crate::unpoisoned;

/// The table is saved once this many times its own size has been logged since: saving costs a quarter of logging at most.
const LOG_PER_TABLE: u64 = 4;

#[derive(Default)]
struct Orders {
    /// The segment to prepare.
    wanted: Option<u64>,
    /// The segment that was prepared, or why it was not.
    made: Option<(u64, io::Result<Arc<File>>)>,
    is_save_due: bool,
    is_closing: bool,
}

/// What the keeper is asked for.
#[derive(Default)]
pub(super) struct Desk {
    orders: Mutex<Orders>,
    changed: Condvar,
}

impl Desk {
    /// Asks for a segment to be prepared; it is taken later.
    pub(super) fn want(&self, number: u64) {
        let mut orders = unpoisoned(&self.orders);
        let is_made = matches!(&orders.made, Some((made, Ok(_))) if *made == number);
        if !is_made && orders.wanted != Some(number) {
            orders.wanted = Some(number);
            self.changed.notify_all();
        }
    }

    /// Waits for a segment. An error is told once; the next call tries again.
    pub(super) fn take(&self, number: u64) -> io::Result<Arc<File>> {
        self.want(number);
        let mut orders = unpoisoned(&self.orders);
        loop {
            if orders.is_closing {
                return Err(io::Error::other("the store is closing"));
            }
            if orders.wanted != Some(number)
                && let Some((_, made)) = orders.made.take_if(|(made, _)| *made == number)
            {
                return made;
            }
            if orders.wanted.is_none() {
                // An older answer stood here.
                orders.wanted = Some(number);
                self.changed.notify_all();
            }
            orders = self
                .changed
                .wait(orders)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Says that a segment is full: a good moment to save the table.
    pub(super) fn segment_is_full(&self) {
        unpoisoned(&self.orders).is_save_due = true;
        self.changed.notify_all();
    }

    pub(super) fn close(&self) {
        unpoisoned(&self.orders).is_closing = true;
        self.changed.notify_all();
    }
}

impl std::fmt::Debug for Desk {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

/// The thread's own things.
pub(super) struct Keeper {
    pub(super) shared: Arc<Shared>,
    pub(super) directory: PathBuf,
    pub(super) identity: Identity,
    reserve_bytes: u64,
    faults: Faults,
    saved_end: u64,
}

impl Keeper {
    pub(super) fn new(
        shared: Arc<Shared>,
        config: &EmbeddedConfig,
        identity: Identity,
        saved_end: u64,
    ) -> Self {
        Self {
            shared,
            directory: config.directory.clone(),
            identity,
            reserve_bytes: config.reserve_bytes,
            faults: Faults::of(config),
            saved_end,
        }
    }

    /// Works until the desk closes, then saves the table a last time.
    pub(super) fn run(mut self) {
        loop {
            let (wanted, is_save_due) = {
                let desk = &self.shared.desk;
                let mut orders = unpoisoned(&desk.orders);
                while orders.wanted.is_none() && !orders.is_save_due && !orders.is_closing {
                    orders = desk
                        .changed
                        .wait(orders)
                        .unwrap_or_else(PoisonError::into_inner);
                }
                if orders.is_closing {
                    break;
                }
                (orders.wanted, std::mem::take(&mut orders.is_save_due))
            };
            if let Some(number) = wanted {
                self.prepare(number);
            }
            if is_save_due {
                self.save_if_worth_it();
            }
        }
        if self.shared.health.check() != Err(crate::JournalError::Closed) {
            return;
        }
        self.save();
    }

    fn prepare(&mut self, number: u64) {
        let made = self.make(number).map(Arc::new);
        if let Err(error) = &made
            && !is_full(error)
        {
            let why = format!("cannot prepare segment {number}: {error}");
            self.shared.health.fail(&why);
        }
        let mut orders = unpoisoned(&self.shared.desk.orders);
        orders.wanted = None;
        orders.made = Some((number, made));
        self.shared.desk.changed.notify_all();
    }

    fn make(&mut self, number: u64) -> io::Result<File> {
        let bytes = self.identity.segment_bytes;
        check_space(&self.directory, bytes, self.reserve_bytes)?;
        self.faults.hit(FaultPoint::BeforeGrowth, 1)?;
        make_segment(&self.directory, self.identity, number)
    }

    fn save_if_worth_it(&mut self) {
        let (end, bytes) = {
            let table = unpoisoned(&self.shared.table);
            (table.end, table.saved_bytes())
        };
        if end - self.saved_end >= bytes * LOG_PER_TABLE {
            self.save();
        }
    }

    fn save(&mut self) {
        let (end, bytes) = {
            let table = unpoisoned(&self.shared.table);
            (table.end, table.save(self.identity.store))
        };
        match replace_file(&self.directory, NAME, &bytes) {
            Ok(()) => self.saved_end = end,
            // The old one still stands, and the log holds the rest.
            Err(error) if is_full(&error) => {}
            Err(error) => {
                let why = format!("cannot save the table of trees: {error}");
                self.shared.health.fail(&why);
            }
        }
    }
}

/// Whether an error says that there is no space.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}
