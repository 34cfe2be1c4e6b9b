//! The tools of the reference execution: one of each effect class, some that fail.

use std::sync::Arc;
use std::time::Duration;

use leasehold_tools::{CallContext, Spend, Tool, ToolCall, ToolError, ToolFuture, ToolSpec};
use leasehold_types::{Effect, Money};
use serde_json::{Value, json};

use crate::outside::{Arrival, Effect as Seen, Outside};

/// What a paid tool pays for each effect, in micro-units.
const FEE_MICROS: u64 = 2_000;

/// How long the outside remembers a key: longer than any test, on the fast clock too.
const RETENTION: Duration = Duration::from_secs(300 * 86_400);
/// Longer than any call takes, on the fast clock too.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// What a panic says that belongs to the run; the worker prints nothing of it.
pub(crate) const PLANNED: &str = "planned";
/// The timeout of the tool that hangs.
const SHORT: Duration = Duration::from_secs(1);

/// What a tool does outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Looks at something.
    Looks,
    /// Has an effect once per key.
    Keyed,
    /// Has an effect each time.
    Writes,
    /// Is turned away the first time, then like [`Kind::Keyed`].
    Flaky,
    /// Never answers.
    Hangs,
    /// Panics each time.
    Panics,
    /// Ends its process, unless the file `mended` is there.
    Aborts,
}

/// A tool and the world it acts on.
pub(crate) struct SinkTool {
    spec: ToolSpec,
    kind: Kind,
    outside: Arc<Outside>,
}

impl SinkTool {
    fn new(name: &'static str, effect: Effect, kind: Kind, outside: &Arc<Outside>) -> Self {
        let mut spec = ToolSpec::new(name, "Acts outside.", effect);
        spec.timeout = if kind == Kind::Hangs { SHORT } else { PATIENCE };
        let outside = Arc::clone(outside);
        Self {
            spec,
            kind,
            outside,
        }
    }

    /// What each effect costs, in micro-units; as much is reserved.
    pub(crate) const fn fee(&self) -> u64 {
        match self.kind {
            Kind::Keyed | Kind::Writes => FEE_MICROS,
            Kind::Looks | Kind::Flaky | Kind::Hangs | Kind::Panics | Kind::Aborts => 0,
        }
    }

    fn arrival(&self, before: &[Seen]) -> Arrival {
        let is_applied = before
            .iter()
            .any(|effect| effect.arrival == Arrival::Applied);
        match self.kind {
            Kind::Looks | Kind::Hangs | Kind::Panics | Kind::Aborts => Arrival::Read,
            Kind::Writes => Arrival::Applied,
            Kind::Flaky if before.is_empty() => Arrival::Refused,
            Kind::Keyed | Kind::Flaky if is_applied => Arrival::Known,
            Kind::Keyed | Kind::Flaky => Arrival::Applied,
        }
    }

    fn act(&self, call: &ToolCall) -> Result<Value, ToolError> {
        let context: CallContext = call.take()?;
        let key = context.idempotency_key().as_str();
        let fee = self.fee();
        let (arrival, receipt) = self
            .outside
            .arrive(key, &self.spec.name, fee, |before| self.arrival(before));
        if fee > 0 {
            call.take::<Spend>()?
                .record("outside", Money::from_micros(fee))?;
        }
        match arrival {
            Arrival::Refused => Err(ToolError::new("busy").retryable()),
            Arrival::Read | Arrival::Applied | Arrival::Known => Ok(json!({"receipt": receipt})),
        }
    }
}

impl Tool for SinkTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        // Nothing is done before the first poll: what is dropped unpolled has not arrived.
        let this = Self {
            spec: self.spec.clone(),
            outside: Arc::clone(&self.outside),
            ..*self
        };
        Box::pin(async move {
            let done = this.act(&call);
            match this.kind {
                Kind::Hangs => std::future::pending().await,
                Kind::Panics => panic!("{PLANNED}"),
                Kind::Aborts if !this.outside.has("mended") => std::process::abort(),
                Kind::Looks | Kind::Keyed | Kind::Writes | Kind::Flaky | Kind::Aborts => done,
            }
        })
    }
}

/// The tool that waits for a decision.
pub(crate) const APPROVED: &str = "refund-tool";
/// The tool whose cut-off call a person decides about.
pub(crate) const WRITES: &str = "mail-tool";

/// The tools of the reference execution.
pub(crate) fn reference(outside: &Arc<Outside>) -> Vec<SinkTool> {
    let keyed = Effect::idempotent(RETENTION);
    vec![
        SinkTool::new("look-tool", Effect::Read, Kind::Looks, outside),
        SinkTool::new("pay-tool", keyed, Kind::Keyed, outside),
        SinkTool::new(WRITES, Effect::Write, Kind::Writes, outside),
        SinkTool::new("flaky-tool", keyed, Kind::Flaky, outside),
        SinkTool::new(APPROVED, keyed, Kind::Keyed, outside),
        SinkTool::new("slow-tool", Effect::Read, Kind::Hangs, outside),
        SinkTool::new("panic-tool", Effect::Read, Kind::Panics, outside),
    ]
}

/// The tool that kills its worker.
pub(crate) fn poison(outside: &Arc<Outside>) -> Vec<SinkTool> {
    vec![SinkTool::new(
        "abort-tool",
        Effect::Read,
        Kind::Aborts,
        outside,
    )]
}
