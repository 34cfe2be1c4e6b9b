//! Starting an execution: durable before its id is returned, and once per idempotency key.
//!
//! - START-1: the same key gives the same execution, also where its first caller died between the key and the journal.
//! - START-2: a thread belongs to one owner, and a start takes it before its execution is durable.

use std::sync::atomic::Ordering;
use std::time::Duration;

use leasehold_execution::record::{ClaimCause, Started};
use leasehold_execution::spill::{Spilled, spill};
use leasehold_execution::{Entry, READER_VERSION, Record, RecordError, write_entries};
use leasehold_journal::{AppendOutcome, Expect, JournalError, KeyPut, Tail, Writer};
use leasehold_types::{
    Digest, ExecutionId, FrameIndex, Home, Signal, ThreadId, TreeId, TreeState, TreeSummary,
};

use crate::Agent;
use crate::append::{append_once, settle_append};
use crate::error::StartError;
use crate::handle::{Node, StartRequest};
use crate::node::Closed;
use crate::threads::ThreadHold;

/// The largest input of an execution, in bytes.
const INPUT_BYTES_MAX: usize = 128 * 1_024;

/// How long a start of unknown outcome is read back, before its caller is told so.
const READ_BACK_MAX: Duration = Duration::from_secs(5);

impl Node {
    /// Starts an execution. It is durable before the id is returned.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(&self, request: StartRequest) -> Result<ExecutionId, StartError> {
        let agent = self.agent_of(&request)?;
        let deps = &self.deps;
        let tree = TreeId::new(deps.clock.now(), Home::default(), &*deps.random);
        let fresh = ExecutionId::root(tree);
        let before = self.reserve_key(&request, fresh).await?;
        let execution = before.unwrap_or(fresh);
        if before.is_none() || !self.is_started(execution).await? {
            let thread = self.take_thread(&request, execution).await?;
            self.write_start(&agent, execution, request, thread).await?;
        }
        self.wake(execution.tree(), ClaimCause::Start);
        Ok(execution)
    }

    fn agent_of(&self, request: &StartRequest) -> Result<std::sync::Arc<Agent>, StartError> {
        if self.draining.load(Ordering::Acquire) {
            return Err(StartError::Draining);
        }
        let (bytes, max) = (request.input.len(), INPUT_BYTES_MAX);
        if bytes > max {
            return Err(StartError::InputTooLarge { bytes, max });
        }
        let agents = &self.deps.agents;
        let agent = agents.agent(&request.agent, &request.agent);
        agent.ok_or_else(|| StartError::UnknownAgent {
            name: request.agent.clone(),
            known: agents.names().join(", "),
        })
    }

    async fn is_started(&self, execution: ExecutionId) -> Result<bool, StartError> {
        let read = self.deps.store.tail(execution.tree()).await?;
        Ok(read.last.is_some())
    }

    /// START-1: binds the caller's key to `execution`, or tells which one it is bound to.
    async fn reserve_key(
        &self,
        request: &StartRequest,
        execution: ExecutionId,
    ) -> Result<Option<ExecutionId>, StartError> {
        let Some(key) = &request.idempotency_key else {
            return Ok(None);
        };
        let deps = &self.deps;
        let now = deps.clock.now();
        let name = format!("start/{}/{}", request.tenant, Digest::of(key.as_bytes()));
        let value = format!("{execution} {}", request_digest(request)).into_bytes();
        let expires_at = Some(now.plus(deps.config.start_key_retention));
        let put = deps
            .store
            .put_key(&name, value, Expect::Absent, expires_at, now)
            .await?;
        let current = match put {
            KeyPut::Stored { .. } => return Ok(None),
            KeyPut::Conflict { current } => current,
            KeyPut::Unknown => deps.store.key(&name, now).await?,
        };
        let current = current.ok_or(StartError::Unknown { execution })?;
        let before = bound_to(&current.value, request, execution)?;
        Ok((before != execution).then_some(before))
    }

    async fn write_start(
        &self,
        agent: &Agent,
        execution: ExecutionId,
        request: StartRequest,
        thread: Option<ThreadHold>,
    ) -> Result<(), StartError> {
        let summary = first_summary(agent, request.thread.as_ref());
        let tenant = request.tenant.clone();
        let entry = Entry {
            execution: 0,
            at: self.deps.clock.now(),
            record: Record::Started(Box::new(started(agent, request))),
        };
        let absent = Tail::at(execution.tree(), 0);
        let writer = Writer::starting(execution.tree(), tenant, absent, &*self.deps.random);
        let appended = self.append_start(writer, summary, &entry).await;
        match appended {
            Ok(Some(frame)) => self.observe_start(execution.tree(), frame, entry),
            Ok(None) => {}
            Err(StartError::Unknown { execution }) => {
                // It may be there: whoever looks finds it.
                self.wake(execution.tree(), ClaimCause::Start);
                return Err(StartError::Unknown { execution });
            }
            Err(refused) => {
                self.give_thread_back(thread).await;
                return Err(refused);
            }
        }
        Ok(())
    }

    fn observe_start(&self, tree: TreeId, frame: FrameIndex, entry: Entry) {
        if self.deps.observer.is_interested() {
            self.deps.observer.durable(tree, frame, &[entry]);
        }
    }

    /// Appends the first frame. `None` where somebody who used the same key was faster: the execution is started.
    async fn append_start(
        &self,
        mut writer: Writer,
        summary: TreeSummary,
        entry: &Entry,
    ) -> Result<Option<FrameIndex>, StartError> {
        let (deps, tree) = (&self.deps, writer.token().tree);
        let spilled = spilled(entry)?;
        for blob in spilled.blobs {
            deps.store.put_blob(tree, blob).await?;
        }
        let sealed = writer.seal(summary, &spilled.body);
        let sealed = sealed.map_err(JournalError::from)?;
        let first = append_once(deps, writer.tail(), sealed).await;
        let signal = Signal::root();
        let settled = match first {
            AppendOutcome::Failed(error) => return Err(error.into()),
            AppendOutcome::Acked(tail) => Ok(tail),
            unclear @ (AppendOutcome::Refused | AppendOutcome::Unknown(_)) => tokio::select! {
                settled = settle_append(deps, &mut writer, unclear, &signal) => settled,
                () = deps.clock.sleep(READ_BACK_MAX) => {
                    return Err(StartError::Unknown { execution: ExecutionId::root(tree) });
                }
            },
        };
        Ok(first_frame(&mut writer, settled))
    }
}

