//! Who a thread belongs to, and which execution of it was started last: one key per thread, by compare-and-set.
//!
//! - THREAD-1: a thread has one owner and one tenant, from its first start on; somebody else's is refused before anything is read.
//! - THREAD-2: of two starts at once on one thread, one is refused.

use std::time::Duration;

use leasehold_journal::{Expect, JournalError, KeyPut, StoredKey};
use leasehold_types::{Digest, ExecutionId, ThreadId, Timestamp, TreeState};

use crate::error::StartError;
use crate::handle::{Node, StartRequest};

/// Losses against other starts after which one gives up.
const ATTEMPTS_MAX: u32 = 4;

/// How long a start that took a thread may take to become durable. After that its caller counts as gone.
const START_MAX: Duration = Duration::from_secs(10);

/// A thread that a start has taken.
#[derive(Debug)]
pub(crate) struct ThreadHold {
    name: String,
    revision: u64,
    before: Option<Vec<u8>>,
}

/// What a thread's key says: the execution started last, when, and whose the thread is.
struct Last {
    execution: ExecutionId,
    at: Timestamp,
    owner: String,
}

impl Last {
    fn write(&self) -> Vec<u8> {
        let millis = self.at.as_millis();
        format!("{} {millis} {}", self.execution, self.owner).into_bytes()
    }

    fn read(value: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(value).ok()?;
        let (execution, rest) = text.split_once(' ')?;
        let (millis, owner) = rest.split_once(' ')?;
        Some(Self {
            execution: execution.parse().ok()?,
            at: Timestamp::from_millis(millis.parse().ok()?),
            owner: owner.to_owned(),
        })
    }
}

impl Node {
    /// Takes the request's thread for `execution`: THREAD-1, THREAD-2.
    pub(crate) async fn take_thread(
        &self,
        request: &StartRequest,
        execution: ExecutionId,
    ) -> Result<Option<ThreadHold>, StartError> {
        let Some(thread) = &request.thread else {
            return Ok(None);
        };
        let name = key_of(request, thread);
        let at = self.deps.clock.now();
        let owner = request.owner.as_str().to_owned();
        let value = Last {
            execution,
            at,
            owner,
        }
        .write();
        let mut before: Option<StoredKey> = None;
        for _ in 0..ATTEMPTS_MAX {
            let seen = before.as_ref().map(|key| key.revision);
            let expect = seen.map_or(Expect::Absent, Expect::Revision);
            let put = self
                .deps
                .store
                .put_key(&name, value.clone(), expect, None, at);
            let current = match put.await? {
                KeyPut::Stored { revision } => {
                    let before = before.map(|key| key.value);
                    return Ok(Some(ThreadHold {
                        name,
                        revision,
                        before,
                    }));
                }
                KeyPut::Conflict { current } => current,
                KeyPut::Unknown => self.deps.store.key(&name, at).await?,
            };
            if let Some(current) = &current {
                self.thread_is_free(&current.value, request, execution)
                    .await?;
            }
            before = current;
        }
        Err(StartError::Unknown { execution })
    }

    async fn thread_is_free(
        &self,
        value: &[u8],
        request: &StartRequest,
        execution: ExecutionId,
    ) -> Result<(), StartError> {
        let thread = request.thread.as_ref();
        let thread = thread.map(ThreadId::as_str).unwrap_or_default().to_owned();
        let last = Last::read(value);
        let Some(last) = last.filter(|last| last.owner == request.owner.as_str()) else {
            return Err(StartError::ThreadRefused { thread });
        };
        if last.execution == execution || !self.goes_on(&last).await? {
            return Ok(());
        }
        let execution = last.execution;
        Err(StartError::ThreadBusy { thread, execution })
    }

    /// Whether the execution has not ended, or is being started this moment.
    async fn goes_on(&self, last: &Last) -> Result<bool, StartError> {
        let tail = self.deps.store.tail(last.execution.tree()).await?;
        let header = tail.header().map_err(JournalError::from)?;
        Ok(header.map_or_else(
            || self.deps.clock.now().since(last.at) < START_MAX,
            |header| header.summary.state != TreeState::Ended,
        ))
    }

    /// A start that the store refused leaves the thread as it was.
    pub(crate) async fn give_thread_back(&self, hold: Option<ThreadHold>) {
        let Some(ThreadHold {
            name,
            revision,
            before,
        }) = hold
        else {
            return;
        };
        let (store, now) = (&self.deps.store, self.deps.clock.now());
        let done = match before {
            Some(value) => {
                let expect = Expect::Revision(revision);
                store
                    .put_key(&name, value, expect, None, now)
                    .await
                    .map(drop)
            }
            None => store.delete_key(&name, revision).await.map(drop),
        };
        if let Err(error) = done {
            // The thread is free again when `START_MAX` has passed.
            tracing::warn!(%error, "thread could not be given back");
        }
    }
}

fn key_of(request: &StartRequest, thread: &ThreadId) -> String {
    let digest = Digest::of(thread.as_str().as_bytes());
    format!("thread/{}/{digest}", request.tenant)
}
