//! Anthropic's messages, the answer. A call's input stays the text it was written as.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::numbers::{Counts, Told, lenient};
use super::{echo, finished, invalid};
use crate::{ModelAnswer, ModelCall, ModelError, ModelName, StopReason};

#[derive(Deserialize)]
struct Answered {
    content: Vec<Box<RawValue>>,
    stop_reason: Option<String>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
    id: Option<String>,
    name: Option<String>,
    input: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    input_tokens: Told,
    #[serde(default)]
    cache_creation_input_tokens: Told,
    #[serde(default)]
    cache_read_input_tokens: Told,
    #[serde(default)]
    output_tokens: Told,
}

/// Reads a successful answer.
pub(crate) fn read(name: &ModelName, body: &[u8]) -> Result<ModelAnswer, ModelError> {
    let answered: Answered = serde_json::from_slice(body).map_err(|error| invalid(&error))?;
    let usage: Option<Usage> = lenient(answered.usage.as_deref());
    let mut parts = Parts::default();
    for raw in answered.content {
        parts.add(&raw)?;
    }
    let has_output = !parts.order.is_empty();
    Ok(ModelAnswer {
        stop: stop(answered.stop_reason.as_deref(), &parts.calls),
        usage: usage.and_then(|usage| usage.read(has_output)),
        cost: None,
        echo: parts.echo(name),
        text: parts.text.into(),
        calls: parts.calls,
    })
}

/// An answer's blocks by kind, and the order they stood in, with everything that is neither text nor call kept whole.
#[derive(Default)]
struct Parts {
    text: String,
    calls: Vec<ModelCall>,
    order: Vec<Value>,
    has_others: bool,
}

impl Parts {
    fn add(&mut self, raw: &RawValue) -> Result<(), ModelError> {
        let block: Block = serde_json::from_str(raw.get()).map_err(|error| invalid(&error))?;
        match block.kind.as_str() {
            "text" => {
                self.text.push_str(&block.text.unwrap_or_default());
                self.order.push("text".into());
            }
            "tool_use" => {
                self.calls.push(ModelCall {
                    provider_id: block.id.map(Into::into),
                    name: block.name.unwrap_or_default().into(),
                    arguments: block
                        .input
                        .map_or_else(Arc::default, |input| input.get().into()),
                });
                self.order.push("call".into());
            }
            _ => {
                let whole = serde_json::from_str(raw.get()).map_err(|error| invalid(&error))?;
                self.order.push(whole);
                self.has_others = true;
            }
        }
        Ok(())
    }

    fn echo(&mut self, name: &ModelName) -> Option<Arc<str>> {
        let order = std::mem::take(&mut self.order);
        self.has_others
            .then(|| echo::keep(name.as_str(), Value::Array(order)))
    }
}

impl Usage {
    /// Here, what the cache held and what went into it are told apart from the input.
    fn read(self, has_output: bool) -> Option<leasehold_types::TokenUsage> {
        let counts = Counts {
            input: &[
                &self.input_tokens,
                &self.cache_creation_input_tokens,
                &self.cache_read_input_tokens,
            ],
            cached: &self.cache_read_input_tokens,
            output: &[&self.output_tokens],
        };
        counts.usage(has_output)
    }
}

fn stop(reason: Option<&str>, calls: &[ModelCall]) -> StopReason {
    match reason {
        Some("end_turn" | "stop_sequence") => finished(calls),
        Some("tool_use") => StopReason::ToolCalls,
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        Some("refusal") => StopReason::Refused,
        Some(word) => StopReason::other(word),
        None => StopReason::other("no reason given"),
    }
}
