//! Numbers of a provider that cannot be true, and what is booked for them.

use leasehold_models::{Dialect, ModelSpend, Price, Reservation};
use leasehold_types::PriceSource;
use serde_json::{Value, json};

use crate::support::{answered, simple};

const PRICE: Price = Price::per_million(1_000_000, 100_000, 2_000_000);

async fn check(dialect: Dialect, body: &Value) {
    let answer = answered(dialect, body).await;
    assert_eq!((&*answer.text, answer.usage), ("hi", None), "{body}");
    let reservation = Reservation::of(&simple(), Some(PRICE));
    let spend = ModelSpend::settle(Some(PRICE), &answer, reservation);
    assert_eq!(
        Some(spend.money),
        reservation.money,
        "never less than was reserved: {body}"
    );
    assert_eq!(spend.source, PriceSource::Estimate);
}

// CONTRACT S1
// BAD INPUT 21
#[tokio::test]
async fn absurd_usage_neither_spoils_an_answer_nor_makes_it_cheap() {
    let absurd = [
        json!(-5),
        json!("5"),
        json!(1e18),
        json!(0),
        json!(2.5),
        json!({}),
        json!([1]),
    ];
    for number in absurd {
        let openai = json!({"prompt_tokens": number, "completion_tokens": 5});
        check(Dialect::OpenAi, &openai_body(&openai)).await;
        let anthropic = json!({"input_tokens": 9, "output_tokens": number});
        check(Dialect::Anthropic, &anthropic_body(&anthropic)).await;
        let gemini = json!({"promptTokenCount": number, "candidatesTokenCount": 5});
        check(Dialect::Gemini, &gemini_body(&gemini)).await;
    }
    for usage in [json!(null), json!("none"), json!([]), json!(7)] {
        check(Dialect::OpenAiCompatible, &openai_body(&usage)).await;
        check(Dialect::Anthropic, &anthropic_body(&usage)).await;
        check(Dialect::Gemini, &gemini_body(&usage)).await;
    }
}

fn openai_body(usage: &Value) -> Value {
    json!({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage})
}

fn anthropic_body(usage: &Value) -> Value {
    json!({"content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn", "usage": usage})
}

fn gemini_body(usage: &Value) -> Value {
    json!({"candidates": [{"content": {"parts": [{"text": "hi"}]}, "finishReason": "STOP"}], "usageMetadata": usage})
}
