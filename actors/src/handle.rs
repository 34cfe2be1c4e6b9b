//! The handle of an instance: start, decide, cancel, retry, wait.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{Decision, DecisionReply, PauseKey, Verdict};
use leasehold_execution::record::{ClaimCause, Started};
use leasehold_execution::spill::spill;
use leasehold_execution::{Entry, READER_VERSION, Record, write_entries};
use leasehold_journal::{
    AppendOutcome, Expect, FollowCursor, JournalError, KeyPut, Letter, LetterId, Tail, Writer,
};
use leasehold_types::{
    Digest, ExecutionId, Home, Owner, PauseId, Principal, Tenant, ThreadId, TreeId, TreeState,
    TreeSummary,
};
use ractor::{Actor, ActorRef};
use tokio::sync::oneshot;

use crate::deps::Deps;
use crate::error::{DecideError, StartError};
use crate::node::{Closed, NodeActor, NodeMsg};
use crate::tree::Fault;

/// The largest input of an execution, in bytes.
const INPUT_BYTES_MAX: usize = 128 * 1_024;

/// What to start.
#[derive(Debug, Clone)]
pub struct StartRequest {
    /// The agent, which is the workflow too where it runs by itself.
    pub agent: String,
    /// What it is asked.
    pub input: String,
    /// Whose execution it is.
    pub owner: Owner,
    /// The owner's tenant.
    pub tenant: Tenant,
    /// The conversation it belongs to.
    pub thread: Option<ThreadId>,
    /// Who starts it.
    pub started_by: Principal,
    /// The caller's key: the same key gives the same execution.
    pub idempotency_key: Option<String>,
}

/// Which pause is answered.
#[derive(Debug, Clone, Copy)]
pub enum PauseTarget {
    /// By its public reference.
    Reference(leasehold_types::PauseRef),
    /// By its secret, in this tree.
    Secret(TreeId, PauseId),
}

/// How an instance stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeStats {
    /// Trees that are awake.
    pub awake: usize,
    /// Trees that wait for room.
    pub queued: usize,
    /// Trees that wait to run alone.
    pub suspects: usize,
    /// Tree actors that were started again.
    pub restarts: u64,
    /// Trees that this instance cannot move, and why.
    pub unable: BTreeMap<TreeId, String>,
}

/// An instance that runs trees. Clones share it.
#[derive(Debug, Clone)]
pub struct Node {
    actor: ActorRef<NodeMsg>,
    deps: Arc<Deps>,
}

impl Node {
    /// Starts an instance. Trees left over from before are woken by whoever keeps them, with [`Node::wake`].
    ///
    /// # Errors
    /// The actor system refused to start it.
    pub async fn spawn(deps: Deps) -> Result<Self, ractor::SpawnErr> {
        let deps = Arc::new(deps);
        let (actor, _task) = Actor::spawn(None, NodeActor, Arc::clone(&deps)).await?;
        let bell = actor.clone();
        deps.store.listen(Arc::new(move |tree| {
            let _gone = bell.cast(NodeMsg::Bell { tree });
        }));
        Ok(Self { actor, deps })
    }

    /// What the instance works with.
    #[must_use]
    pub fn deps(&self) -> &Deps {
        &self.deps
    }

    /// Has `told` called whenever a tree's actors have ended.
    pub fn on_closed(&self, told: Arc<dyn Fn(TreeId, &Closed) + Send + Sync>) {
        let _gone = self.actor.cast(NodeMsg::OnClosed(told));
    }

    /// Has the instance look at a tree: it claims it if there is something to do.
    pub fn wake(&self, tree: TreeId, cause: ClaimCause) {
        let _gone = self.actor.cast(NodeMsg::Wake { tree, cause });
    }

    /// How the instance stands; empty once it is gone.
    pub async fn stats(&self) -> NodeStats {
        match self.actor.call(NodeMsg::Stats, None).await {
            Ok(ractor::rpc::CallResult::Success(stats)) => stats,
            Ok(_) | Err(_) => NodeStats::default(),
        }
    }

    /// Takes no new work, lets running calls end for up to `grace`, releases the trees and stops.
    pub async fn drain(&self, grace: Duration) {
        let _timed_out = self.actor.call(NodeMsg::Drain, Some(grace)).await;
        self.actor.stop(None);
    }

    /// Ends the instance at once, as a crash would but for the process. What runs is dropped.
    pub fn kill(&self) {
        self.actor.kill();
    }

    /// Kills an actor of a tree as a defect would: for tests of supervision.
    pub fn fault(&self, tree: TreeId, fault: Fault) {
        let _gone = self.actor.cast(NodeMsg::Fault { tree, fault });
    }

