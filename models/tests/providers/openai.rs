//! OpenAI's chat completions, own and compatible.

use leasehold_models::{Dialect, StopReason, ToolChoice};
use leasehold_types::{Money, TokenUsage};
use serde_json::{Value, json};

use crate::server::{header, http, ok};
use crate::support::{KEY, after_two_calls, answered, calls, exchange, simple};

fn completion(message: &Value, finish_reason: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "model": "m-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}},
    })
}

#[tokio::test]
async fn a_plain_answer_has_its_text_usage_and_stop_reason() {
    let body = completion(&json!({"role": "assistant", "content": "Hello."}), "stop");
    let (answer, seen) = exchange(Dialect::OpenAi, &simple(), &ok(&body)).await;
    let answer = answer.unwrap();
    assert_eq!(
        (&*answer.text, &answer.stop),
        ("Hello.", &StopReason::Finished)
    );
    let usage = TokenUsage {
        input: 12,
        output: 5,
        cached: 4,
    };
    assert_eq!((answer.usage, answer.cost), (Some(usage), None));
    assert!(
        seen.head.starts_with("POST /v1/chat/completions HTTP/1.1"),
        "{}",
        seen.head
    );
    assert_eq!(
        header(&seen.head, "authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
    assert_eq!(
        seen.body,
        json!({
            "model": "m-1",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
            "max_completion_tokens": 4_096,
        })
    );
}

// CONTRACT A7
// CASE 97, 99
#[tokio::test]
async fn calls_pass_through_with_their_ids_and_arguments_byte_for_byte() {
    let function = |arguments: &str| json!({"name": "add-tool", "arguments": arguments});
    let body = completion(
        &json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "call_0", "type": "function", "function": function("{\"a\": 1, \"a\": 2}")},
            {"id": "call_0", "type": "function", "function": function("")},
            {"id": "", "type": "function", "function": function("{\"a\": \"cu")},
            {"type": "function", "function": function(" null ")},
        ]}),
        "length",
    );
    let answer = answered(Dialect::OpenAiCompatible, &body).await;
    assert_eq!(
        calls(&answer),
        [
            (Some("call_0"), "{\"a\": 1, \"a\": 2}"),
            (Some("call_0"), ""),
            (Some(""), "{\"a\": \"cu"),
            (None, " null "),
        ]
    );
    assert_eq!(
        answer.stop,
        StopReason::Length,
        "the cut is told, not repaired"
    );
}

// CASE 97
#[tokio::test]
async fn a_router_that_says_tool_calls_for_a_cut_answer_is_passed_on_unrepaired() {
    let cut = json!({"name": "add-tool", "arguments": "{\"a\": 1"});
    let body = completion(
        &json!({"tool_calls": [{"id": "c", "function": cut}]}),
        "tool_calls",
    );
    let answer = answered(Dialect::OpenAiCompatible, &body).await;
    assert_eq!(calls(&answer), [(Some("c"), "{\"a\": 1")]);
    assert_eq!(answer.stop, StopReason::ToolCalls);
}

#[tokio::test]
async fn arguments_that_are_no_text_stay_as_they_were_written() {
    let raw = r#"{"choices":[{"message":{"tool_calls":[
        {"function":{"name":"add-tool","arguments":{"a":1e400, "a": 2}}},
        {"function":{"name":null}}
    ]},"finish_reason":"stop"}]}"#;
    let (answer, _) = exchange(Dialect::OpenAiCompatible, &simple(), &http(200, &[], raw)).await;
    let answer = answer.unwrap();
    assert_eq!(
        calls(&answer),
        [(None, r#"{"a":1e400, "a": 2}"#), (None, "")]
    );
    assert_eq!(
        answer.stop,
        StopReason::ToolCalls,
        "it waits for results, whatever the word"
    );
    assert_eq!(answer.usage, None);
}

// CONTRACT A5
// CASE 99, 100
#[tokio::test]
async fn the_next_request_has_one_result_for_each_call_under_an_id_of_its_own() {
    let mut request = after_two_calls(None);
    request.tool_choice = ToolChoice::None;
    let body = completion(&json!({"content": "3"}), "stop");
    let (_, seen) = exchange(Dialect::OpenAiCompatible, &request, &ok(&body)).await;
    let messages = seen.body["messages"].as_array().unwrap();
    let made = messages[2]["tool_calls"][1]["id"].as_str().unwrap();
    assert!(made.starts_with("call_") && made != "call_0", "{made}");
    let function = |arguments: &str| json!({"name": "add-tool", "arguments": arguments});
    assert_eq!(
        messages[2..],
        [
            json!({"role": "assistant", "content": "Adding.", "tool_calls": [
                {"id": "call_0", "type": "function", "function": function("{\"b\": 1, \"a\": 2}")},
                {"id": made, "type": "function", "function": function("{}")},
            ]}),
            json!({"role": "tool", "tool_call_id": "call_0", "content": "3"}),
            json!({"role": "tool", "tool_call_id": made, "content": "Tool error: invalid input"}),
            json!({"role": "user", "content": "and?"}),
        ]
    );
    assert_eq!(seen.body["tools"][0]["function"]["name"], "add-tool");
    assert_eq!(
        (&seen.body["tool_choice"], &seen.body["max_tokens"]),
        (&json!("none"), &json!(77))
    );
}

#[tokio::test]
async fn reasoning_of_a_tool_loop_goes_back_unchanged() {
    let details = json!([{"type": "reasoning.encrypted", "data": "x1", "index": 0}]);
    let said = json!({"content": null, "reasoning_content": "hm", "reasoning_details": details,
        "tool_calls": [{"id": "c", "function": {"name": "add-tool", "arguments": "{}"}}]});
    let answer = answered(Dialect::OpenAiCompatible, &completion(&said, "tool_calls")).await;
    let body = completion(&json!({"content": "3"}), "stop");
    let request = after_two_calls(answer.echo);
    let (_, seen) = exchange(Dialect::OpenAiCompatible, &request, &ok(&body)).await;
    let message = &seen.body["messages"][2];
    assert_eq!(
        (&message["reasoning_content"], &message["reasoning_details"]),
        (&json!("hm"), &details)
    );
}

#[tokio::test]
async fn a_refusal_and_a_filter_are_told_as_refused() {
    let refusal = completion(&json!({"content": null, "refusal": "I can't."}), "stop");
    let answer = answered(Dialect::OpenAi, &refusal).await;
    assert_eq!(
        (&*answer.text, answer.stop),
        ("I can't.", StopReason::Refused)
    );
    let filtered = completion(&json!({"content": ""}), "content_filter");
    assert_eq!(
        answered(Dialect::OpenAi, &filtered).await.stop,
        StopReason::Refused
    );
}

#[tokio::test]
async fn text_in_parts_and_foreign_stop_words_are_read() {
    let parts =
        json!([{"type": "text", "text": "a"}, {"type": "thinking"}, {"type": "text", "text": "b"}]);
    let answer = answered(
        Dialect::OpenAiCompatible,
        &completion(&json!({"content": parts}), "eos"),
    )
    .await;
    assert_eq!(
        (&*answer.text, answer.stop),
        ("ab", StopReason::other("eos"))
    );
}

// CONTRACT S1
#[tokio::test]
async fn the_providers_own_figure_of_the_cost_is_kept() {
    let mut body = completion(&json!({"content": "hi"}), "stop");
    body["usage"]["cost"] = json!(0.001_234_5);
    let answer = answered(Dialect::OpenAiCompatible, &body).await;
    assert_eq!(answer.cost, Some(Money::from_micros(1_235)));
}
