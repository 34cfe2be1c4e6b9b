//! Gemini's `generateContent`, the answer. A call's arguments stay the text they were written as.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::numbers::{Counts, Told, lenient};
use super::{echo, finished, invalid};
use crate::{ModelAnswer, ModelCall, ModelError, ModelName, StopReason};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Generated {
    #[serde(default)]
    candidates: Vec<Candidate>,
    usage_metadata: Option<Box<RawValue>>,
    prompt_feedback: Option<Feedback>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    #[serde(default)]
    thought: bool,
    thought_signature: Option<String>,
    function_call: Option<Called>,
}

#[derive(Deserialize)]
struct Called {
    id: Option<String>,
    name: Option<String>,
    args: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    #[serde(default)]
    prompt_token_count: Told,
    #[serde(default)]
    tool_use_prompt_token_count: Told,
    #[serde(default)]
    cached_content_token_count: Told,
    #[serde(default)]
    candidates_token_count: Told,
    #[serde(default)]
    thoughts_token_count: Told,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

/// Reads a successful answer.
pub(crate) fn read(name: &ModelName, body: &[u8]) -> Result<ModelAnswer, ModelError> {
    let generated: Generated = serde_json::from_slice(body).map_err(|error| invalid(&error))?;
    let usage: Option<Usage> = lenient(generated.usage_metadata.as_deref());
    let blocked = generated
        .prompt_feedback
        .is_some_and(|feedback| feedback.block_reason.is_some());
    let candidate = generated.candidates.into_iter().next();
    if candidate.is_none() && !blocked {
        return Err(ModelError::InvalidAnswer {
            detail: "it has no candidates".to_owned(),
        });
    }
    let candidate = candidate.unwrap_or_default();
    let mut parts = Parts::default();
    for part in candidate
        .content
        .into_iter()
        .flat_map(|content| content.parts)
    {
        parts.add(part);
    }
    let has_output = !parts.text.is_empty() || !parts.calls.is_empty();
    Ok(ModelAnswer {
        stop: stop(candidate.finish_reason.as_deref(), blocked, &parts.calls),
        usage: usage.and_then(|usage| usage.read(has_output)),
        cost: None,
        echo: parts.echo(name),
        text: parts.text.into(),
        calls: parts.calls,
    })
}

/// An answer's parts by kind, and their order with the signatures they came with.
#[derive(Default)]
struct Parts {
    text: String,
    calls: Vec<ModelCall>,
    order: Vec<Value>,
    has_signature: bool,
}

impl Parts {
    fn add(&mut self, part: Part) {
        if part.thought {
            return;
        }
        let kind = if let Some(called) = part.function_call {
            self.calls.push(ModelCall {
                provider_id: called.id.map(Into::into),
                name: called.name.unwrap_or_default().into(),
                arguments: called
                    .args
                    .map_or_else(Arc::default, |args| args.get().into()),
            });
            "call"
        } else {
            self.text.push_str(&part.text.unwrap_or_default());
            "text"
        };
        self.has_signature |= part.thought_signature.is_some();
        self.order
            .push(json!({"part": kind, "signature": part.thought_signature}));
    }

    fn echo(&mut self, name: &ModelName) -> Option<Arc<str>> {
        let order = std::mem::take(&mut self.order);
        self.has_signature
            .then(|| echo::keep(name.as_str(), Value::Array(order)))
    }
}

impl Usage {
    /// Here, the cached input is part of the input, and thinking is told apart from the output.
    fn read(self, has_output: bool) -> Option<leasehold_types::TokenUsage> {
        let counts = Counts {
            input: &[&self.prompt_token_count, &self.tool_use_prompt_token_count],
            cached: &self.cached_content_token_count,
            output: &[&self.candidates_token_count, &self.thoughts_token_count],
        };
        counts.usage(has_output)
    }
}

fn stop(reason: Option<&str>, blocked: bool, calls: &[ModelCall]) -> StopReason {
    match reason {
        _ if blocked => StopReason::Refused,
        Some("STOP") => finished(calls),
        Some("MAX_TOKENS") => StopReason::Length,
        Some("SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII") => {
            StopReason::Refused
        }
        Some(word) => StopReason::other(word),
        None => StopReason::other("no reason given"),
    }
}
