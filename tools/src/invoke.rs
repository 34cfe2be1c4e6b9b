//! Invoking a tool: validate, look at the signal, run under timeout and signal, validate again.
//!
//! It needs a frame and nothing else: no runtime, journal or application.
//!
//! - INVOKE-1: the body is polled only while the signal is not aborted and the timer has not run out.
//! - INVOKE-2: whatever the body does, one outcome comes back, with everything it spent until then.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::FutureExt;
use leasehold_types::{AbortReason, BoxFuture, Clock, Permit, PermitToken, Signal};
use serde_json::Value;

use crate::arguments::{Arguments, CanonicalArguments, review};
use crate::bind::BoundTool;
use crate::context::{CallContext, CallFacts};
use crate::error::ToolError;
use crate::extract::{ApprovalRecord, ToolCall};
use crate::offload::{BlockingPool, offloaded};
use crate::outcome::{CallEnd, CallOutcome};
use crate::spend::Spend;
use crate::tool::{Body, ToolFuture};

/// Everything around one call: who calls, until when, on which clock.
#[derive(Debug, Clone)]
pub struct CallFrame {
    facts: Arc<CallFacts>,
    signal: Signal,
    clock: Arc<dyn Clock>,
    approval: Option<Arc<ApprovalRecord>>,
    pool: Option<Arc<dyn BlockingPool>>,
}

impl CallFrame {
    /// A frame for one call. The call gets a signal of its own below `signal`.
    #[must_use]
    pub fn new(facts: CallFacts, signal: &Signal, clock: Arc<dyn Clock>) -> Self {
        Self {
            facts: Arc::new(facts),
            signal: signal.child(),
            clock,
            approval: None,
            pool: None,
        }
    }

    /// Adds who approved the call.
    #[must_use]
    pub fn with_approval(mut self, approval: ApprovalRecord) -> Self {
        self.approval = Some(Arc::new(approval));
        self
    }

    /// Adds the threads on which a blocking body runs; without them it runs where it is polled.
    #[must_use]
    pub fn with_pool(mut self, pool: Arc<dyn BlockingPool>) -> Self {
        self.pool = Some(pool);
        self
    }
}

/// Makes one call. Reviewed arguments are not validated again, unless the tool's definition has changed since.
///
/// Dropping the returned future drops the tool's.
pub fn invoke<'a>(
    permit: impl PermitToken,
    tool: &'a BoundTool,
    arguments: impl Into<Arguments<'a>>,
    frame: CallFrame,
) -> BoxFuture<'a, CallOutcome> {
    // A named type: with an opaque one, a call without a permit would be three errors.
    Box::pin(one_call(
        permit.into_permit(),
        tool,
        arguments.into(),
        frame,
    ))
}

async fn one_call(
    permit: Permit,
    tool: &BoundTool,
    arguments: Arguments<'_>,
    frame: CallFrame,
) -> CallOutcome {
    let spend = Spend::of_tool(tool.name().as_str());
    let end = end_of(permit, tool, arguments, frame, &spend).await;
    let spend = spend.end();
    CallOutcome { end, spend }
}

async fn end_of(
    _permit: Permit,
    tool: &BoundTool,
    arguments: Arguments<'_>,
    frame: CallFrame,
    spend: &Spend,
) -> CallEnd {
    let arguments = match reviewed(tool, arguments) {
        Ok(arguments) => arguments,
        Err(end) => return end,
    };
    if let Some(reason) = frame.signal.reason() {
        return CallEnd::NotStarted(reason);
    }
    let end = run(tool, &arguments, frame, spend).await;
    match end {
        CallEnd::Done(value) => checked(tool, value),
        CallEnd::InvalidInput(_)
        | CallEnd::NotStarted(_)
        | CallEnd::Aborted(_)
        | CallEnd::TimedOut(_)
        | CallEnd::Failed(_)
        | CallEnd::Panicked(_)
        | CallEnd::InvalidOutput(_) => end,
    }
}

