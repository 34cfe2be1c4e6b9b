//! Anthropic's messages.

use leasehold_models::{Dialect, Message, ModelRequest, StopReason};
use leasehold_types::TokenUsage;
use serde_json::{Value, json};

use crate::server::{header, http, ok};
use crate::support::{KEY, after_two_calls, answered, calls, exchange, simple};

fn message(content: &Value, stop_reason: &str) -> Value {
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m-1",
        "content": content, "stop_reason": stop_reason,
        "usage": {"input_tokens": 8, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 1, "output_tokens": 5},
    })
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[tokio::test]
async fn a_plain_answer_has_its_text_usage_and_stop_reason() {
    let body = message(&json!([text("Hel"), text("lo.")]), "end_turn");
    let (answer, seen) = exchange(Dialect::Anthropic, &simple(), &ok(&body)).await;
    let answer = answer.unwrap();
    assert_eq!(
        (&*answer.text, &answer.stop),
        ("Hello.", &StopReason::Finished)
    );
    let usage = TokenUsage {
        input: 13,
        output: 5,
        cached: 4,
    };
    assert_eq!((answer.usage, answer.echo), (Some(usage), None));
    assert!(
        seen.head.starts_with("POST /v1/messages HTTP/1.1"),
        "{}",
        seen.head
    );
    assert_eq!(header(&seen.head, "x-api-key"), Some(KEY));
    assert_eq!(header(&seen.head, "anthropic-version"), Some("2023-06-01"));
    assert_eq!(header(&seen.head, "authorization"), None);
    assert_eq!(
        seen.body,
        json!({"model": "m-1", "max_tokens": 4_096, "system": "Be brief.",
            "messages": [{"role": "user", "content": [text("hi")]}]})
    );
}

// CONTRACT A7
// CASE 97, 99
#[tokio::test]
async fn calls_pass_through_with_their_ids_and_input_byte_for_byte() {
    let raw = r#"{"content":[
        {"type":"tool_use","id":"toolu_1","name":"add-tool","input":{"a": 1.50, "a":2}},
        {"type":"tool_use","id":"toolu_1","name":"add-tool","input":{}},
        {"type":"tool_use","id":"","name":"add-tool"},
        {"type":"tool_use","name":"add-tool","input":[ ]}
    ],"stop_reason":"max_tokens"}"#;
    let (answer, _) = exchange(Dialect::Anthropic, &simple(), &http(200, &[], raw)).await;
    let answer = answer.unwrap();
    assert_eq!(
        calls(&answer),
        [
            (Some("toolu_1"), r#"{"a": 1.50, "a":2}"#),
            (Some("toolu_1"), "{}"),
            (Some(""), ""),
            (None, "[ ]"),
        ]
    );
    assert_eq!((answer.stop, answer.usage), (StopReason::Length, None));
}

// CONTRACT A5
// CASE 99, 100
#[tokio::test]
async fn the_next_request_has_the_results_first_in_one_turn_under_ids_of_their_own() {
    let body = message(&json!([text("3")]), "end_turn");
    let (_, seen) = exchange(Dialect::Anthropic, &after_two_calls(None), &ok(&body)).await;
    let messages = seen.body["messages"].as_array().unwrap();
    let made = messages[1]["content"][2]["id"].as_str().unwrap();
    assert!(made.starts_with("call_") && made != "call_0", "{made}");
    let tool_use = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "add-tool", "input": input});
    let tool_result = |id: &str, text: &str, is_error: bool| json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
    assert_eq!(
        messages[1..],
        [
            json!({"role": "assistant", "content": [
                text("Adding."),
                tool_use("call_0", json!({"b": 1, "a": 2})),
                tool_use(made, json!({})),
            ]}),
            json!({"role": "user", "content": [
                tool_result("call_0", "3", false),
                tool_result(made, "Tool error: invalid input", true),
                text("and?"),
            ]}),
        ]
    );
    assert_eq!(seen.body["tools"][0]["input_schema"]["type"], "object");
    assert_eq!(seen.body["tool_choice"], json!({"type": "auto"}));
}

#[tokio::test]
async fn thinking_goes_back_unchanged_and_where_it_stood() {
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "s=="});
    let redacted = json!({"type": "redacted_thinking", "data": "x"});
    let tool_use =
        |id: &str| json!({"type": "tool_use", "id": id, "name": "add-tool", "input": {}});
    let content = json!([
        thinking,
        text("Adding."),
        redacted,
        tool_use("a"),
        tool_use("b")
    ]);
    let answer = answered(Dialect::Anthropic, &message(&content, "tool_use")).await;
    let body = message(&json!([text("3")]), "end_turn");
    let request = after_two_calls(answer.echo);
    let (_, seen) = exchange(Dialect::Anthropic, &request, &ok(&body)).await;
    let kinds: Vec<_> = seen.body["messages"][1]["content"]
        .as_array()
        .unwrap()
        .iter()
        .map(|block| block["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "thinking",
            "text",
            "redacted_thinking",
            "tool_use",
            "tool_use"
        ]
    );
    assert_eq!(seen.body["messages"][1]["content"][0], thinking);
    assert_eq!(seen.body["messages"][1]["content"][2], redacted);
}

#[tokio::test]
async fn an_answer_that_said_nothing_leaves_no_empty_turn() {
    let conversation = vec![
        Message::user("a"),
        Message::assistant(" "),
        Message::user("b"),
    ];
    let request = ModelRequest::new("", conversation);
    let body = message(&json!([text("3")]), "end_turn");
    let (_, seen) = exchange(Dialect::Anthropic, &request, &ok(&body)).await;
    let turns = json!([{"role": "user", "content": [text("a"), text("b")]}]);
    assert_eq!(seen.body["messages"], turns);
}

#[tokio::test]
async fn the_providers_words_for_stopping_are_read() {
    for (word, stop) in [
        ("stop_sequence", StopReason::Finished),
        ("model_context_window_exceeded", StopReason::Length),
        ("refusal", StopReason::Refused),
        ("pause_turn", StopReason::other("pause_turn")),
    ] {
        let answer = answered(Dialect::Anthropic, &message(&json!([text("a")]), word)).await;
        assert_eq!(answer.stop, stop, "{word}");
    }
}
