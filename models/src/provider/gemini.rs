//! Gemini's `generateContent`, the request.
//!
//! Source: <https://ai.google.dev/api/generate-content> and <https://ai.google.dev/gemini-api/docs/thought-signatures>.

use serde_json::{Value, json};

use super::{arguments, echo, wire_ids};
use crate::{Message, ModelName, ModelRequest, PastCall, ToolChoice, ToolDefinitionRef};

/// Stands in for a signature that the model never gave, as for calls of another model's turns; documented for Gemini 3 and later.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// The body of a request.
pub(crate) fn body(name: &ModelName, request: &ModelRequest) -> Value {
    let mut body = json!({
        "contents": contents(name, request),
        "generationConfig": {"maxOutputTokens": request.max_output_tokens},
    });
    if !request.instructions.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": *request.instructions}]});
    }
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        body["tools"] = json!([{"functionDeclarations": tools}]);
        let mode = match request.tool_choice {
            ToolChoice::Auto => "AUTO",
            ToolChoice::None => "NONE",
        };
        body["toolConfig"] = json!({"functionCallingConfig": {"mode": mode}});
    }
    body
}

fn tool(tool: &ToolDefinitionRef) -> Value {
    json!({
        "name": tool.name(),
        "description": tool.description(),
        "parametersJsonSchema": **tool.input_schema(),
    })
}

/// The turns: neighbours of one role become one turn, so all results of an answer stand in one.
fn contents(name: &ModelName, request: &ModelRequest) -> Vec<Value> {
    let ids = wire_ids::of(&request.messages);
    let (mut call_ids, mut result_ids) = (ids.iter(), ids.iter());
    let mut turns: Vec<Value> = Vec::new();
    for message in request.messages.iter() {
        let (role, parts) = match message {
            Message::User { text } => ("user", text_part(text)),
            Message::Assistant { text, calls, echo } => {
                let ids = call_ids.by_ref().take(calls.len());
                let calls: Vec<Value> = calls.iter().zip(ids).map(function_call).collect();
                let order = echo::of(name.as_str(), echo.as_deref());
                ("model", answer(name, text, calls, order))
            }
            Message::ToolResult {
                name,
                text,
                is_error,
                ..
            } => {
                let field = if *is_error { "error" } else { "output" };
                let result = json!({"functionResponse": {
                    "id": result_ids.next(),
                    "name": **name,
                    "response": {field: **text},
                }});
                ("user", vec![result])
            }
        };
        add(&mut turns, role, parts);
    }
    turns
}

fn add(turns: &mut Vec<Value>, role: &str, mut parts: Vec<Value>) {
    match turns.last_mut() {
        _ if parts.is_empty() => {}
        Some(turn) if turn["role"] == role => {
            if let Value::Array(earlier) = &mut turn["parts"] {
                earlier.append(&mut parts);
            }
        }
        Some(_) | None => turns.push(json!({"role": role, "parts": parts})),
    }
}

fn text_part(text: &str) -> Vec<Value> {
    if text.is_empty() {
        return vec![];
    }
    vec![json!({"text": text})]
}

fn function_call((call, id): (&PastCall, &String)) -> Value {
    let args = arguments::object(&call.arguments);
    json!({"functionCall": {"id": id, "name": *call.name, "args": args}})
}

/// The answer's parts, each with the signature it came with.
fn answer(name: &ModelName, text: &str, calls: Vec<Value>, order: Option<Value>) -> Vec<Value> {
    let Some(Value::Array(order)) = order else {
        return unsigned(name, text, calls);
    };
    let (mut text, mut calls) = (Some(text), calls.into_iter());
    let mut parts = Vec::new();
    for place in order {
        let signature = &place["signature"];
        let part = match place["part"].as_str() {
            Some("call") => calls.next(),
            Some("text") => {
                let text = text.take().unwrap_or_default();
                (!text.is_empty() || signature.is_string()).then(|| json!({"text": text}))
            }
            Some(_) | None => None,
        };
        parts.extend(part.map(|part| signed(part, signature)));
    }
    parts.extend(calls);
    parts
}

fn unsigned(name: &ModelName, text: &str, mut calls: Vec<Value>) -> Vec<Value> {
    let checks = !name.model().starts_with("gemini-1") && !name.model().starts_with("gemini-2");
    if let Some(first) = calls.first_mut().filter(|_| checks) {
        first["thoughtSignature"] = NO_SIGNATURE.into();
    }
    let mut parts = text_part(text);
    parts.append(&mut calls);
    parts
}

fn signed(mut part: Value, signature: &Value) -> Value {
    if signature.is_string() {
        part["thoughtSignature"] = signature.clone();
    }
    part
}
