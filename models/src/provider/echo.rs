//! What a provider wants back with an answer, under the name of the model that gave it.
//!
//! - ECHO-1: reasoning signed for one model goes back to that model only.

use std::sync::Arc;

use serde_json::{Map, Value};

/// Keeps `content` for `model`.
pub(crate) fn keep(model: &str, content: Value) -> Arc<str> {
    Value::Object(Map::from_iter([(model.to_owned(), content)]))
        .to_string()
        .into()
}

/// What `model` itself gave; `None` where another model, or none, gave something.
pub(crate) fn of(model: &str, echo: Option<&str>) -> Option<Value> {
    let mut echo: Map<String, Value> = serde_json::from_str(echo?).ok()?;
    echo.remove(model)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_model_that_gave_it_gets_it_back() {
        let echo = keep("a/b", Value::from(7));
        assert_eq!(of("a/b", Some(&echo)), Some(Value::from(7)), "ECHO-1");
        assert_eq!(of("a/c", Some(&echo)), None, "ECHO-1");
        assert_eq!(of("a/b", Some("junk")), None);
        assert_eq!(of("a/b", None), None);
    }
}
