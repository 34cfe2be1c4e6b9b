//! What a schema must not be: found when the application is assembled, with the place in the schema.
//!
//! Refused: keywords no dialect carries, demands that nothing fulfils, alternatives that overlap, references to elsewhere, too much depth.

use std::collections::BTreeSet;

use jsonschema::Validator;
use serde_json::Value;

use super::walk;

/// The deepest schema: what the strictest provider takes is less, so a dialect may refuse sooner.
const DEPTH_MAX: usize = 32;
/// The most bytes of a schema, as compact JSON.
const BYTES_MAX: usize = 256 << 10;

const KEYWORDS: [&str; 34] = [
    "$comment",
    "$defs",
    "$ref",
    "$schema",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "default",
    "deprecated",
    "description",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "oneOf",
    "pattern",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "title",
    "type",
];
const MORE_KEYWORDS: [&str; 3] = ["readOnly", "uniqueItems", "writeOnly"];

/// The pairs whose first must not exceed the second.
const BOUNDS: [(&str, &str); 4] = [
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
];

/// Why a schema was refused, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// It is not a schema, holds what is not supported, or asks for what nothing fulfils.
    #[error("[tool.schema-invalid] at {path}: {why}")]
    Refused {
        /// A JSON Pointer into the schema.
        path: String,
        /// What is wrong there.
        why: String,
    },
    /// A field of a Rust type that models could not understand.
    #[error(
        "[dto.field-undescribed] at {path}: the model reads each field's description; put `#[dto]` on its type"
    )]
    Undescribed {
        /// A JSON Pointer into the schema.
        path: String,
    },
    /// A Rust type that takes unknown fields.
    #[error(
        "[dto.fields-open] at {path}: unknown fields are not refused; put `#[dto]` on the type"
    )]
    Open {
        /// A JSON Pointer into the schema.
        path: String,
    },
    /// A tool's arguments are an object; every provider demands it.
    #[error("[tool.input-not-object] a tool's input is a struct: its schema is not of type object")]
    NotAnObject,
}

fn refused(path: &str, why: impl Into<String>) -> SchemaError {
    let path = format!("#{path}");
    SchemaError::Refused {
        path,
        why: why.into(),
    }
}

/// Checks everything but the defaults.
pub(super) fn check(root: &Value) -> Result<(), SchemaError> {
    if root.to_string().len() > BYTES_MAX {
        return Err(refused("", format!("more than {BYTES_MAX} bytes")));
    }
    check_each(root, "", 0, &|schema, path| check_one(root, schema, path))?;
    if !has_finite(root, root, &mut BTreeSet::new()) {
        return Err(refused(
            "",
            "asks for itself without end: no value is finite",
        ));
    }
    Ok(())
}

/// Checks what only our own types must keep: each field is described, unknown ones are refused.
pub(super) fn check_typed(root: &Value) -> Result<(), SchemaError> {
    check_each(root, "", 0, &|schema, path| {
        let Some(fields) = schema.get("properties").and_then(Value::as_object) else {
            return Ok(());
        };
        let says =
            |field: &Value| field.get("description").is_some() || field.get("const").is_some();
        if let Some((name, _)) = fields.iter().find(|(_, field)| !says(field)) {
            let path = format!("#{path}/properties/{name}");
            return Err(SchemaError::Undescribed { path });
        }
        match schema.get("additionalProperties") {
            Some(_) => Ok(()),
            None => Err(SchemaError::Open {
                path: format!("#{path}"),
            }),
        }
    })
}

/// Checks that each default fits the schema it stands in.
pub(super) fn check_defaults(
    root: &Value,
    compile: &impl Fn(&Value) -> Result<Validator, SchemaError>,
) -> Result<(), SchemaError> {
    check_each(root, "", 0, &|schema, path| {
        let Some(default) = schema.get("default") else {
            return Ok(());
        };
        let mut alone = schema.clone();
        if let (Some(object), Some(defs)) = (alone.as_object_mut(), root.get("$defs")) {
            object.insert("$defs".to_owned(), defs.clone());
        }
        match compile(&alone)?.is_valid(default) {
            true => Ok(()),
            false => Err(refused(
                path,
                "the default does not fit the schema it stands in",
            )),
        }
    })
}

