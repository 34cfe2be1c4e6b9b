//! Letters, keys and blobs: one file of redb, written by one thread, many changes in one commit.
//!
//! - COLD-1: what was asked for is durable before it is answered.
//! - COLD-2: what is read is held against a checksum that stands with it, since redb checks its pages only when it repairs.
//!
//! Not a hot path: letters come from people and timers, keys and blobs with starts and large results.

mod blobs;
mod inbox;
mod keys;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};

use redb::{Database, ReadTransaction, ReadableDatabase, WriteTransaction};

use super::config::{EmbeddedConfig, StoreOpenError};
use super::health::Health;
use super::place::check_space;
use super::worker::Worker;
use crate::reply::{Sender, channel};
use crate::{JournalError, Ring, unpoisoned};

const NAME: &str = "cold.redb";
/// redb's cache of pages; its default of 1 GiB is for stores that live on it.
const CACHE_BYTES: usize = 16 * 1_024 * 1_024;
/// The most changes in one commit.
const BATCH_MAX: usize = 512;

/// The file and the thread that writes it.
#[derive(Debug)]
pub(super) struct Cold {
    file: Arc<ColdFile>,
    writer: Worker<Box<dyn Change>>,
}

struct ColdFile {
    path: PathBuf,
    /// `None` after an error: redb must be opened anew.
    database: Mutex<Option<Arc<Database>>>,
    ring: Mutex<Option<Ring>>,
    health: Arc<Health>,
    reserve_bytes: u64,
}

/// How a commit ended that did not succeed.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    /// Nothing was changed.
    Failed(JournalError),
    /// It may have been.
    Unknown(JournalError),
}

impl From<Failure> for JournalError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Failed(error) | Failure::Unknown(error) => error,
        }
    }
}

trait Change: Send {
    fn apply(&mut self, transaction: &WriteTransaction) -> Result<(), redb::Error>;
    fn end(self: Box<Self>, end: Result<(), Failure>, ring: Option<&Ring>);
}

/// A change with somebody who waits for its value.
struct Asked<T, W, A> {
    work: Option<W>,
    value: Option<T>,
    after: A,
    sender: Sender<Result<T, Failure>>,
}

impl<T, W, A> Change for Asked<T, W, A>
where
    T: Send,
    W: FnOnce(&WriteTransaction) -> Result<T, redb::Error> + Send,
    A: FnOnce(&T, &Ring) + Send,
{
    fn apply(&mut self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        if let Some(work) = self.work.take() {
            self.value = Some(work(transaction)?);
        }
        Ok(())
    }

    fn end(self: Box<Self>, end: Result<(), Failure>, ring: Option<&Ring>) {
        let Self {
            value,
            after,
            sender,
            ..
        } = *self;
        match (end, value) {
            (Ok(()), Some(value)) => {
                if let Some(ring) = ring {
                    // A bell that panics takes no letter with it.
                    drop(catch_unwind(AssertUnwindSafe(|| after(&value, ring))));
                }
                sender.send(Ok(value));
            }
            (Err(failure), _) => sender.send(Err(failure)),
            // Nothing was done and nothing failed: the waiter learns that nobody answers.
            (Ok(()), None) => {}
        }
    }
}

impl Cold {
    pub(super) fn open(
        config: &EmbeddedConfig,
        health: &Arc<Health>,
    ) -> Result<Self, StoreOpenError> {
        let file = ColdFile {
            path: config.directory.join(NAME),
            database: Mutex::new(None),
            ring: Mutex::new(None),
            health: Arc::clone(health),
            reserve_bytes: config.reserve_bytes,
        };
        let opened = catch_unwind(AssertUnwindSafe(|| file.open_database(open_or_create)));
        let opened = opened.unwrap_or_else(|_| Err(redb::Error::Corrupted(NAME.to_owned())));
        opened.map_err(not_opened)?;
        let file = Arc::new(file);
        let own = Arc::clone(&file);
        let writer = Worker::start("store-cold", move |jobs| own.run(&jobs))
            .map_err(super::config::io("start a thread"))?;
        Ok(Self { file, writer })
    }

    /// Makes a change and waits until it is durable.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error> + Send + 'static,
    ) -> Result<T, Failure> {
        self.change_and_ring(work, |_, _| {}).await
    }

    async fn change_and_ring<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, redb::Error> + Send + 'static,
        after: impl FnOnce(&T, &Ring) + Send + 'static,
    ) -> Result<T, Failure> {
        self.file.health.check().map_err(Failure::Failed)?;
        let (sender, reply) = channel();
        let asked = Asked {
            work: Some(work),
            value: None,
            after,
            sender,
        };
        self.writer.send(Box::new(asked)).map_err(Failure::Failed)?;
        let lost = Failure::Unknown(JournalError::Closed);
        reply.await.unwrap_or(Err(lost))
    }

    /// Reads, in this thread.
    fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, JournalError> {
        self.file.health.check()?;
        let read = || {
            let database = self.file.database()?;
            work(&database.begin_read()?)
        };
        catch_unwind(AssertUnwindSafe(read))
            .unwrap_or_else(|_| Err(redb::Error::Corrupted(NAME.to_owned())))
            .map_err(|error| self.file.explain(error))
    }

    fn set_ring(&self, ring: Ring) {
        *unpoisoned(&self.file.ring) = Some(ring);
    }
}

