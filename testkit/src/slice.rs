//! A tool by itself: one call with the frame of a real one, and no application around it.
//!
//! - SLICE-1: what runs is the runtime's own `invoke`: validation, signal, timer, spend and key are those of a real call.
//! - SLICE-2: nothing is cut: a test sees the whole output.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::TokioPool;
use leasehold_tools::{
    self as tools, ApprovalRecord, BoundTool, CallEnd, CallFacts, CallFrame, Services, Tool, bind,
};
use leasehold_types::{
    CallId, Clock, ComponentName, Epoch, ExecutionId, FencingToken, FrameIndex, Home,
    IdempotencyKey, Owner, OwnershipGuard, Permit, Principal, Random, Signal, StepIntent, Tenant,
    ThreadId, TreeId,
};
use serde::Serialize;

use crate::fail::fail;
use crate::ran::{Failed, Ran};
use crate::{SeededRandom, TestClock};

/// The id of a call that is run by itself.
pub const SLICE_CALL_ID: &str = "tool-slice";
/// Workflow and agent of a call that is run by itself.
const SLICE_AGENT: &str = "tool-test";

/// Runs a tool by itself.
///
/// ```
/// use leasehold::prelude::*;
/// use leasehold_testkit::test_tool;
/// use serde_json::json;
///
/// /// Adds one.
/// #[tool(effect = pure)]
/// async fn count(start: Dep<u32>) -> ToolResult<PlainText> {
///     Ok((*start + 1).to_string().into())
/// }
///
/// # leasehold_testkit::run(|| async {
/// let ran = test_tool(count).provide(41_u32).run(json!({})).await.unwrap();
/// assert_eq!(ran.output, json!({"text": "42"}));
/// # });
/// ```
pub fn test_tool(tool: impl Tool) -> ToolTest {
    ToolTest::new(Arc::new(tool), Services::new(), TestClock::new())
}

/// A tool with everything around it replaced. Each [`ToolTest::run`] is a call of an execution of its own.
pub struct ToolTest {
    tool: Arc<dyn Tool>,
    services: Services,
    clock: TestClock,
    random: Arc<dyn Random>,
    timeout: Option<Duration>,
    approved_by: Option<Principal>,
    signal: Signal,
}

impl ToolTest {
    pub(crate) fn new(tool: Arc<dyn Tool>, services: Services, clock: TestClock) -> Self {
        Self {
            tool,
            services,
            clock,
            random: Arc::new(SeededRandom::new(1)),
            timeout: None,
            approved_by: None,
            signal: Signal::root(),
        }
    }

    pub(crate) fn with_random(mut self, random: Arc<dyn Random>) -> Self {
        self.random = random;
        self
    }

    /// Gives a service, or replaces the one of its type.
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(self, service: T) -> Self {
        self.provide_shared(Arc::new(service))
    }

