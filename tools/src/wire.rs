//! A tool's result as it is journaled and sent: `{"kind":"ok","value":…}` or `{"kind":"error","message":…}`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool's result, wherever it leaves the process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ToolOutcome {
    /// The tool's output.
    Ok {
        /// The output, its fields in the order of their declaration.
        value: Value,
    },
    /// Why there is none.
    Error {
        /// What the model is told.
        message: String,
    },
}

impl ToolOutcome {
    /// The text that the model reads: compact JSON of the output, or `Tool error: <message>`.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Ok { value } => value.to_string(),
            Self::Error { message } => format!("Tool error: {message}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // CONTRACT T5
    #[test]
    fn a_result_is_a_value_of_one_of_two_kinds() {
        for (outcome, right, text) in [
            (
                ToolOutcome::Ok {
                    value: json!({"b": 1, "a": 2}),
                },
                r#"{"kind":"ok","value":{"b":1,"a":2}}"#,
                r#"{"b":1,"a":2}"#,
            ),
            (
                ToolOutcome::Error {
                    message: "no order".to_owned(),
                },
                r#"{"kind":"error","message":"no order"}"#,
                "Tool error: no order",
            ),
        ] {
            assert_eq!(serde_json::to_string(&outcome).unwrap(), right);
            assert_eq!(serde_json::from_str::<ToolOutcome>(right).unwrap(), outcome);
            assert_eq!(outcome.text(), text);
        }
    }
}