fn reviewed(tool: &BoundTool, arguments: Arguments<'_>) -> Result<CanonicalArguments, CallEnd> {
    match arguments {
        Arguments::Reviewed(known) if known.definition_hash() == tool.definition_hash() => {
            Ok(known)
        }
        Arguments::Reviewed(old) => review(tool, old.text()).map_err(CallEnd::InvalidInput),
        Arguments::Raw(raw) => review(tool, raw).map_err(CallEnd::InvalidInput),
    }
}

fn checked(tool: &BoundTool, value: Value) -> CallEnd {
    match tool.output().map(|output| output.check(&value)) {
        None | Some(Ok(())) => CallEnd::Done(value),
        Some(Err(issues)) => CallEnd::InvalidOutput(issues),
    }
}

async fn run(
    tool: &BoundTool,
    arguments: &CanonicalArguments,
    frame: CallFrame,
    spend: &Spend,
) -> CallEnd {
    let timeout = tool.timeout();
    let deadline = frame.clock.now().plus(timeout);
    let call = ToolCall {
        arguments: arguments.shared_value(),
        context: CallContext::new(frame.facts, deadline, frame.signal.clone()),
        services: tool.services().clone(),
        spend: spend.clone(),
        approval: frame.approval,
    };
    let timer = frame.clock.sleep(timeout);
    let body = match start(tool, call, frame.pool.as_ref()) {
        Ok(body) => body,
        Err(panic) => return CallEnd::Panicked(panic_text(panic.as_ref())),
    };
    match race(body, timer, &frame.signal).await {
        Race::Body(Ok(Ok(value))) => CallEnd::Done(value),
        Race::Body(Ok(Err(error))) => CallEnd::Failed(error),
        Race::Body(Err(panic)) => CallEnd::Panicked(panic_text(panic.as_ref())),
        Race::Aborted(reason) => CallEnd::Aborted(reason),
        Race::TimedOut => {
            // What the tool started beside its future hears of it here.
            frame.signal.abort(AbortReason::TimedOut { after: timeout });
            CallEnd::TimedOut(timeout)
        }
    }
}

fn start(
    tool: &BoundTool,
    call: ToolCall,
    pool: Option<&Arc<dyn BlockingPool>>,
) -> std::thread::Result<ToolFuture> {
    let body = tool.tool();
    catch_unwind(AssertUnwindSafe(|| match (tool.spec().body, pool) {
        (Body::Blocking, Some(pool)) => offloaded(pool, body.clone(), call),
        (Body::Blocking, None) | (Body::Async, _) => body.call(call),
    }))
}

enum Race {
    Body(std::thread::Result<Result<Value, ToolError>>),
    Aborted(AbortReason),
    TimedOut,
}

/// Polls the body until it ends, the signal is aborted or the timer runs out; then it is dropped.
async fn race(body: ToolFuture, mut timer: BoxFuture<'static, ()>, signal: &Signal) -> Race {
    let mut body = AssertUnwindSafe(body).catch_unwind();
    // Most calls that only compute end here, before a listener is made.
    let first = poll_fn(|context| Poll::Ready(body.poll_unpin(context))).await;
    if let Poll::Ready(ended) = first {
        return Race::Body(ended);
    }
    let mut aborted = pin!(signal.aborted());
    let end = poll_fn(|context| {
        if let Poll::Ready(reason) = aborted.as_mut().poll(context) {
            return Poll::Ready(Race::Aborted(reason));
        }
        if timer.poll_unpin(context).is_ready() {
            return Poll::Ready(Race::TimedOut);
        }
        body.poll_unpin(context).map(Race::Body)
    })
    .await;
    // A destructor that panics must not take the call's owner with it.
    let _dropped = catch_unwind(AssertUnwindSafe(|| drop(body)));
    end
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let literal = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = literal.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a value that is not text".to_owned())
}
