//! Anthropic's messages, the request.
//!
//! It takes alternating turns only, the results of calls first in theirs, no empty text, and its own thinking back unchanged.
//!
//! Source: <https://platform.claude.com/docs/en/api/messages>.

use serde_json::{Value, json};

use super::{arguments, echo, wire_ids};
use crate::{Message, ModelName, ModelRequest, PastCall, ToolChoice, ToolDefinitionRef};

/// The version of the protocol, a header of each request.
pub(crate) const VERSION: &str = "2023-06-01";

/// The body of a request.
pub(crate) fn body(name: &ModelName, request: &ModelRequest) -> Value {
    let mut body = json!({
        "model": name.model(),
        "max_tokens": request.max_output_tokens,
        "messages": messages(name, request),
    });
    if !request.instructions.is_empty() {
        body["system"] = (*request.instructions).into();
    }
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        let choice = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
        };
        body["tool_choice"] = json!({"type": choice});
    }
    body
}

fn tool(tool: &ToolDefinitionRef) -> Value {
    json!({
        "name": tool.name(),
        "description": tool.description(),
        "input_schema": **tool.input_schema(),
    })
}

/// The turns: neighbours of one role become one turn. Results follow their calls at once, so they come first in it.
fn messages(name: &ModelName, request: &ModelRequest) -> Vec<Value> {
    let ids = wire_ids::of(&request.messages);
    let (mut call_ids, mut result_ids) = (ids.iter(), ids.iter());
    let mut turns = Turns::default();
    for message in request.messages.iter() {
        match message {
            Message::User { text } => turns.add("user", text_block(text)),
            Message::Assistant { text, calls, echo } => {
                let ids = call_ids.by_ref().take(calls.len());
                let calls = calls.iter().zip(ids).map(|(call, id)| tool_use(call, id));
                let order = echo::of(name.as_str(), echo.as_deref());
                turns.add("assistant", assistant(text, calls, order));
            }
            Message::ToolResult { text, is_error, .. } => turns.add(
                "user",
                Some(json!({
                    "type": "tool_result",
                    "tool_use_id": result_ids.next(),
                    "content": **text,
                    "is_error": is_error,
                })),
            ),
        }
    }
    turns.0
}

#[derive(Default)]
struct Turns(Vec<Value>);

impl Turns {
    fn add(&mut self, role: &str, blocks: impl IntoIterator<Item = Value>) {
        let mut blocks: Vec<Value> = blocks.into_iter().collect();
        if blocks.is_empty() {
            return;
        }
        match self.0.last_mut() {
            Some(turn) if turn["role"] == role => {
                if let Value::Array(content) = &mut turn["content"] {
                    content.append(&mut blocks);
                }
            }
            Some(_) | None => self.0.push(json!({"role": role, "content": blocks})),
        }
    }
}

fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}

fn tool_use(call: &PastCall, id: &str) -> Value {
    let input = arguments::object(&call.arguments);
    json!({"type": "tool_use", "id": id, "name": *call.name, "input": input})
}

/// The answer's blocks: its thinking where it stood, if it is there, else the text and the calls.
fn assistant(text: &str, calls: impl Iterator<Item = Value>, order: Option<Value>) -> Vec<Value> {
    let (mut text, mut calls) = (text_block(text), calls);
    let mut blocks = Vec::new();
    if let Some(Value::Array(order)) = order {
        for place in order {
            match place.as_str() {
                Some("text") => blocks.extend(text.take()),
                Some("call") => blocks.extend(calls.next()),
                Some(_) => {}
                None => blocks.push(place),
            }
        }
    }
    blocks.extend(text);
    blocks.extend(calls);
    blocks
}