    /// Starts an execution. It is durable before the id is returned.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(&self, request: StartRequest) -> Result<ExecutionId, StartError> {
        let deps = &self.deps;
        if request.input.len() > INPUT_BYTES_MAX {
            let bytes = request.input.len();
            return Err(StartError::InputTooLarge {
                bytes,
                max: INPUT_BYTES_MAX,
            });
        }
        let Some(agent) = deps.agents.agent(&request.agent, &request.agent) else {
            let known = deps.agents.names().join(", ");
            return Err(StartError::UnknownAgent {
                name: request.agent,
                known,
            });
        };
        let now = deps.clock.now();
        let tree = TreeId::new(now, Home::default(), &*deps.random);
        let execution = ExecutionId::root(tree);
        if let Some(before) = self.reserve_key(&request, execution).await? {
            return self.repeated(&agent, before, request).await;
        }
        self.check_thread(&request, execution).await?;
        self.write_start(&agent, execution, request).await?;
        self.wake(tree, ClaimCause::Start);
        Ok(execution)
    }

    /// The key was used before: the same execution, started now if it was not.
    async fn repeated(
        &self,
        agent: &crate::Agent,
        before: ExecutionId,
        request: StartRequest,
    ) -> Result<ExecutionId, StartError> {
        let read = self.deps.store.tail(before.tree()).await?;
        if read.last.is_none() {
            self.check_thread(&request, before).await?;
            self.write_start(agent, before, request).await?;
            self.wake(before.tree(), ClaimCause::Start);
        } else {
            // Its owner may be gone since: whoever starts it again wants it to go on.
            self.wake(before.tree(), ClaimCause::Takeover);
        }
        Ok(before)
    }

    async fn write_start(
        &self,
        agent: &crate::Agent,
        execution: ExecutionId,
        request: StartRequest,
    ) -> Result<(), StartError> {
        let deps = &self.deps;
        let tree = execution.tree();
        let plan = &agent.plan;
        let thread = request.thread.clone();
        let started = Started {
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
        };
        let record = Record::Started(Box::new(started));
        let entry = Entry {
            execution: 0,
            at: deps.clock.now(),
            record,
        };
        let unwritable =
            |error: leasehold_execution::RecordError| JournalError::Unavailable(error.to_string());
        let body = write_entries(std::slice::from_ref(&entry)).map_err(unwritable)?;
        let spilled = spill(body).map_err(unwritable)?;
        for blob in spilled.blobs {
            deps.store.put_blob(tree, blob).await?;
        }
        let summary = TreeSummary {
            state: TreeState::Live,
            next_due: None,
            config_hash: plan.config_hash,
            reader_version: READER_VERSION,
            workflow: plan.workflow.clone(),
            thread: thread
                .map(|thread| thread.as_str().to_owned())
                .unwrap_or_default(),
            pauses: vec![],
        };
        let absent = Tail::at(tree, 0);
        let mut writer = Writer::starting(tree, request.tenant, absent, &*deps.random);
        let sealed = writer
            .seal(summary, &spilled.body)
            .map_err(JournalError::from)?;
        let (sender, receiver) = oneshot::channel();
        let done = Box::new(move |outcome| {
            let _gone = sender.send(outcome);
        });
        deps.store.append(absent, sealed, done);
        match receiver.await {
            Ok(AppendOutcome::Acked(tail)) => {
                let frame = writer.acked(tail);
                if deps.observer.is_interested() {
                    deps.observer.durable(tree, frame, &[entry]);
                }
                Ok(())
            }
            // Somebody who used the same key was faster: the execution is started.
            Ok(AppendOutcome::Refused) => Ok(()),
            Ok(AppendOutcome::Failed(error)) => Err(error.into()),
            Ok(AppendOutcome::Unknown(_)) | Err(_) => Err(StartError::Unknown { execution }),
        }
    }

    /// Binds the caller's key to `execution`, or tells which one it is bound to.
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
        let value = format!("{execution} {}", request_digest(request));
        let expires_at = Some(now.plus(deps.config.start_key_retention));
        let bytes = value.clone().into_bytes();
        let put = deps
            .store
            .put_key(&name, bytes, Expect::Absent, expires_at, now)
            .await?;
        let current = match put {
            KeyPut::Stored { .. } => return Ok(None),
            KeyPut::Conflict { current } => current,
            KeyPut::Unknown => deps.store.key(&name, now).await?,
        };
        let Some(current) = current else {
            return Err(StartError::Unknown { execution });
        };
        let text = String::from_utf8_lossy(&current.value);
        let (before, digest) = text.split_once(' ').unwrap_or_default();
        let Ok(before) = before.parse::<ExecutionId>() else {
            return Err(StartError::Unknown { execution });
        };
        if digest != request_digest(request) {
            return Err(StartError::KeyConflict { execution: before });
        }
        Ok((before != execution).then_some(before))
    }

    /// A thread has one owner and one tenant; somebody else's is refused before anything is read.
    async fn check_thread(
        &self,
        request: &StartRequest,
        execution: ExecutionId,
    ) -> Result<(), StartError> {
        let Some(thread) = &request.thread else {
            return Ok(());
        };
        let deps = &self.deps;
        let now = deps.clock.now();
        let name = format!(
            "thread/{}/{}",
            request.tenant,
            Digest::of(thread.as_str().as_bytes())
        );
        let value = format!("{execution} {}", request.owner).into_bytes();
        let mut expect = Expect::Absent;
        for _ in 0..4 {
            let put = deps
                .store
                .put_key(&name, value.clone(), expect, None, now)
                .await?;
            let current = match put {
                KeyPut::Stored { .. } => return Ok(()),
                KeyPut::Conflict { current } => current,
                KeyPut::Unknown => deps.store.key(&name, now).await?,
            };
            let Some(current) = current else { continue };
            self.thread_is_free(&current.value, request, thread, execution)
                .await?;
            expect = Expect::Revision(current.revision);
        }
        Err(StartError::Unknown { execution })
    }

    async fn thread_is_free(
        &self,
        value: &[u8],
        request: &StartRequest,
        thread: &ThreadId,
        execution: ExecutionId,
    ) -> Result<(), StartError> {
        let text = String::from_utf8_lossy(value);
        let (last, owner) = text.split_once(' ').unwrap_or_default();
        let thread = thread.as_str().to_owned();
        if owner != request.owner.as_str() {
            return Err(StartError::ThreadRefused { thread });
        }
        let Ok(last) = last.parse::<ExecutionId>() else {
            return Ok(());
        };
        let tail = self.deps.store.tail(last.tree()).await?;
        let header = tail.header().map_err(JournalError::from)?;
        match header {
            Some(header) if last != execution && header.summary.state != TreeState::Ended => {
                Err(StartError::ThreadBusy {
                    thread,
                    execution: last,
                })
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Decides a pause, and waits up to `wait` for the outcome. Durable, and so applied, once this returns `Ok` or `Pending`.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn decide(
        &self,
        target: PauseTarget,
        by: Principal,
        verdict: Verdict,
        shown: Option<Digest>,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        let (tree, pause) = match target {
            PauseTarget::Reference(reference) => (
                reference.execution.tree(),
                PauseKey::Number(reference.number),
            ),
            PauseTarget::Secret(tree, secret) => (tree, PauseKey::Secret(secret)),
        };
        let body = LetterBody::Decide(Decision {
            pause,
            by,
            verdict,
            shown,
            letter: None,
        });
        self.write_letter(tree, &body, wait).await
    }

    /// Cancels an execution, and waits up to `wait` for the outcome.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn cancel(
        &self,
        tree: TreeId,
        by: Principal,
        reason: String,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        self.write_letter(tree, &LetterBody::Cancel { by, reason }, wait)
            .await
    }

    /// Lets a quarantined tree go on.
    ///
    /// # Errors
    /// See [`DecideError`].
    pub async fn retry(
        &self,
        tree: TreeId,
        by: Principal,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        self.write_letter(tree, &LetterBody::Retry { by }, wait)
            .await
    }

    async fn write_letter(
        &self,
        tree: TreeId,
        body: &LetterBody,
        wait: Duration,
    ) -> Result<DecisionReply, DecideError> {
        let deps = &self.deps;
        if deps.store.tail(tree).await?.last.is_none() {
            return Err(DecideError::UnknownExecution(ExecutionId::root(tree)));
        }
        let body = body
            .write()
            .map_err(|error| JournalError::Unavailable(error.to_string()))?;
        if body.len() > Letter::BYTES_MAX {
            return Err(DecideError::TooLarge {
                bytes: body.len(),
                max: Letter::BYTES_MAX,
            });
        }
        let chance =
            (u128::from(deps.random.next_u64()) << 64) | u128::from(deps.random.next_u64());
        let id = LetterId(chance);
        let (sender, receiver) = oneshot::channel();
        // Told to wait before the letter is there: its outcome cannot come first.
        let _gone = self.actor.cast(NodeMsg::Await { id, sender });
        deps.store.put(Letter { id, tree, body }).await?;
        tokio::select! {
            reply = receiver => reply.map_err(|_| DecideError::Pending { waited_ms: 0 }),
            () = deps.clock.sleep(wait) => {
                Err(DecideError::Pending { waited_ms: wait.as_millis() })
            }
        }
    }

    /// Waits until the tree's last header satisfies `until`, and returns its summary.
    ///
    /// # Errors
    /// The store does not answer, or what it holds is no journal.
    pub async fn wait_for(
        &self,
        tree: TreeId,
        until: impl Fn(&TreeSummary) -> bool,
    ) -> Result<TreeSummary, JournalError> {
        let store = &self.deps.store;
        let mut cursor = FollowCursor::default();
        loop {
            // A cursor first, a look second: what is appended between the two is in the next page.
            let page = store.follow(cursor);
            let read = store.tail(tree).await?;
            if let Some(header) = read.header().map_err(JournalError::from)?
                && until(&header.summary)
            {
                return Ok(header.summary);
            }
            cursor = page.await?.next;
        }
    }
}

fn request_digest(request: &StartRequest) -> String {
    let thread = request
        .thread
        .as_ref()
        .map(ThreadId::as_str)
        .unwrap_or_default();
    let parts = [
        request.agent.as_str(),
        &request.input,
        request.owner.as_str(),
        thread,
    ];
    Digest::of_parts(&parts.map(str::as_bytes)).to_string()
}
