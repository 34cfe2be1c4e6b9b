//! Schemas in plain keywords: limits of whole numbers, and fields that are listed.
//!
//! A number with a fraction has no place where a whole one belongs.

use serde_json::{Value, json};

use super::walk;
use crate::issue::{Issue, Path};

/// Lists the fields of an object without any: providers want the list even where it is empty.
pub(crate) fn plain_objects(schema: &mut Value) {
    walk::change_all(schema, &|schema| {
        if schema.get("type").is_some_and(|kind| kind == "object") {
            schema.entry("properties").or_insert_with(|| json!({}));
        }
    });
}

/// Replaces Rust's number formats, which no provider knows, by the limits they stand for.
///
/// 64-bit limits are left out: many providers refuse numbers of that size, and the type refuses them anyway.
pub(crate) fn plain_numbers(schema: &mut Value) {
    walk::change_all(schema, &|schema| {
        let limits = match schema.get("format").and_then(Value::as_str) {
            Some("int8") => Some((json!(i8::MIN), json!(i8::MAX))),
            Some("uint8") => Some((json!(0), json!(u8::MAX))),
            Some("int16") => Some((json!(i16::MIN), json!(i16::MAX))),
            Some("uint16") => Some((json!(0), json!(u16::MAX))),
            Some("int32") => Some((json!(i32::MIN), json!(i32::MAX))),
            Some("uint32") => Some((json!(0), json!(u32::MAX))),
            Some("int64" | "uint64" | "int" | "uint" | "float" | "double") => None,
            _ => return,
        };
        schema.shift_remove("format");
        if let Some((least, most)) = limits {
            schema.entry("minimum").or_insert(least);
            schema.entry("maximum").or_insert(most);
        }
    });
}

/// Adds an issue for each number with a fraction part where a whole number belongs: JSON Schema takes `5.0` for one, we don't.
pub(crate) fn fractions(schema: &Value, value: &Value, issues: &mut Vec<Issue>) {
    visit(schema, value, &Path::default(), issues);
}

fn visit(schema: &Value, value: &Value, path: &Path, issues: &mut Vec<Issue>) {
    match value {
        Value::Number(number) if number.is_f64() && wants_whole(schema) => {
            issues.push(path.issue("must be an integer, written without a fraction or exponent"));
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else {
                return;
            };
            for (at, item) in items.iter().enumerate() {
                visit(schema, item, &path.index(at), issues);
            }
        }
        Value::Object(entries) => {
            let Some(schemas) = schema.get("properties") else {
                return;
            };
            for (key, entry) in entries {
                if let Some(schema) = schemas.get(key) {
                    visit(schema, entry, &path.key(key), issues);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn wants_whole(schema: &Value) -> bool {
    let kind = schema.get("type");
    let names = |word: &str| {
        kind.is_some_and(|kind| match kind.as_array() {
            Some(kinds) => kinds.iter().any(|kind| kind == word),
            None => kind == word,
        })
    };
    names("integer") && !names("number")
}