fn first_frame(writer: &mut Writer, settled: Result<Tail, Closed>) -> Option<FrameIndex> {
    // Any other frame there is that of the same start, made by somebody else, or what followed it.
    settled.ok().map(|tail| writer.acked(tail))
}

fn spilled(entry: &Entry) -> Result<Spilled, JournalError> {
    let unwritable = |error: RecordError| JournalError::Unavailable(error.to_string());
    let body = write_entries(std::slice::from_ref(entry)).map_err(unwritable)?;
    spill(body).map_err(unwritable)
}

fn started(agent: &Agent, request: StartRequest) -> Started {
    let plan = &agent.plan;
    Started {
        workflow: plan.workflow.clone(),
        agent: plan.agent.clone(),
        input: request.input,
        config_hash: plan.config_hash,
        owner: request.owner,
        thread: request.thread,
        continues: None,
        started_by: request.started_by,
        budget: plan.budget,
        idempotency_key: request.idempotency_key,
        parent: None,
        trace: None,
    }
}

fn first_summary(agent: &Agent, thread: Option<&ThreadId>) -> TreeSummary {
    TreeSummary {
        state: TreeState::Live,
        next_due: None,
        config_hash: agent.plan.config_hash,
        reader_version: READER_VERSION,
        workflow: agent.plan.workflow.clone(),
        thread: thread.map(ThreadId::as_str).unwrap_or_default().to_owned(),
        pauses: vec![],
    }
}

/// The execution that a key's value names, if it was bound by the same request.
fn bound_to(
    value: &[u8],
    request: &StartRequest,
    execution: ExecutionId,
) -> Result<ExecutionId, StartError> {
    let text = String::from_utf8_lossy(value);
    let (before, digest) = text.split_once(' ').unwrap_or_default();
    let Ok(before) = before.parse::<ExecutionId>() else {
        return Err(StartError::Unknown { execution });
    };
    if digest != request_digest(request) {
        return Err(StartError::KeyConflict { execution: before });
    }
    Ok(before)
}

fn request_digest(request: &StartRequest) -> String {
    let thread = request.thread.as_ref();
    let parts = [
        request.agent.as_str(),
        &request.input,
        request.owner.as_str(),
        thread.map(ThreadId::as_str).unwrap_or_default(),
    ];
    Digest::of_parts(&parts.map(str::as_bytes)).to_string()
}
