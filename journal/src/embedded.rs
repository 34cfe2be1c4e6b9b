//! The embedded store: the four traits over files of one process. No server.
//!
//! - STORE-1: an ack is given after the sync that makes it true.
//! - STORE-2: one process at a time; a second one is refused and the first is unharmed.
//! - STORE-3: a failed sync ends it: see [`FatalHook`].
//!
//! Frames lie in a segment log of our own (`record`, `segment`, `log`, `writer`, `recover`), letters, keys and blobs in redb
//! (`cold`). Why: `docs/decisions/0001-embedded-store.md`. The layout and the limits: `docs/journal.md`.

mod cold;
mod config;
#[cfg(test)]
mod each_byte;
mod fault;
mod health;
mod keeper;
mod log;
mod open;
mod place;
mod queue;
mod reads;
mod record;
mod recover;
mod segment;
mod table;
mod worker;
mod writer;

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use event_listener::Event;
use leasehold_types::{BoxFuture, FrameIndex, TreeId};

use self::cold::Cold;
pub use self::config::{
    CopiedStore, CreateStore, EmbeddedConfig, FatalHook, StoreFatal, StoreOpenError, StoreWarning,
};
#[cfg(feature = "fault-points")]
pub use self::fault::{FaultAction, FaultPlan, FaultPoint};
use self::health::Health;
use self::keeper::Desk;
use self::log::Log;
use self::place::StoreLock;
use self::queue::{Queue, Request};
use self::table::Table;
use self::worker::{Worker, join};
use crate::reply::channel;
use crate::{
    AppendDone, AppendOutcome, FollowCursor, FollowPage, Journal, JournalError, SealedFrame,
    StoredFrame, Tail, TailRead, TreeHead, unpoisoned,
};

/// A page of at most so many frames is read by who asks for it; a longer one by the reader's thread.
const INLINE_FRAMES_MAX: u64 = 64;

/// A store in a directory of its own.
#[derive(Debug)]
pub struct EmbeddedStore {
    shared: Arc<Shared>,
    cold: Arc<Cold>,
    reader: Worker<Box<dyn FnOnce() + Send>>,
    writer: Option<JoinHandle<()>>,
    keeper: Option<JoinHandle<()>>,
    lock: StoreLock,
}

/// A store that was opened, and what there is to say about it.
#[derive(Debug)]
pub struct OpenedStore {
    /// The store.
    pub store: EmbeddedStore,
    /// What an operator should know.
    pub warnings: Vec<StoreWarning>,
}

/// What the store's threads share.
struct Shared {
    log: Log,
    table: Mutex<Table>,
    queue: Queue,
    desk: Desk,
    appended: Event,
    health: Arc<Health>,
}

impl Shared {
    /// Tells everybody who waits in the queue that the store has stopped.
    fn refuse_queued(&self) {
        let error = self.health.check().err().unwrap_or(JournalError::Closed);
        for request in self.queue.drain() {
            self.queue.finished(request.frame.bytes.len());
            (request.done)(AppendOutcome::Failed(error.clone()));
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("queue", &self.queue)
            .field("health", &self.health)
            .finish_non_exhaustive()
    }
}

impl EmbeddedStore {
    /// Appends that are queued or being written.
    #[must_use]
    pub fn appends_in_flight(&self) -> usize {
        self.shared.queue.in_flight()
    }

    /// Does what is queued, saves the table of trees, and ends the store's threads. Dropping it does the same.
    pub fn close(self) {
        drop(self);
    }

    /// Runs a longer piece of reading on the reader's thread.
    async fn aside<T, E>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<JournalError> + Send + 'static,
    {
        let (sender, reply) = channel();
        self.reader.send(Box::new(move || sender.send(work())))?;
        reply.await.unwrap_or(Err(JournalError::Closed.into()))
    }
}

impl Drop for EmbeddedStore {
    fn drop(&mut self) {
        self.shared.queue.close();
        if let Some(writer) = self.writer.take() {
            join(writer);
        }
        self.shared.health.close();
        self.shared.appended.notify(usize::MAX);
        self.shared.desk.close();
        if let Some(keeper) = self.keeper.take() {
            join(keeper);
        }
        if self.shared.health.check() == Err(JournalError::Closed) {
            // Without the note the next start looks a little longer.
            drop(self.lock.note_closed());
        }
    }
}

impl Journal for EmbeddedStore {
    fn append(&self, expected: Tail, frame: SealedFrame, done: AppendDone) {
        let request = Request {
            expected,
            frame,
            done,
        };
        let health = &self.shared.health;
        let closed = || health.check().err().unwrap_or(JournalError::Closed);
        if let Err((done, error)) = self.shared.queue.push(request, closed) {
            done(AppendOutcome::Failed(error));
        }
    }

    fn tail(&self, tree: TreeId) -> BoxFuture<'_, Result<TailRead, JournalError>> {
        Box::pin(std::future::ready(self.shared.read_tail(tree)))
    }

    fn read(
        &self,
        tree: TreeId,
        from: FrameIndex,
        bytes_max: usize,
    ) -> BoxFuture<'_, Result<Vec<StoredFrame>, JournalError>> {
        let left = self.shared.frame_count(tree).saturating_sub(from.get());
        if left <= INLINE_FRAMES_MAX {
            let page = self.shared.read_page(tree, from, bytes_max);
            return Box::pin(std::future::ready(page));
        }
        let shared = Arc::clone(&self.shared);
        Box::pin(self.aside(move || shared.read_page(tree, from, bytes_max)))
    }

    fn scan(
        &self,
        after: Option<TreeId>,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<TreeHead>, JournalError>> {
        let shared = Arc::clone(&self.shared);
        Box::pin(self.aside(move || shared.read_heads(after, limit)))
    }

    fn follow(&self, cursor: FollowCursor) -> BoxFuture<'_, Result<FollowPage, JournalError>> {
        Box::pin(async move {
            if cursor == FollowCursor::default() {
                self.shared.health.check()?;
                let next = FollowCursor(unpoisoned(&self.shared.table).end);
                let heads = Vec::new();
                return Ok(FollowPage { heads, next });
            }
            loop {
                // Listen first, look second: an append between the two wakes the listener.
                let listener = self.shared.appended.listen();
                if let Some(page) = self.shared.read_after(cursor)? {
                    return Ok(page);
                }
                listener.await;
            }
        })
    }
}
