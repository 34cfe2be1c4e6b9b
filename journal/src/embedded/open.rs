//! Opening: check the place, take the lock, find out what is there, recover, start the threads.

use std::fs::OpenOptions;
use std::path::Path;
use std::sync::{Arc, Mutex};

use event_listener::Event;
use leasehold_types::BootId;

use super::cold::Cold;
use super::config::{EmbeddedConfig, FatalHook, StoreOpenError, StoreWarning, io};
use super::health::Health;
use super::keeper::{Desk, Keeper, is_full};
use super::log::Log;
use super::place::{StoreLock, check, check_space};
use super::queue::Queue;
use super::recover::{Recovery, recover};
use super::segment::{
    FIRST_OFFSET, Identity, make_segment, replace_file, segment_name, segment_numbers, zero,
};
use super::table::{NAME, Table};
use super::worker::Worker;
use super::writer::Writer;
use super::{EmbeddedStore, OpenedStore, Shared};
use crate::JournalError;

impl EmbeddedStore {
    /// Opens the store in `config.directory`, or makes one. `fatal` is told if it can go on no more.
    ///
    /// It reads what was logged since the table of trees was last saved, all of the log if that is missing.
    ///
    /// # Errors
    /// [`StoreOpenError`] says what is in the way; nothing was changed.
    pub fn open(
        config: &EmbeddedConfig,
        boot: BootId,
        fatal: FatalHook,
    ) -> Result<OpenedStore, StoreOpenError> {
        config.check()?;
        let mut warnings = check(config)?;
        let lock = StoreLock::acquire(config, boot)?;
        let identity = identify(config, boot)?;
        let (log, recovery) = load(config, identity, &mut warnings)?;
        let saved_end = mend(config, identity, &log, &recovery)?;
        if !lock.was_closed {
            warnings.push(StoreWarning::NotClosed);
        }
        warnings.extend(recovery.warnings);
        let health = Arc::new(Health::new(fatal));
        let cold = Arc::new(Cold::open(config, &health)?);
        let shared = Arc::new(share(config, log, recovery.table, health));
        let store = start(config, identity, shared, cold, lock, saved_end)?;
        Ok(OpenedStore { store, warnings })
    }
}

fn share(config: &EmbeddedConfig, log: Log, table: Table, health: Arc<Health>) -> Shared {
    Shared {
        log,
        table: Mutex::new(table),
        queue: Queue::new(config.queue_appends_max, config.queue_bytes_max),
        desk: Desk::default(),
        appended: Event::new(),
        health,
    }
}

/// What opening makes of the log, for reading only and without threads.
#[cfg(test)]
pub(super) fn log_only(config: &EmbeddedConfig) -> Result<Shared, StoreOpenError> {
    let boot = BootId::from_u128(1);
    let identity = identify(config, boot)?;
    let (log, recovery) = load(config, identity, &mut Vec::new())?;
    mend(config, identity, &log, &recovery)?;
    let health = Arc::new(Health::new(Arc::new(|_| {})));
    Ok(share(config, log, recovery.table, health))
}

/// Says what the store is, and makes it one where nothing is there.
fn identify(config: &EmbeddedConfig, boot: BootId) -> Result<Identity, StoreOpenError> {
    let directory = &config.directory;
    let found = Identity::find(directory)?;
    let identity = found.unwrap_or(Identity {
        store: boot.as_u128(),
        segment_bytes: config.segment_bytes,
    });
    if found.is_none() || !directory.join("STORE").exists() {
        let bytes = identity.segment_bytes;
        check_space(directory, bytes, config.reserve_bytes).map_err(full_or("make the store"))?;
        identity
            .save(directory)
            .map_err(full_or("make the store"))?;
    }
    Ok(identity)
}

fn full_or(what: &'static str) -> impl FnOnce(std::io::Error) -> StoreOpenError {
    move |error| {
        if is_full(&error) {
            StoreOpenError::Full(error.to_string())
        } else {
            io(what)(error)
        }
    }
}

