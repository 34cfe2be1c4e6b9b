//! OpenAI's chat completions, the request: also what Ollama, vLLM, OpenRouter and others take.
//!
//! Source: <https://platform.openai.com/docs/api-reference/chat/create>.

use serde_json::{Map, Value, json};

use super::{Dialect, arguments, echo, wire_ids};
use crate::{Message, ModelName, ModelRequest, PastCall, ToolChoice, ToolDefinitionRef};

/// The body of a request.
pub(crate) fn body(name: &ModelName, dialect: Dialect, request: &ModelRequest) -> Value {
    let mut body = json!({"model": name.model(), "messages": messages(name, request)});
    body[limit_field(dialect)] = request.max_output_tokens.into();
    if !request.tools.is_empty() {
        body["tools"] = request.tools.iter().map(tool).collect();
        body["tool_choice"] = match request.tool_choice {
            ToolChoice::Auto => "auto",
            ToolChoice::None => "none",
        }
        .into();
    }
    body
}

/// OpenAI's reasoning models refuse the old field; most others know nothing but it.
const fn limit_field(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::OpenAi => "max_completion_tokens",
        Dialect::OpenAiCompatible | Dialect::Anthropic | Dialect::Gemini => "max_tokens",
    }
}

fn tool(tool: &ToolDefinitionRef) -> Value {
    json!({"type": "function", "function": {
        "name": tool.name(),
        "description": tool.description(),
        "parameters": **tool.input_schema(),
    }})
}

fn messages(name: &ModelName, request: &ModelRequest) -> Vec<Value> {
    let ids = wire_ids::of(&request.messages);
    let (mut call_ids, mut result_ids) = (ids.iter(), ids.iter());
    let mut messages = Vec::with_capacity(request.messages.len() + 1);
    if !request.instructions.is_empty() {
        messages.push(json!({"role": "system", "content": *request.instructions}));
    }
    for message in request.messages.iter() {
        messages.push(match message {
            Message::User { text } => json!({"role": "user", "content": **text}),
            Message::Assistant { text, calls, echo } => {
                let ids = call_ids.by_ref().take(calls.len());
                assistant(name, text, calls.iter().zip(ids), echo.as_deref())
            }
            Message::ToolResult { text, .. } => {
                json!({"role": "tool", "tool_call_id": result_ids.next(), "content": **text})
            }
        });
    }
    messages
}

fn assistant<'a>(
    name: &ModelName,
    text: &str,
    calls: impl Iterator<Item = (&'a PastCall, &'a String)>,
    told: Option<&str>,
) -> Value {
    let calls: Vec<Value> = calls
        .map(|(call, id)| {
            json!({"id": id, "type": "function", "function": {
                "name": *call.name,
                "arguments": arguments::text(&call.arguments),
            }})
        })
        .collect();
    if calls.is_empty() {
        return json!({"role": "assistant", "content": text});
    }
    let content = (!text.is_empty()).then_some(text);
    let mut message = json!({"role": "assistant", "content": content, "tool_calls": calls});
    if let Some(Value::Object(reasoning)) = echo::of(name.as_str(), told) {
        add_reasoning(&mut message, reasoning);
    }
    message
}

fn add_reasoning(message: &mut Value, reasoning: Map<String, Value>) {
    if let Value::Object(fields) = message {
        fields.extend(reasoning);
    }
}
