//! What tools take and return: types with a JSON Schema, written with `#[dto]`.
//!
//! A schema is JSON Schema 2020-12 without references where the type is not recursive, so that each provider's dialect can carry it.

use std::fmt;

use leasehold_types::json::JsonLimits;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::issue::{InvalidInput, Issue, Issues};
use crate::schema::{Checker, Shape, plain_numbers, plain_objects};

/// A type whose values models write or read: every field is described, unknown fields are refused.
///
/// Put `#[dto]` on a struct or enum. Fields are written in the order of their declaration.
#[diagnostic::on_unimplemented(
    message = "a tool cannot take `{Self}`",
    label = "not a `#[dto]`",
    note = "put `#[dto]` on it"
)]
pub trait Dto: Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static {}

/// A [`Dto`] that a tool may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not a `#[dto]`",
    note = "put `#[dto]` on it, or return `PlainText`"
)]
pub trait ToolOutput: Dto {}

/// The JSON Schema of a type, as a model sees it.
#[must_use]
pub fn schema_of<T: Dto>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.inline_subschemas = true;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut schema = schema.to_value();
    if let Some(root) = schema.as_object_mut() {
        root.shift_remove("title");
    }
    plain_numbers(&mut schema);
    plain_objects(&mut schema);
    schema
}

/// Reads a value of `T` from a text that others wrote, as a tool call's arguments are read.
///
/// Compiles the schema on each call: for tests and for answers that come once. A bound tool compiles once.
///
/// # Errors
/// The text is not JSON within [`JsonLimits::ARGUMENTS`], or does not fit the type; every issue is listed.
pub fn decode<T: Dto>(raw: &[u8]) -> Result<T, InvalidInput> {
    let value = leasehold_types::json::decode(raw, &JsonLimits::ARGUMENTS)?;
    decode_value(&value)
}

/// Reads a value of `T` from a JSON value; see [`decode`].
///
/// # Errors
/// The value does not fit the type; every issue is listed.
pub fn decode_value<T: Dto>(value: &Value) -> Result<T, InvalidInput> {
    let shape = Shape::of::<T>();
    let unusable = |text: String| InvalidInput::Issues(Issues::new(vec![Issue::new("$", text)]));
    let checker = Checker::new(&shape).map_err(|error| unusable(error.to_string()))?;
    checker.accept(value).map_err(InvalidInput::Issues)?;
    T::deserialize(value).map_err(|error| unusable(error.to_string()))
}

/// One text, for results that have no better shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub struct PlainText {
    /// The text.
    pub text: String,
}

impl Dto for PlainText {}
impl ToolOutput for PlainText {}

impl From<String> for PlainText {
    fn from(text: String) -> Self {
        Self { text }
    }
}

impl From<&str> for PlainText {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl fmt::Display for PlainText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What a tool without arguments takes: an object with no fields.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(deny_unknown_fields)]
pub struct NoArguments {}

impl Dto for NoArguments {}