/// Opens the segments, loads the table, and reads the rest of the log.
fn load(
    config: &EmbeddedConfig,
    identity: Identity,
    warnings: &mut Vec<StoreWarning>,
) -> Result<(Log, Recovery), StoreOpenError> {
    let directory = &config.directory;
    let log = Log::new(identity, Vec::new());
    for number in segment_numbers(directory)? {
        let name = segment_name(number);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(directory.join(&name))
            .map_err(io(format!("open {name}")))?;
        log.put_segment(number, Arc::new(file));
    }
    let table = load_table(directory, identity).unwrap_or_else(|why| {
        if log.segment_count() > 0 {
            warnings.push(StoreWarning::TableRebuilt(why));
        }
        Table::empty(FIRST_OFFSET)
    });
    let recovery = recover(&log, table).map_err(unreadable)?;
    Ok((log, recovery))
}

fn load_table(directory: &Path, identity: Identity) -> Result<Table, String> {
    let bytes = std::fs::read(directory.join(NAME)).map_err(|error| error.to_string())?;
    Table::load(&bytes, identity.store).map_err(str::to_owned)
}

fn unreadable(error: JournalError) -> StoreOpenError {
    io("read the log")(std::io::Error::other(error))
}

/// Makes the end of the log fit to be written to, and notes damage before anything is built on it. Says up to where the
/// table is saved.
fn mend(
    config: &EmbeddedConfig,
    identity: Identity,
    log: &Log,
    recovery: &Recovery,
) -> Result<u64, StoreOpenError> {
    let directory = &config.directory;
    let (number, offset) = log.place(recovery.table.end);
    let file = match log.segment(number) {
        Some(file) => file,
        None => {
            let made = make_segment(directory, identity, number);
            let file = Arc::new(made.map_err(full_or("make a segment"))?);
            log.put_segment(number, Arc::clone(&file));
            file
        }
    };
    let what = || format!("mend {}", segment_name(number));
    let length = file.metadata().map_err(io(what()))?.len();
    let (_, dirty_until) = log.place(recovery.dirty_until);
    let from = offset.min(length).max(FIRST_OFFSET);
    let until = if length < identity.segment_bytes {
        identity.segment_bytes
    } else {
        dirty_until
    };
    zero(&file, from.min(until), until).map_err(full_or("mend the log's end"))?;
    // What was read may be in the page cache only: it becomes durable before anybody sees it.
    file.sync_all().map_err(io(what()))?;
    if !recovery.is_damaged() {
        return Ok(0);
    }
    let bytes = recovery.table.save(identity.store);
    replace_file(directory, NAME, &bytes).map_err(full_or("save the table of trees"))?;
    Ok(recovery.table.end)
}

fn start(
    config: &EmbeddedConfig,
    identity: Identity,
    shared: Arc<Shared>,
    cold: Arc<Cold>,
    lock: StoreLock,
    saved_end: u64,
) -> Result<EmbeddedStore, StoreOpenError> {
    let thread = |name: &str, run: Box<dyn FnOnce() + Send>| {
        let builder = std::thread::Builder::new().name(name.to_owned());
        builder.spawn(run).map_err(io("start a thread"))
    };
    let reader = Worker::start("store-reader", |jobs: std::sync::mpsc::Receiver<_>| {
        let jobs: std::sync::mpsc::Receiver<Box<dyn FnOnce() + Send>> = jobs;
        jobs.iter().for_each(|job| job());
    })
    .map_err(io("start a thread"))?;
    let keeper = Keeper::new(Arc::clone(&shared), config, identity, saved_end);
    let keeper = thread("store-keeper", Box::new(move || keeper.run()))?;
    let writer = Writer::new(Arc::clone(&shared), config);
    let writer = thread("store-writer", Box::new(move || writer.run()))?;
    Ok(EmbeddedStore {
        shared,
        cold,
        reader,
        writer: Some(writer),
        keeper: Some(keeper),
        lock,
    })
}
