//! Gemini's `generateContent`.

use leasehold_models::{Dialect, StopReason};
use leasehold_types::TokenUsage;
use serde_json::{Value, json};

use crate::server::{header, http, ok};
use crate::support::{KEY, after_two_calls, answered, calls, exchange, simple};

fn generated(parts: &Value, finish_reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": finish_reason}],
        "usageMetadata": {"promptTokenCount": 12, "cachedContentTokenCount": 4, "candidatesTokenCount": 5, "thoughtsTokenCount": 2},
    })
}

#[tokio::test]
async fn a_plain_answer_has_its_text_usage_and_stop_reason() {
    let parts = json!([{"text": "hm", "thought": true}, {"text": "Hel"}, {"text": "lo."}]);
    let body = ok(&generated(&parts, "STOP"));
    let (answer, seen) = exchange(Dialect::Gemini, &simple(), &body).await;
    let answer = answer.unwrap();
    assert_eq!(
        (&*answer.text, &answer.stop),
        ("Hello.", &StopReason::Finished)
    );
    let usage = TokenUsage {
        input: 12,
        output: 7,
        cached: 4,
    };
    assert_eq!((answer.usage, answer.echo), (Some(usage), None));
    assert!(
        seen.head
            .starts_with("POST /v1/models/m-1:generateContent HTTP/1.1"),
        "{}",
        seen.head
    );
    assert_eq!(header(&seen.head, "x-goog-api-key"), Some(KEY));
    assert_eq!(
        seen.body,
        json!({
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "generationConfig": {"maxOutputTokens": 4_096},
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
        })
    );
}

// CONTRACT A7
// CASE 97, 99
#[tokio::test]
async fn calls_pass_through_with_their_ids_and_arguments_byte_for_byte() {
    let raw = r#"{"candidates":[{"content":{"parts":[
        {"functionCall":{"id":"c","name":"add-tool","args":{"a": 1.50, "a":2}}},
        {"functionCall":{"id":"c","name":"add-tool","args":{}}},
        {"functionCall":{"name":"add-tool"}}
    ]},"finishReason":"MAX_TOKENS"}]}"#;
    let (answer, _) = exchange(Dialect::Gemini, &simple(), &http(200, &[], raw)).await;
    let answer = answer.unwrap();
    assert_eq!(
        calls(&answer),
        [
            (Some("c"), r#"{"a": 1.50, "a":2}"#),
            (Some("c"), "{}"),
            (None, "")
        ]
    );
    assert_eq!((answer.stop, answer.usage), (StopReason::Length, None));
}

// CONTRACT A5
// CASE 99, 100
#[tokio::test]
async fn the_next_request_has_the_results_in_one_turn_under_ids_of_their_own() {
    let body = ok(&generated(&json!([{"text": "3"}]), "STOP"));
    let (_, seen) = exchange(Dialect::Gemini, &after_two_calls(None), &body).await;
    let contents = seen.body["contents"].as_array().unwrap();
    let made = contents[1]["parts"][2]["functionCall"]["id"]
        .as_str()
        .unwrap();
    assert!(made.starts_with("call_") && made != "call_0", "{made}");
    let result = |id: &str, response: Value| json!({"functionResponse": {"id": id, "name": "add-tool", "response": response}});
    assert_eq!(
        contents[1..],
        [
            json!({"role": "model", "parts": [
                {"text": "Adding."},
                {"functionCall": {"id": "call_0", "name": "add-tool", "args": {"b": 1, "a": 2}}, "thoughtSignature": "skip_thought_signature_validator"},
                {"functionCall": {"id": made, "name": "add-tool", "args": {}}},
            ]}),
            json!({"role": "user", "parts": [
                result("call_0", json!({"output": "3"})),
                result(made, json!({"error": "Tool error: invalid input"})),
                {"text": "and?"},
            ]}),
        ]
    );
    assert_eq!(
        seen.body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"]["type"],
        "object"
    );
    assert_eq!(
        seen.body["toolConfig"]["functionCallingConfig"]["mode"],
        "AUTO"
    );
}

#[tokio::test]
async fn signatures_go_back_unchanged_and_where_they_stood() {
    let function_call = json!({"name": "add-tool", "args": {}});
    let parts = json!([
        {"text": "Adding."},
        {"functionCall": function_call, "thoughtSignature": "s1=="},
        {"functionCall": function_call},
        {"text": "", "thoughtSignature": "s2=="},
    ]);
    let answer = answered(Dialect::Gemini, &generated(&parts, "STOP")).await;
    assert_eq!(
        answer.stop,
        StopReason::ToolCalls,
        "it waits for results, whatever the word"
    );
    let body = ok(&generated(&json!([{"text": "3"}]), "STOP"));
    let (_, seen) = exchange(Dialect::Gemini, &after_two_calls(answer.echo), &body).await;
    let parts = &seen.body["contents"][1]["parts"];
    assert_eq!(parts[0], json!({"text": "Adding."}));
    assert_eq!(parts[1]["thoughtSignature"], "s1==");
    assert_eq!(parts[2]["thoughtSignature"], Value::Null);
    assert_eq!(parts[3], json!({"text": "", "thoughtSignature": "s2=="}));
}

#[tokio::test]
async fn blocked_prompts_and_filtered_answers_are_told_as_refused() {
    let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3}});
    let answer = answered(Dialect::Gemini, &blocked).await;
    assert_eq!((&*answer.text, answer.stop), ("", StopReason::Refused));
    assert_eq!(answer.usage.map(|usage| usage.input), Some(3));
    let filtered = json!({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]});
    assert_eq!(
        answered(Dialect::Gemini, &filtered).await.stop,
        StopReason::Refused
    );
}
