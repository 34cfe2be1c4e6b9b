//! A provider that bills each call before it answers, fails once, panics once, and answers by the conversation alone.

use std::sync::Arc;

use leasehold_models::{
    Message, Model, ModelAnswer, ModelError, ModelRequest, Price, Scripted, Turn,
};
use leasehold_types::{BoxFuture, Permit, Signal, TokenUsage};
use serde_json::json;

use crate::outside::Outside;
use crate::tools::{APPROVED, PLANNED, WRITES};

/// What the provider takes for a million tokens.
const PRICE: Price = Price::per_million(3_000_000, 300_000, 15_000_000);
/// What each call uses.
const USAGE: TokenUsage = TokenUsage {
    input: 200,
    output: 20,
    cached: 0,
};
/// The turn, counted from 0, whose first call fails.
const FAILS_ONCE: usize = 1;
/// The turn, counted from 0, whose first call panics.
const PANICS_ONCE: usize = 3;
/// Stands between the results in the last answer.
pub(crate) const BETWEEN: &str = " | ";

/// The provider.
#[derive(Debug)]
pub(crate) struct Provider {
    outside: Arc<Outside>,
    script: Scripted,
    fails: bool,
}

impl Provider {
    /// Plays the reference execution.
    pub(crate) fn reference(outside: &Arc<Outside>) -> Self {
        let script = Scripted::from_fn(reference).priced(Some(PRICE));
        Self {
            outside: Arc::clone(outside),
            script,
            fails: true,
        }
    }

    /// Calls the tool that kills the process.
    pub(crate) fn poison(outside: &Arc<Outside>) -> Self {
        let turns = [call("abort-tool"), say("Survived.")];
        let script = Scripted::new(turns).priced(Some(PRICE));
        Self {
            outside: Arc::clone(outside),
            script,
            fails: false,
        }
    }
}

impl Model for Provider {
    fn name(&self) -> &str {
        self.script.name()
    }

    fn price(&self) -> Option<Price> {
        self.script.price()
    }

    fn chat<'a>(
        &'a self,
        permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            let run = run_of(request);
            let turn = u32::try_from(request.turn() + 1).unwrap();
            let is_new = !self
                .outside
                .bills()
                .iter()
                .any(|bill| bill.run == run && bill.turn == turn);
            self.outside.bill(run, turn, PRICE.of(USAGE).micros());
            if self.fails && is_new && request.turn() == FAILS_ONCE {
                return Err(ModelError::Server { status: 503 });
            }
            assert!(
                !(self.fails && is_new && request.turn() == PANICS_ONCE),
                "{PLANNED}"
            );
            self.script.chat(permit, request, signal).await
        })
    }
}

/// The run's name is what the execution was asked.
fn run_of(request: &ModelRequest) -> &str {
    match request.messages.first() {
        Some(Message::User { text }) => text,
        _ => "nobody",
    }
}

fn call(tool: &'static str) -> Turn {
    Turn::call(tool, &json!({})).usage(Some(USAGE))
}

fn say(text: impl Into<Arc<str>>) -> Turn {
    Turn::say(text).usage(Some(USAGE))
}

fn reference(request: &ModelRequest) -> Turn {
    match request.turn() {
        0 => Turn::together([call("look-tool"), call("pay-tool"), call(WRITES)]).usage(Some(USAGE)),
        1 => call("flaky-tool"),
        2 => call(APPROVED),
        3 => Turn::together([call("slow-tool"), call("panic-tool")]).usage(Some(USAGE)),
        _ => say(results(request)),
    }
}

/// Everything the model has read, so that a step that ran twice shows in the answer.
fn results(request: &ModelRequest) -> String {
    let texts = request.messages.iter().filter_map(|message| match message {
        Message::ToolResult { text, .. } => Some(&**text),
        Message::User { .. } | Message::Assistant { .. } => None,
    });
    texts.collect::<Vec<_>>().join(BETWEEN)
}
