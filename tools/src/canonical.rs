//! Canonical JSON: one text for one value, fit for digests.
//!
//! Keys in order of their bytes, no space, numbers as they were read (`5` and `5.0` differ).
//!
//! Source: RFC 8785 for the idea; its ECMAScript numbers would round integers past 2^53, so they are not taken.

use leasehold_types::Digest;
use serde_json::{Map, Value};

/// Writes a value so that two values are equal when their texts are.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut out = String::with_capacity(256);
    write(value, &mut out);
    out
}

/// The digest of a value's canonical text.
#[must_use]
pub fn canonical_digest(value: &Value) -> Digest {
    Digest::of(canonical_json(value).as_bytes())
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::Object(entries) => write_object(entries, out),
    }
}

fn write_object(entries: &Map<String, Value>, out: &mut String) {
    let mut sorted: Vec<(&String, &Value)> = entries.iter().collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    out.push('{');
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn write_text(text: &str, out: &mut String) {
    let is_plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
    if text.bytes().all(is_plain) {
        out.push('"');
        out.push_str(text);
        out.push('"');
    } else {
        out.push_str(&Value::from(text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_text_is_valid_json_with_sorted_keys() {
        let value = json!({"b": [1, 2.0, null], "a": {"z": "é\n\"", "": true}});
        let text = canonical_json(&value);
        assert_eq!(text, r#"{"a":{"":true,"z":"é\n\""},"b":[1,2.0,null]}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn the_order_of_keys_does_not_change_the_digest_and_a_value_does() {
        let one: Value = serde_json::from_str(r#"{"a":1,"b":2}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"b":2,"a":1}"#).unwrap();
        assert_eq!(canonical_digest(&one), canonical_digest(&two));
        assert_ne!(
            canonical_digest(&one),
            canonical_digest(&json!({"a": 1, "b": 2.0}))
        );
    }
}
