//! OpenAI's chat completions, the answer. Arguments stay the text they came as.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::numbers::{Counts, Told, lenient};
use super::{echo, finished, invalid};
use crate::{ModelAnswer, ModelCall, ModelError, ModelName, StopReason};

#[derive(Deserialize)]
struct Completion {
    #[serde(default)]
    choices: Vec<Choice>,
    usage: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Choice {
    message: Said,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    content: Option<Value>,
    refusal: Option<String>,
    tool_calls: Option<Vec<Called>>,
    reasoning_content: Option<Value>,
    reasoning_details: Option<Value>,
}

#[derive(Deserialize)]
struct Called {
    id: Option<String>,
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Told,
    #[serde(default)]
    completion_tokens: Told,
    prompt_tokens_details: Option<Box<RawValue>>,
    #[serde(default)]
    cost: Told,
}

#[derive(Default, Deserialize)]
struct Details {
    #[serde(default)]
    cached_tokens: Told,
}

/// Reads a successful answer.
pub(crate) fn read(name: &ModelName, body: &[u8]) -> Result<ModelAnswer, ModelError> {
    let completion: Completion = serde_json::from_slice(body).map_err(|error| invalid(&error))?;
    let usage: Option<Usage> = lenient(completion.usage.as_deref());
    let choice = completion.choices.into_iter().next();
    let Choice {
        message,
        finish_reason,
    } = choice.ok_or_else(|| ModelError::InvalidAnswer {
        detail: "it has no choices".to_owned(),
    })?;
    let echo = reasoning(name, &message);
    let refused = message.refusal.filter(|refusal| !refusal.is_empty());
    let text = text(message.content.as_ref());
    let calls = calls(message.tool_calls.unwrap_or_default());
    let stop = stop(finish_reason.as_deref(), refused.is_some(), &calls);
    let has_output = !text.is_empty() || !calls.is_empty();
    Ok(ModelAnswer {
        cost: usage.as_ref().and_then(|usage| usage.cost.dollars()),
        usage: usage.and_then(|usage| usage.read(has_output)),
        text: refused.filter(|_| text.is_empty()).unwrap_or(text).into(),
        calls,
        echo,
        stop,
    })
}

impl Usage {
    fn read(self, has_output: bool) -> Option<leasehold_types::TokenUsage> {
        let details: Details = lenient(self.prompt_tokens_details.as_deref()).unwrap_or_default();
        let counts = Counts {
            input: &[&self.prompt_tokens],
            cached: &details.cached_tokens,
            output: &[&self.completion_tokens],
        };
        counts.usage(has_output)
    }
}

/// The text, from a string or from parts with texts, as some write it.
fn text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts
            .iter()
            .filter_map(|part| part.get("text")?.as_str())
            .collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            String::new()
        }
    }
}

fn calls(called: Vec<Called>) -> Vec<ModelCall> {
    called
        .into_iter()
        .map(|called| ModelCall {
            provider_id: called.id.map(Into::into),
            name: called.function.name.unwrap_or_default().into(),
            arguments: raw_arguments(called.function.arguments.as_deref()),
        })
        .collect()
}

/// The text inside the JSON string; what is no string, as some send it, stays as it was written.
fn raw_arguments(arguments: Option<&RawValue>) -> Arc<str> {
    let Some(raw) = arguments.map(RawValue::get) else {
        return Arc::default();
    };
    serde_json::from_str::<String>(raw).map_or_else(|_| raw.into(), Into::into)
}

fn stop(reason: Option<&str>, refused: bool, calls: &[ModelCall]) -> StopReason {
    match reason {
        _ if refused => StopReason::Refused,
        Some("stop") => finished(calls),
        Some("tool_calls" | "function_call") => StopReason::ToolCalls,
        Some("length" | "max_tokens") => StopReason::Length,
        Some("content_filter") => StopReason::Refused,
        Some(word) => StopReason::other(word),
        None => StopReason::other("no reason given"),
    }
}

/// Reasoning that belongs to a tool loop: some refuse the next request without it. Not needed after an answer without calls.
fn reasoning(name: &ModelName, said: &Said) -> Option<Arc<str>> {
    said.tool_calls.as_ref().filter(|calls| !calls.is_empty())?;
    let fields = [
        ("reasoning_content", &said.reasoning_content),
        ("reasoning_details", &said.reasoning_details),
    ];
    let told: Map<String, Value> = fields
        .into_iter()
        .filter_map(|(field, value)| Some((field.to_owned(), value.clone()?)))
        .collect();
    (!told.is_empty()).then(|| echo::keep(name.as_str(), Value::Object(told)))
}
