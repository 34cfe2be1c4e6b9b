//! The demonstration's model: a few rules in place of a model, so that no key and no network is needed.
//!
//! It reads what the tools returned, as a model would, and keeps nothing: the same conversation gets the same answer after a restart.

use leasehold_models::{Message, ModelRequest, Price, Scripted, Turn};
use leasehold_types::TokenUsage;
use serde_json::{Value, json};

/// The name it goes by.
pub(crate) const NAME: &str = "scripted/desk";

/// A model that handles the ticket its request names.
#[must_use]
pub(crate) fn model() -> Scripted {
    let price = Price::per_million(1_000_000, 100_000, 5_000_000);
    Scripted::from_fn(answer).named(NAME).priced(Some(price))
}

fn answer(request: &ModelRequest) -> Turn {
    turn(request).usage(Some(usage(request)))
}

/// Tokens as a real model would count them, about four bytes each.
fn usage(request: &ModelRequest) -> TokenUsage {
    let bytes: u64 = request.messages.iter().map(Message::bytes).sum();
    TokenUsage {
        input: 400 + bytes / 4,
        output: 60,
        cached: 0,
    }
}

fn turn(request: &ModelRequest) -> Turn {
    let asked = match request.messages.first() {
        Some(Message::User { text }) => text.to_string(),
        _ => String::new(),
    };
    let Some(ticket) = number(&asked, "T-") else {
        return Turn::say(
            "I am a script and only know tickets. Name one, like T-7, or ask a model: --model anthropic/claude-sonnet-5",
        );
    };
    let result = |tool: &str| result_of(request, tool);
    let Some(read) = result("read-ticket-tool") else {
        return Turn::call("read-ticket-tool", &json!({"ticket": ticket}))
            .saying(format!("I will look at ticket {ticket}."));
    };
    let Some(order) = number(read["text"].as_str().unwrap_or_default(), "A-") else {
        return Turn::say(format!(
            "Ticket {ticket} names no order, so there is nothing I can refund."
        ));
    };
    let Some(found) = result("find-order-tool") else {
        let look = [
            Turn::call("find-order-tool", &json!({"order": order})),
            Turn::call("refund-policy-tool", &json!({})),
        ];
        return Turn::together(look).saying(format!(
            "It is about order {order}. I need the order and our policy."
        ));
    };
    if !read["text"]
        .as_str()
        .unwrap_or_default()
        .contains("money back")
    {
        return Turn::say(format!(
            "Ticket {ticket} does not ask for a refund; a person should answer it."
        ));
    }
    let cents = found["cents"].as_u64().unwrap_or(0);
    let Some(paid) = result("refund-card-tool") else {
        return Turn::call("refund-card-tool", &json!({"order": order, "cents": cents}))
            .saying("Damaged goods are refunded in full.");
    };
    let Some(receipt) = paid["receipt"].as_str() else {
        return Turn::say(format!("The refund of {order} was not made."));
    };
    if result("close-ticket-tool").is_none() {
        let text = format!(
            "We refunded {} to your card, receipt {receipt}. Sorry for the trouble.",
            dollars(cents)
        );
        return Turn::call(
            "close-ticket-tool",
            &json!({"ticket": ticket, "text": text}),
        );
    }
    Turn::say(format!(
        "Refunded {} for order {order}, receipt {receipt}, and closed ticket {ticket}.",
        dollars(cents)
    ))
}

fn dollars(cents: u64) -> String {
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// The last result of a tool: its JSON, or an empty object where it was an error.
fn result_of(request: &ModelRequest, tool: &str) -> Option<Value> {
    request
        .messages
        .iter()
        .rev()
        .find_map(|message| match message {
            Message::ToolResult {
                name,
                text,
                is_error,
                ..
            } if **name == *tool => {
                let value = if *is_error {
                    None
                } else {
                    serde_json::from_str(text).ok()
                };
                Some(value.unwrap_or_else(|| json!({})))
            }
            Message::User { .. } | Message::Assistant { .. } | Message::ToolResult { .. } => None,
        })
}

/// The first number like `T-7` in a text.
fn number(text: &str, prefix: &str) -> Option<String> {
    let at = text.find(prefix)?;
    let digits: String = text[at + prefix.len()..]
        .chars()
        .take_while(char::is_ascii_digit)
        .collect();
    (!digits.is_empty()).then(|| format!("{prefix}{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_where_they_stand() {
        assert_eq!(number("see T-7, please", "T-"), Some("T-7".to_owned()));
        assert_eq!(number("no number T-", "T-"), None);
    }
}
