//! A thread with a bounded queue before it, for what would hold up an async runtime.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use crate::JournalError;

/// The most pieces of work that wait: more than the callers of one process have reason for.
const WAITING_MAX: usize = 4_096;

/// The thread and its queue. Dropping it waits until what is queued is done.
pub(super) struct Worker<J> {
    jobs: Option<SyncSender<J>>,
    thread: Option<JoinHandle<()>>,
}

impl<J: Send + 'static> Worker<J> {
    /// Starts a thread that gets the queue.
    pub(super) fn start(
        name: &str,
        run: impl FnOnce(Receiver<J>) + Send + 'static,
    ) -> std::io::Result<Self> {
        let (jobs, queue) = sync_channel(WAITING_MAX);
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || run(queue))?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Hands a piece of work over; dropped where there is no room for it.
    pub(super) fn send(&self, job: J) -> Result<(), JournalError> {
        let Some(jobs) = &self.jobs else {
            return Err(JournalError::Closed);
        };
        jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => JournalError::Overloaded {
                in_flight: WAITING_MAX,
            },
            TrySendError::Disconnected(_) => JournalError::Closed,
        })
    }
}

/// Waits for a thread's end, unless it is this one: a callback may hold the last reference to the store.
pub(super) fn join(thread: JoinHandle<()>) {
    if thread.thread().id() != std::thread::current().id() {
        // A panic there has been told to whoever waited for it.
        drop(thread.join());
    }
}

impl<J> Drop for Worker<J> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            join(thread);
        }
    }
}

impl<J> std::fmt::Debug for Worker<J> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}