fn check_each(
    schema: &Value,
    path: &str,
    depth: usize,
    check: &impl Fn(&Value, &str) -> Result<(), SchemaError>,
) -> Result<(), SchemaError> {
    if depth > DEPTH_MAX {
        return Err(refused(
            "",
            format!("nested deeper than {DEPTH_MAX} levels"),
        ));
    }
    check(schema, path)?;
    for (step, child) in walk::children(schema) {
        check_each(child, &format!("{path}{step}"), depth + 1, check)?;
    }
    Ok(())
}

fn check_one(root: &Value, schema: &Value, path: &str) -> Result<(), SchemaError> {
    let Some(object) = schema.as_object() else {
        return match schema.is_boolean() {
            true => Ok(()),
            false => Err(refused(path, "not a schema")),
        };
    };
    for keyword in object.keys() {
        let known = |keyword: &&str| KEYWORDS.contains(keyword) || MORE_KEYWORDS.contains(keyword);
        if !known(&keyword.as_str()) && !keyword.starts_with("x-") {
            return Err(refused(
                path,
                format!("the keyword {keyword:?} is not supported"),
            ));
        }
    }
    check_reference(root, schema, path)?;
    check_bounds(schema, path)?;
    check_required(schema, path)?;
    check_overlap(schema, path)
}

fn check_reference(root: &Value, schema: &Value, path: &str) -> Result<(), SchemaError> {
    let Some(reference) = schema.get("$ref") else {
        return Ok(());
    };
    match reference.as_str().and_then(|to| target(root, to)) {
        Some(_) => Ok(()),
        None => Err(refused(
            path,
            "$ref names no part of this schema: nothing is fetched",
        )),
    }
}

fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

fn check_bounds(schema: &Value, path: &str) -> Result<(), SchemaError> {
    for (least, most) in BOUNDS {
        let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
        if let (Some(low), Some(high)) = (number(least), number(most))
            && low > high
        {
            return Err(refused(
                path,
                format!("{least} {low} is more than {most} {high}"),
            ));
        }
    }
    let none = |keyword: &str| {
        schema
            .get(keyword)
            .and_then(Value::as_array)
            .is_some_and(Vec::is_empty)
    };
    for keyword in ["enum", "anyOf", "oneOf"] {
        if none(keyword) {
            return Err(refused(path, format!("{keyword} has no alternative")));
        }
    }
    Ok(())
}

fn check_required(schema: &Value, path: &str) -> Result<(), SchemaError> {
    let is_closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let is_known = schema
            .get("properties")
            .is_some_and(|known| known.get(name).is_some());
        if is_closed && !is_known {
            return Err(refused(
                path,
                format!("{name:?} is required and not allowed"),
            ));
        }
    }
    Ok(())
}

/// Refuses a `oneOf` that has two equal alternatives, or two that allow the same constant.
fn check_overlap(schema: &Value, path: &str) -> Result<(), SchemaError> {
    let branches = schema.get("oneOf").and_then(Value::as_array);
    let branches = branches.map_or(&[][..], Vec::as_slice);
    for (at, first) in branches.iter().enumerate() {
        for second in &branches[at + 1..] {
            let shared = constants(first)
                .iter()
                .any(|value| constants(second).contains(value));
            if first == second || shared {
                return Err(refused(path, "two alternatives of oneOf overlap"));
            }
        }
    }
    Ok(())
}

fn constants(schema: &Value) -> Vec<&Value> {
    let listed = schema.get("enum").and_then(Value::as_array);
    schema
        .get("const")
        .into_iter()
        .chain(listed.into_iter().flatten())
        .collect()
}

/// Whether some finite value fits: a type that needs itself has none.
fn has_finite<'a>(root: &'a Value, schema: &'a Value, within: &mut BTreeSet<&'a str>) -> bool {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        if !within.insert(reference) {
            return false;
        }
        let finite = target(root, reference).is_none_or(|target| has_finite(root, target, within));
        within.remove(reference);
        return finite;
    }
    let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
    for keyword in ["anyOf", "oneOf"] {
        if list(keyword).is_some_and(|branches| {
            !branches
                .iter()
                .any(|branch| has_finite(root, branch, within))
        }) {
            return false;
        }
    }
    let fields = schema.get("properties");
    let mut needed: Vec<&Value> = list("allOf").into_iter().flatten().collect();
    let required = list("required")
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    needed.extend(required.filter_map(|name| fields?.get(name)));
    if schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) > 0 {
        needed.extend(schema.get("items"));
    }
    needed
        .into_iter()
        .all(|part| has_finite(root, part, within))
}
