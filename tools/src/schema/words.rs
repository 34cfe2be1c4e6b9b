//! A schema's verdict in words that a model can act on.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kinds are another crate's list, which grows"
)]

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use jsonschema::paths::{Location, LocationSegment};
use jsonschema::{JsonType, ValidationError};
use serde_json::Value;

use crate::issue::{Issue, Path};

/// The most alternatives of an enum that are written out.
const OPTIONS_MAX: usize = 20;

pub(super) fn path_of(location: &Location) -> String {
    path(location).to_string()
}

fn path(location: &Location) -> Path {
    location
        .iter()
        .fold(Path::default(), |path, segment| match segment {
            LocationSegment::Property(key) => path.key(&key),
            LocationSegment::Index(index) => path.index(index),
        })
}

/// The issues that one error stands for.
pub(super) fn issues(error: &ValidationError<'_>) -> Vec<Issue> {
    let path = path(error.instance_path());
    match error.kind() {
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let unknown = |key: &String| path.key(key).issue("unknown field");
            unexpected.iter().map(unknown).collect()
        }
        Kind::FalseSchema
            if error
                .schema_path()
                .as_str()
                .ends_with("/additionalProperties") =>
        {
            let keys = error.instance().as_object().into_iter().flatten();
            let unknown = |(key, _): (&String, &Value)| path.key(key).issue("unknown field");
            keys.map(unknown).collect()
        }
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            vec![path.key(name).issue("missing")]
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
            alternatives(error.instance_path(), context)
        }
        Kind::PropertyNames { error } => issues(error),
        kind => vec![path.issue(text(kind, error.instance()))],
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "another crate's list, which grows"
)]
fn text(kind: &Kind, instance: &Value) -> String {
    match kind {
        Kind::Type { kind } => format!(
            "must be {}, is {}",
            expected(kind),
            article(JsonType::from(instance))
        ),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} fields"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} fields"),
        Kind::UniqueItems => "must not hold an item twice".to_owned(),
        Kind::Pattern { pattern } => format!("must match {pattern}"),
        Kind::Format { format } => format!("must be a valid {format}"),
        Kind::Constant { expected_value } => format!("must be {expected_value}"),
        Kind::Enum { options } => one_of(options.as_array().map_or(&[], Vec::as_slice)),
        Kind::OneOfMultipleValid { .. } => "fits more than one of the alternatives".to_owned(),
        Kind::FalseSchema => "must not be given".to_owned(),
        other => format!("does not fit the schema's {}", other.keyword()),
    }
}

/// What the likeliest alternative says: the one meant by its constants, else the one with the fewest issues.
fn alternatives(at: &Location, context: &[Vec<ValidationError<'static>>]) -> Vec<Issue> {
    let constants = context.iter().map(|branch| constant(at, branch));
    if let Some(options) = constants.collect::<Option<Vec<Value>>>() {
        return vec![path(at).issue(one_of(&options))];
    }
    let is_meant = |branch: &&Vec<ValidationError<'static>>| {
        let other = |error: &ValidationError<'_>| {
            matches!(error.kind(), Kind::Constant { .. } | Kind::Type { .. })
        };
        !branch.iter().any(other)
    };
    let meant = context
        .iter()
        .filter(is_meant)
        .min_by_key(|branch| branch.len());
    let Some(branch) = meant.or_else(|| context.iter().min_by_key(|branch| branch.len())) else {
        return vec![path(at).issue("fits none of the alternatives")];
    };
    branch.iter().flat_map(issues).collect()
}

/// The constant that a branch asks for in the value's own place.
fn constant(at: &Location, branch: &[ValidationError<'static>]) -> Option<Value> {
    branch.iter().find_map(|error| match error.kind() {
        Kind::Constant { expected_value } if error.instance_path() == at => {
            Some(expected_value.as_ref().clone())
        }
        _ => None,
    })
}

fn one_of(options: &[Value]) -> String {
    let shown: Vec<String> = options
        .iter()
        .take(OPTIONS_MAX)
        .map(Value::to_string)
        .collect();
    let more = match options.len().saturating_sub(OPTIONS_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("must be one of {}{more}", shown.join(", "))
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(kind) => article(*kind).to_owned(),
        TypeKind::Multiple(kinds) => {
            let (null, other): (Vec<_>, Vec<_>) =
                kinds.iter().partition(|kind| *kind == JsonType::Null);
            let words: Vec<&str> = other.into_iter().chain(null).map(article).collect();
            words.join(" or ")
        }
    }
}

const fn article(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}