impl ColdFile {
    fn database(&self) -> Result<Arc<Database>, redb::Error> {
        if let Some(database) = &*unpoisoned(&self.database) {
            return Ok(Arc::clone(database));
        }
        self.open_database(open_existing)
    }

    fn open_database(
        &self,
        open: fn(&Path) -> Result<Database, redb::Error>,
    ) -> Result<Arc<Database>, redb::Error> {
        let mut slot = unpoisoned(&self.database);
        if let Some(database) = &*slot {
            return Ok(Arc::clone(database));
        }
        let database = Arc::new(open(&self.path)?);
        *slot = Some(Arc::clone(&database));
        Ok(database)
    }

    fn run(&self, jobs: &Receiver<Box<dyn Change>>) {
        while let Ok(first) = jobs.recv() {
            let mut changes = vec![first];
            changes.extend(jobs.try_iter().take(BATCH_MAX - 1));
            let commit = catch_unwind(AssertUnwindSafe(|| self.commit(&mut changes)));
            let end = commit.unwrap_or_else(|_| {
                let error = JournalError::Damaged(format!("{NAME} cannot be written"));
                Err(Failure::Unknown(error))
            });
            if end.is_err() {
                // redb answers nothing after an error until it is opened anew.
                *unpoisoned(&self.database) = None;
            }
            let ring = unpoisoned(&self.ring).clone();
            for change in changes {
                change.end(end.clone(), ring.as_ref());
            }
        }
    }

    fn commit(&self, changes: &mut [Box<dyn Change>]) -> Result<(), Failure> {
        let failed = |error| Failure::Failed(self.explain(error));
        self.health.check().map_err(Failure::Failed)?;
        let directory = self.path.parent().unwrap_or_else(|| Path::new("."));
        check_space(directory, 0, self.reserve_bytes).map_err(|error| failed(error.into()))?;
        let database = self.database().map_err(failed)?;
        let begun = database.begin_write();
        let transaction = begun.map_err(|error| failed(error.into()))?;
        for change in changes {
            change.apply(&transaction).map_err(failed)?;
        }
        let committed = transaction.commit();
        committed.map_err(|error| Failure::Unknown(self.explain(error.into())))
    }

    /// What an error of redb means. A failed read or write of the disk poisons the store, save for lack of space.
    fn explain(&self, error: redb::Error) -> JournalError {
        if let redb::Error::Io(error) = error {
            if super::keeper::is_full(&error) {
                return JournalError::StoreFull(error.to_string());
            }
            let why = format!("{NAME}: {error}");
            self.health.fail(&why);
            return JournalError::Poisoned(why);
        }
        if matches!(
            error,
            redb::Error::PreviousIo | redb::Error::DatabaseAlreadyOpen
        ) {
            return JournalError::Unavailable(format!("{NAME} is being opened anew"));
        }
        JournalError::Damaged(error.to_string())
    }
}

fn not_opened(error: redb::Error) -> StoreOpenError {
    if let redb::Error::Io(error) = error {
        return if error.kind() == std::io::ErrorKind::InvalidData {
            StoreOpenError::Damaged(format!("{NAME}: {error}"))
        } else if super::keeper::is_full(&error) {
            StoreOpenError::Full(error.to_string())
        } else {
            super::config::io(format!("open {NAME}"))(error)
        };
    }
    StoreOpenError::Damaged(format!("{NAME}: {error}"))
}

impl std::fmt::Debug for ColdFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColdFile")
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

fn open_or_create(path: &Path) -> Result<Database, redb::Error> {
    let is_new = !path.exists();
    let mut builder = Database::builder();
    let database = builder.set_cache_size(CACHE_BYTES).create(path)?;
    if is_new && let Some(directory) = path.parent() {
        super::segment::sync_directory(directory)?;
    }
    if database.begin_read()?.open_table(blobs::BLOBS).is_err() {
        let transaction = database.begin_write()?;
        inbox::make_tables(&transaction)?;
        keys::make_tables(&transaction)?;
        transaction.open_table(blobs::BLOBS)?;
        transaction.commit()?;
    }
    Ok(database)
}

fn open_existing(path: &Path) -> Result<Database, redb::Error> {
    let mut builder = Database::builder();
    Ok(builder.set_cache_size(CACHE_BYTES).open(path)?)
}

/// A value with a checksum over it and over what it belongs to.
fn sealed(owner: &[u8], value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(value.len() + 4);
    bytes.extend_from_slice(&checksum(owner, value).to_be_bytes());
    bytes.extend_from_slice(value);
    bytes
}

/// The value within what [`sealed`] made.
fn unsealed<'a>(owner: &[u8], bytes: &'a [u8]) -> Result<&'a [u8], redb::Error> {
    let damaged = || redb::Error::Corrupted("an entry's checksum is wrong".to_owned());
    let (found, value) = bytes.split_first_chunk::<4>().ok_or_else(damaged)?;
    if *found != checksum(owner, value).to_be_bytes() {
        return Err(damaged());
    }
    Ok(value)
}

fn checksum(owner: &[u8], value: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(owner);
    hasher.update(value);
    hasher.finalize()
}
