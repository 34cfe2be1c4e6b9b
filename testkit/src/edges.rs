//! The edges of an application under test: its tools and models with fault points around them, and the channel of every role.
//!
//! Faults work through the seams the runtime is given, tool and model; nothing in the runtime knows of them.

use std::future::pending;
use std::sync::Arc;
use std::task::Poll;

use futures_util::{FutureExt as _, poll};
use leasehold_actors::{Ask, Channel, ChannelError, Channels, Sent};
use leasehold_models::{Model, ModelAnswer, ModelError, ModelRequest, Price, Reservation};
use leasehold_tools::{Body, CallContext, Tool, ToolCall, ToolError, ToolFuture, ToolSpec};
use leasehold_types::{BoxFuture, Permit, Signal};
use serde_json::Value;

use crate::fault::FaultPoint;
use crate::stage::{Chat, Running, Stage};

/// A tool with its fault points around it. What it is stays the same.
pub(crate) struct StagedTool {
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) stage: Arc<Stage>,
}

impl Tool for StagedTool {
    fn spec(&self) -> ToolSpec {
        self.tool.spec()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        let spec = self.tool.spec();
        let execution = match call.take::<CallContext>() {
            Ok(context) => context.execution_id(),
            Err(error) => return Box::pin(std::future::ready(Err(error))),
        };
        let name = spec.name.into_owned();
        let cuts = Cuts {
            running: self.stage.begins(spec.body, execution, &name),
            stage: Arc::clone(&self.stage),
            before: FaultPoint::BeforeEffect(name.clone()),
            after: FaultPoint::AfterEffect(name),
        };
        match spec.body {
            Body::Async => Box::pin(cuts.around(Arc::clone(&self.tool), call)),
            Body::Blocking => cuts.around_blocking(&*self.tool, call),
        }
    }
}

/// Where one call of a tool may be cut.
struct Cuts {
    stage: Arc<Stage>,
    /// None where the instance is on its way down already.
    running: Option<Running>,
    before: FaultPoint,
    after: FaultPoint,
}

impl Cuts {
    async fn around(mut self, tool: Arc<dyn Tool>, call: ToolCall) -> Result<Value, ToolError> {
        if self.is_cut_before() {
            pending::<()>().await;
        }
        let mut body = tool.call(call);
        let result = match poll!(&mut body) {
            Poll::Ready(result) => result,
            Poll::Pending => {
                if let Some(running) = &mut self.running {
                    running.is_under_way();
                }
                body.await
            }
        };
        if self.stage.cut(&self.after) {
            pending::<()>().await;
        }
        result
    }

    /// The call is done when this returns: its thread waits where a future would stay pending.
    fn around_blocking(self, tool: &dyn Tool, call: ToolCall) -> ToolFuture {
        if self.is_cut_before() {
            return self.given_up();
        }
        let result = tool.call(call).now_or_never();
        if self.stage.cut(&self.after) {
            return self.given_up();
        }
        match result {
            Some(result) => Box::pin(std::future::ready(result)),
            None => Box::pin(pending()),
        }
    }

    fn is_cut_before(&self) -> bool {
        self.running.is_none() || self.stage.cut(&self.before)
    }

    /// What a blocking body returns that nobody waits for any more.
    fn given_up(self) -> ToolFuture {
        self.stage.wait_for_the_end();
        let error = ToolError::new("the instance crashed").outcome_unknown();
        Box::pin(std::future::ready(Err(error)))
    }
}

/// A model with its fault point behind it.
#[derive(Debug)]
pub(crate) struct StagedModel {
    pub(crate) agent: String,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) stage: Arc<Stage>,
}

impl Model for StagedModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn chat<'a>(
        &'a self,
        permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        let chat = Chat::new(&self.stage);
        Box::pin(async move {
            let _chat = chat;
            let answered = self.model.chat(permit, request, signal).await;
            let point = FaultPoint::AfterAnswer(self.agent.clone());
            if answered.is_ok() && self.stage.cut(&point) {
                pending::<()>().await;
            }
            answered
        })
    }

    fn estimate(&self, request: &ModelRequest) -> Reservation {
        self.model.estimate(request)
    }
}

/// The channel of every role: leaves the question to the test.
#[derive(Debug)]
pub(crate) struct TheTest;

impl Channel for TheTest {
    fn name(&self) -> &'static str {
        "test"
    }

    fn send(&self, _: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

impl Channels for TheTest {
    fn channel(&self, _: &str) -> Option<Arc<dyn Channel>> {
        Some(Arc::new(Self))
    }
}