    /// Gives a shared service, or replaces the one of its type, which may be a trait.
    #[must_use]
    pub fn provide_shared<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services = self.services.replace(service);
        self
    }

    /// Another timeout than the tool's own.
    #[must_use]
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The clock its timer runs on: keep a clone and advance it.
    #[must_use]
    pub fn clock(mut self, clock: TestClock) -> Self {
        self.clock = clock;
        self
    }

    /// The signal its calls are below: abort it to cancel them.
    #[must_use]
    pub fn signal(mut self, signal: Signal) -> Self {
        self.signal = signal;
        self
    }

    /// Has its calls approved by somebody, for tools that take `Approved`.
    #[must_use]
    pub fn approved_by(mut self, principal: &Principal) -> Self {
        self.approved_by = Some(principal.clone());
        self
    }

    /// Makes one call.
    ///
    /// # Errors
    /// The tool's own error, or why it gave none: see [`Failed`].
    ///
    /// # Panics
    /// The tool is wrong in itself, or takes a service that was not given; or the input cannot be written as JSON.
    pub async fn run(&self, input: impl Serialize) -> Result<Ran, Failed> {
        let raw = match serde_json::to_string(&input) {
            Ok(raw) => raw,
            Err(error) => fail(format_args!("the input cannot be written: {error}")),
        };
        self.invoke(&raw).await
    }

    /// Makes one call with arguments as a model may have written them.
    ///
    /// # Errors
    /// The tool's own error, or why it gave none: see [`Failed`].
    ///
    /// # Panics
    /// The tool is wrong in itself, or takes a service that was not given.
    pub async fn invoke(&self, raw: &str) -> Result<Ran, Failed> {
        self.attempt(self.execution(), raw, 1).await
    }

    /// Makes one call and then the same again, as after a crash that cut it off: same call id, same key, second attempt.
    ///
    /// # Panics
    /// As [`ToolTest::run`].
    pub async fn run_again_after_a_crash(&self, input: impl Serialize) -> [Result<Ran, Failed>; 2] {
        let raw = match serde_json::to_string(&input) {
            Ok(raw) => raw,
            Err(error) => fail(format_args!("the input cannot be written: {error}")),
        };
        let execution = self.execution();
        let first = self.attempt(execution, &raw, 1).await;
        [first, self.attempt(execution, &raw, 2).await]
    }

    async fn attempt(
        &self,
        execution: ExecutionId,
        raw: &str,
        attempt: u32,
    ) -> Result<Ran, Failed> {
        let tool = self.bound();
        let permit = self.permit(execution.tree());
        let frame = self.frame(facts(execution, attempt));
        let outcome = tools::invoke(permit, &tool, raw, frame).await;
        let spend = outcome.spend;
        match outcome.end {
            CallEnd::Done(output) => Ok(Ran { output, spend }),
            end @ (CallEnd::InvalidInput(_)
            | CallEnd::NotStarted(_)
            | CallEnd::Aborted(_)
            | CallEnd::TimedOut(_)
            | CallEnd::Failed(_)
            | CallEnd::Panicked(_)
            | CallEnd::InvalidOutput(_)) => Err(Failed { end, spend }),
        }
    }

    fn execution(&self) -> ExecutionId {
        ExecutionId::root(TreeId::new(
            self.clock.now(),
            Home::default(),
            &*self.random,
        ))
    }

    fn bound(&self) -> BoundTool {
        let bound = match bind(Arc::clone(&self.tool), &self.services) {
            Ok(bound) => bound,
            Err(errors) => {
                let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
                fail(errors.join("\n"))
            }
        };
        match self.timeout {
            Some(timeout) => bound.with_timeout(timeout),
            None => bound,
        }
    }

    fn frame(&self, facts: CallFacts) -> CallFrame {
        let mut frame = CallFrame::new(facts, &self.signal, Arc::new(self.clock.clone()));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            frame = frame.with_pool(Arc::new(TokioPool::new(runtime)));
        }
        match &self.approved_by {
            Some(by) => frame.with_approval(ApprovalRecord {
                by: by.clone(),
                at: self.clock.now(),
                proposed: None,
            }),
            None => frame,
        }
    }

    /// The permit of a tree that was just claimed. A signal that is aborted already is the call's to report.
    fn permit(&self, tree: TreeId) -> Permit {
        let token = FencingToken {
            tree,
            epoch: Epoch::NONE.next(),
        };
        let guard = OwnershipGuard::claimed(token, FrameIndex::FIRST, None, Signal::root());
        let step = StepIntent {
            frame: FrameIndex::FIRST,
            needs: Duration::ZERO,
        };
        match guard.permit(self.clock.uptime(), step) {
            Ok(permit) => permit,
            Err(refused) => fail(refused),
        }
    }
}

impl fmt::Debug for ToolTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolTest")
            .field("tool", &self.tool.spec().name)
            .field("services", &self.services)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

fn facts(execution_id: ExecutionId, attempt: u32) -> CallFacts {
    let call_id = CallId::new(SLICE_CALL_ID);
    let name = match ComponentName::new(SLICE_AGENT) {
        Ok(name) => name,
        Err(error) => fail(error),
    };
    CallFacts {
        execution_id,
        thread_id: ThreadId::new(execution_id.to_string()),
        owner: Owner::new("owner"),
        tenant: Tenant::default(),
        workflow: name.clone(),
        agent: name,
        idempotency_key: IdempotencyKey::new(execution_id, SLICE_AGENT, 1, None, &call_id),
        call_id,
        attempt,
    }
}
