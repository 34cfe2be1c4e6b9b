//! Schemas that are refused when an application is assembled, with the place in them.

use leasehold_macros::dto;
use leasehold_tools::{Checker, Shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[track_caller]
fn refused(schema: Value, right: &str) {
    let told = match Checker::new(&Shape::raw(schema.clone())) {
        Ok(_) => panic!("accepted: {schema}"),
        Err(error) => error.to_string(),
    };
    assert_eq!(told, format!("[tool.schema-invalid] at {right}"));
}

#[track_caller]
fn accepted(schema: Value) {
    if let Err(error) = Checker::new(&Shape::raw(schema)) {
        panic!("{error}");
    }
}

fn field(schema: Value) -> Value {
    json!({"type": "object", "properties": {"a": schema}})
}

// BAD INPUT 32
#[test]
fn a_demand_that_nothing_fulfils_is_refused() {
    accepted(field(json!({"minimum": 1, "maximum": 1})));
    refused(
        field(json!({"minimum": 5, "maximum": 1})),
        "#/properties/a: minimum 5 is more than maximum 1",
    );
    refused(
        field(json!({"minLength": 2, "maxLength": 1})),
        "#/properties/a: minLength 2 is more than maxLength 1",
    );
    refused(
        field(json!({"minItems": 2, "maxItems": 1})),
        "#/properties/a: minItems 2 is more than maxItems 1",
    );
    refused(
        field(json!({"enum": []})),
        "#/properties/a: enum has no alternative",
    );
    let closed = json!({"type": "object", "additionalProperties": false, "required": ["b"]});
    refused(closed, "#: \"b\" is required and not allowed");
}

// BAD INPUT 32
#[test]
fn a_default_that_does_not_fit_its_own_schema_is_refused() {
    accepted(field(
        json!({"type": "integer", "minimum": 1, "default": 1}),
    ));
    refused(
        field(json!({"type": "integer", "minimum": 1, "default": 0})),
        "#/properties/a: the default does not fit the schema it stands in",
    );
}

// BAD INPUT 32
#[test]
fn a_type_that_needs_itself_is_refused_and_one_that_may_hold_itself_is_not() {
    let tree = |required: Value| {
        json!({
            "type": "object",
            "properties": {"node": {"$ref": "#/$defs/Node"}},
            "required": ["node"],
            "$defs": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}, "required": required}},
        })
    };
    accepted(tree(json!([])));
    refused(
        tree(json!(["next"])),
        "#: asks for itself without end: no value is finite",
    );
}

// BAD INPUT 32
#[test]
fn overlapping_alternatives_are_refused() {
    accepted(field(json!({"oneOf": [{"const": "a"}, {"const": "b"}]})));
    let overlap = "#/properties/a: two alternatives of oneOf overlap";
    refused(
        field(json!({"oneOf": [{"const": "a"}, {"enum": ["b", "a"]}]})),
        overlap,
    );
    refused(
        field(json!({"oneOf": [{"type": "string"}, {"type": "string"}]})),
        overlap,
    );
}

// BAD INPUT 32
#[test]
fn depth_unknown_keywords_and_references_to_elsewhere_are_refused() {
    let deep = |levels: usize| {
        (0..levels).fold(
            json!({"type": "string"}),
            |inner, _| json!({"type": "array", "items": inner}),
        )
    };
    accepted(deep(32));
    refused(deep(33), "#: nested deeper than 32 levels");
    refused(deep(200), "#: nested deeper than 32 levels");
    refused(
        field(json!({"patternProperties": {}})),
        "#/properties/a: the keyword \"patternProperties\" is not supported",
    );
    let elsewhere = "#/properties/a: $ref names no part of this schema: nothing is fetched";
    refused(
        field(json!({"$ref": "https://example.com/schema.json"})),
        elsewhere,
    );
    refused(field(json!({"$ref": "#/$defs/Missing"})), elsewhere);
    refused(field(json!(5)), "#/properties/a: not a schema");
}

// BAD INPUT 32
#[test]
fn a_pattern_that_cannot_run_in_linear_time_or_little_space_is_refused() {
    accepted(field(json!({"type": "string", "pattern": "^(a+)+$"})));
    for pattern in ["(a)\\1", "(?=a)b", "[", "(((a{100}){100}){100}){100}"] {
        let schema = field(json!({"type": "string", "pattern": pattern}));
        let error = Checker::new(&Shape::raw(schema)).unwrap_err().to_string();
        assert!(error.starts_with("[tool.schema-invalid] at "), "{error}");
    }
}

// CONTRACT T3
#[test]
fn a_pattern_that_ruins_a_backtracking_engine_takes_no_time_here() {
    let checker = Checker::new(&Shape::raw(field(
        json!({"type": "string", "pattern": "^(a+)+$"}),
    )))
    .unwrap();
    let hostile = "a".repeat(100_000) + "!";
    let issues = checker.check(&json!({"a": hostile})).unwrap_err();
    assert_eq!(issues.to_string(), "a: must match ^(a+)+$");
}

/// A type of somebody else's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Foreign {
    x: u32,
}

/// A type of somebody else's that describes its fields and takes any others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Open {
    /// A number.
    x: u32,
}

/// Holds one.
#[dto]
struct HoldsForeign {
    /// It.
    foreign: Vec<Foreign>,
}

/// Holds one.
#[dto]
struct HoldsOpen {
    /// It.
    open: Option<Open>,
}

// CONTRACT T3
#[test]
fn a_field_of_a_type_that_is_no_dto_is_refused_where_it_leaves_the_model_in_the_dark() {
    let told = |shape: &Shape| Checker::new(shape).unwrap_err().to_string();
    assert_eq!(
        told(&Shape::of::<HoldsForeign>()),
        "[dto.field-undescribed] at #/properties/foreign/items/properties/x: the model reads each field's description; put `#[dto]` on its type"
    );
    assert_eq!(
        told(&Shape::of::<HoldsOpen>()),
        "[dto.fields-open] at #/properties/open: unknown fields are not refused; put `#[dto]` on the type"
    );
}
