//! Properties of the bounded JSON decoder and of the canonical form, against another reader.

use leasehold_tools::canonical_json;
use leasehold_types::json::{JsonLimits, decode};
use proptest::prelude::{Just, Strategy, any, prop, prop_oneof};
use proptest::{prop_assert, prop_assert_eq, proptest};
use serde_json::{Number, Value};

const LIMITS: JsonLimits = JsonLimits::ARGUMENTS;

fn number() -> impl Strategy<Value = Number> {
    let float = any::<f64>().prop_filter_map("finite", Number::from_f64);
    prop_oneof![
        any::<i64>().prop_map(Number::from),
        any::<u64>().prop_map(Number::from),
        float
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-z\"\\\\/é😀\n]{0,12}", "\\PC{0,12}"];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number().prop_map(Value::Number),
        text.prop_map(Value::String),
    ];
    scalar.prop_recursive(5, 60, 6, |inner| {
        let list = prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array);
        let map = prop::collection::btree_map("[a-z0-9 $_.-]{0,6}", inner, 0..6);
        prop_oneof![
            list,
            map.prop_map(|map| Value::Object(map.into_iter().collect()))
        ]
    })
}

/// The value without its numbers: the other reader is not exact to the last bit.
fn shape(value: &Value) -> Value {
    match value {
        Value::Number(_) => Value::from(0),
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, value)| (key.clone(), shape(value)))
            .collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}

proptest! {
    #[test]
    fn a_written_value_reads_back_the_same(value in value()) {
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap(), canonical_json(&value)] {
            let read = decode(text.as_bytes(), &LIMITS);
            prop_assert_eq!(read.as_ref(), Ok(&value));
        }
    }

    // BAD INPUT 1, 6, 9
    #[test]
    fn what_is_read_at_all_is_read_as_another_reader_reads_it(text in "[\\[\\]{}\",:0-9eE+.\\\\untrfalse -]{0,24}") {
        if let Ok(value) = decode(text.as_bytes(), &LIMITS) {
            let other = serde_json::from_str::<Value>(&text);
            prop_assert!(other.is_ok(), "{text:?} was read as {value}");
            prop_assert_eq!(shape(&other.unwrap()), shape(&value));
        }
    }

    // BAD INPUT 9
    #[test]
    fn bytes_of_any_kind_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let read = decode(&bytes, &LIMITS);
        prop_assert!(read.is_err() || std::str::from_utf8(&bytes).is_ok());
    }

    #[test]
    fn a_cut_text_is_never_taken_for_a_whole_object(value in prop::collection::btree_map("[a-z]{1,4}", value(), 1..4), cut in any::<prop::sample::Index>()) {
        let text = Value::Object(value.into_iter().collect()).to_string();
        let cut = cut.index(text.len());
        prop_assert!(decode(&text.as_bytes()[..cut], &LIMITS).is_err());
    }
}
