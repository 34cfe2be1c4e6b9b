//! Which call this is: what a tool learns of the execution it works for.

use std::sync::Arc;

use leasehold_types::{
    CallId, ComponentName, ExecutionId, IdempotencyKey, Owner, Signal, Tenant, ThreadId, Timestamp,
};

/// The facts of one call, the same when an interrupted call runs again, but for the attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFacts {
    /// The execution.
    pub execution_id: ExecutionId,
    /// The conversation it belongs to.
    pub thread_id: ThreadId,
    /// Whom the thread belongs to.
    pub owner: Owner,
    /// The owner's tenant.
    pub tenant: Tenant,
    /// The workflow that runs.
    pub workflow: ComponentName,
    /// The agent that called.
    pub agent: ComponentName,
    /// The call.
    pub call_id: CallId,
    /// Names the call's one intended effect.
    pub idempotency_key: IdempotencyKey,
    /// Which attempt of the call this is, from 1.
    pub attempt: u32,
}

/// The call a tool is working on. Take it as a parameter; clones are cheap.
///
/// Send [`CallContext::idempotency_key`] with every effect: after a crash the call comes again with the same key.
///
/// ```
/// # use leasehold_tools::CallContext;
/// fn headers(call: &CallContext) -> [(&'static str, String); 1] {
///     [("Idempotency-Key", call.idempotency_key().to_string())]
/// }
/// ```
#[derive(Debug, Clone)]
pub struct CallContext {
    facts: Arc<CallFacts>,
    deadline: Timestamp,
    signal: Signal,
}

impl CallContext {
    /// The context of a call whose body ends by `deadline`; the runtime and tests make it.
    #[must_use]
    pub const fn new(facts: Arc<CallFacts>, deadline: Timestamp, signal: Signal) -> Self {
        Self {
            facts,
            deadline,
            signal,
        }
    }

    /// Names the call's one intended effect: the same key must not take effect twice.
    #[must_use]
    pub fn idempotency_key(&self) -> &IdempotencyKey {
        &self.facts.idempotency_key
    }

    /// The execution.
    #[must_use]
    pub fn execution_id(&self) -> ExecutionId {
        self.facts.execution_id
    }

    /// The conversation it belongs to.
    #[must_use]
    pub fn thread_id(&self) -> &ThreadId {
        &self.facts.thread_id
    }

    /// Whom the thread belongs to, as authentication established it.
    #[must_use]
    pub fn owner(&self) -> &Owner {
        &self.facts.owner
    }

    /// The owner's tenant.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.facts.tenant
    }

    /// The workflow that runs.
    #[must_use]
    pub fn workflow(&self) -> &ComponentName {
        &self.facts.workflow
    }

    /// The agent that called.
    #[must_use]
    pub fn agent(&self) -> &ComponentName {
        &self.facts.agent
    }

    /// The call.
    #[must_use]
    pub fn call_id(&self) -> &CallId {
        &self.facts.call_id
    }

    /// Which attempt of the call this is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.facts.attempt
    }

    /// When this attempt times out.
    #[must_use]
    pub const fn deadline(&self) -> Timestamp {
        self.deadline
    }

    /// Tells the tool's own tasks and processes to stop. The tool's future itself is dropped.
    #[must_use]
    pub const fn signal(&self) -> &Signal {
        &self.signal
    }
}
