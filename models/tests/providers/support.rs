//! Permits, a clock that waits never or not at all, and requests as an execution would build them.

use std::sync::Arc;
use std::time::Duration;

use leasehold_models::{
    Dialect, Endpoint, HttpLimits, Message, Model, ModelAnswer, ModelError, ModelRequest, PastCall,
    Providers, ToolDefinitionRef,
};
use leasehold_types::{
    BoxFuture, Clock, Epoch, FencingToken, FrameIndex, OwnershipGuard, Permit, Signal, StepIntent,
    Timestamp, TreeId, Uptime,
};
use serde_json::{Value, json};

use crate::server::{Exchange, Server};

pub(crate) const KEY: &str = "sk-canary-7";

/// Waits of exactly this length end at once, all others never.
#[derive(Debug)]
pub(crate) struct TestClock(pub(crate) Option<Duration>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(784_111_777_000)
    }
    fn uptime(&self) -> Uptime {
        Uptime::default()
    }
    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        if self.0 == Some(after) {
            return Box::pin(std::future::ready(()));
        }
        Box::pin(std::future::pending())
    }
}

pub(crate) const LIMITS: HttpLimits = HttpLimits {
    connect: Duration::from_secs(10),
    headers: Duration::from_secs(3),
    idle: Duration::from_secs(1),
    body: Duration::from_secs(2),
    body_bytes_max: 4_096,
};

pub(crate) fn permit() -> Permit {
    let token = FencingToken {
        tree: TreeId::from_u128(1),
        epoch: Epoch::new(1),
    };
    let step = StepIntent {
        frame: FrameIndex::FIRST,
        needs: Duration::ZERO,
    };
    OwnershipGuard::claimed(token, FrameIndex::FIRST, None, Signal::root())
        .permit(Uptime::default(), step)
        .unwrap()
}

fn key_of_a_key(name: &str) -> Option<String> {
    (name == "A_KEY").then(|| KEY.to_owned())
}

/// Providers with one endpoint, `here`, at `base_url`.
pub(crate) fn providers(dialect: Dialect, base_url: &str, clock: TestClock) -> Providers {
    let endpoint = Endpoint::new("here", dialect, base_url).key_env("A_KEY");
    Providers::with_limits(Arc::new(clock), Arc::new(key_of_a_key), LIMITS)
        .unwrap()
        .endpoint(endpoint)
}

/// A model at `server` whose waits never end.
pub(crate) fn model(dialect: Dialect, server: &Server) -> Arc<dyn Model> {
    model_on(dialect, server, TestClock(None))
}

pub(crate) fn model_on(dialect: Dialect, server: &Server, clock: TestClock) -> Arc<dyn Model> {
    providers(dialect, &server.base_url(), clock)
        .open("here/m-1")
        .unwrap()
}

pub(crate) fn simple() -> ModelRequest {
    ModelRequest::new("Be brief.", vec![Message::user("hi")])
}

pub(crate) fn call(call_id: &str, provider_id: Option<&str>, arguments: &str) -> PastCall {
    PastCall {
        call_id: call_id.into(),
        provider_id: provider_id.map(Into::into),
        name: "add-tool".into(),
        arguments: arguments.into(),
    }
}

pub(crate) fn result(call_id: &str, text: &str, is_error: bool) -> Message {
    Message::ToolResult {
        call_id: call_id.into(),
        name: "add-tool".into(),
        text: text.into(),
        is_error,
    }
}

/// A conversation in its third turn: two calls without usable ids, their results, and a word of the person.
pub(crate) fn after_two_calls(echo: Option<Arc<str>>) -> ModelRequest {
    let calls = [
        call("t0c0", Some("call_0"), r#"{"b": 1, "a": 2}"#),
        call("t0c1", Some("call_0"), r#"{"a": "cu"#),
    ];
    let calls = Message::Assistant {
        text: "Adding.".into(),
        calls: calls.into(),
        echo,
    };
    let mut request = ModelRequest::new(
        "Be brief.",
        vec![
            Message::user("add"),
            calls,
            result("t0c0", "3", false),
            result("t0c1", "Tool error: invalid input", true),
            Message::user("and?"),
        ],
    );
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    request.tools = [ToolDefinitionRef::new(
        "add-tool",
        "Adds.",
        Arc::new(schema),
    )]
    .into();
    request.max_output_tokens = 77;
    request
}

/// Asks once while the server answers once; both sides' view.
pub(crate) async fn exchange(
    dialect: Dialect,
    request: &ModelRequest,
    answer: &[u8],
) -> (Result<ModelAnswer, ModelError>, Exchange) {
    let server = Server::start().await;
    let model = model(dialect, &server);
    let signal = Signal::root();
    let result = tokio::join!(
        model.chat(permit(), request, &signal),
        server.answer(answer)
    );
    assert!(server.is_quiet(), "one call, one request");
    result
}

/// What the model answered to `body`.
pub(crate) async fn answered(dialect: Dialect, body: &Value) -> ModelAnswer {
    let (answer, _) = exchange(dialect, &simple(), &crate::server::ok(body)).await;
    answer.unwrap()
}

/// Each call's id and arguments, as they came.
pub(crate) fn calls(answer: &ModelAnswer) -> Vec<(Option<&str>, &str)> {
    answer
        .calls
        .iter()
        .map(|call| (call.provider_id.as_deref(), &*call.arguments))
        .collect()
}
