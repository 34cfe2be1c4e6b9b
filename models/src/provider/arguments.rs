//! Arguments of earlier calls on their way back to a provider, which takes JSON objects only.

use serde_json::{Map, Value};

/// The arguments as an object; an empty one for a call whose arguments never were one.
///
/// The model still reads what was wrong: it stands in the call's result.
pub(crate) fn object(raw: &str) -> Map<String, Value> {
    serde_json::from_str(raw).unwrap_or_default()
}

/// The arguments as text: as the model wrote them if they are an object, else `{}`.
pub(crate) fn text(raw: &str) -> &str {
    match serde_json::from_str::<Map<String, Value>>(raw) {
        Ok(_) => raw,
        Err(_) => "{}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_goes_back_as_an_empty_one() {
        assert_eq!(text(r#"{"b":1, "a":2}"#), r#"{"b":1, "a":2}"#);
        for raw in ["", "null", "[]", "\"{}\"", r#"{"a":"cu"#, "{} {}"] {
            assert_eq!(text(raw), "{}", "{raw}");
            assert!(object(raw).is_empty(), "{raw}");
        }
    }
}
