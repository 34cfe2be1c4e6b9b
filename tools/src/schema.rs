//! Schemas: compiled once, asked on each call.
//!
//! - SCHEMA-1: matching a pattern takes time linear in the text; no schema is ever fetched.

use std::fmt;

use jsonschema::{PatternOptions, Validator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use lint::SchemaError;
pub(crate) use plain::{plain_numbers, plain_objects};

use crate::dto::{Dto, schema_of};
use crate::issue::{Issue, Issues};

mod lint;
mod plain;
mod walk;
mod words;

/// What a value must look like: a JSON Schema, and the Rust type behind it where there is one.
#[derive(Clone)]
pub struct Shape {
    schema: Value,
    typed: Option<Canonical>,
}

/// Reads a value as a type and writes it back: defaults stand in, nothing else changes.
type Canonical = fn(&Value) -> Result<Value, Issue>;

impl Shape {
    /// The shape of a type.
    #[must_use]
    pub fn of<T: Dto>() -> Self {
        Self {
            schema: schema_of::<T>(),
            typed: Some(canonical::<T>),
        }
    }

    /// A shape that is known at run time only, as that of an MCP server's tool.
    #[must_use]
    pub const fn raw(schema: Value) -> Self {
        Self {
            schema,
            typed: None,
        }
    }

    /// The JSON Schema.
    #[must_use]
    pub const fn schema(&self) -> &Value {
        &self.schema
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Shape").field(&self.schema).finish()
    }
}

fn canonical<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, Issue> {
    let typed: T = serde_path_to_error::deserialize(value).map_err(|error| {
        let path = match error.path().to_string() {
            path if path == "." => "$".to_owned(),
            path => path,
        };
        Issue::new(path, without_code(&error.into_inner().to_string()))
    })?;
    serde_json::to_value(typed).map_err(|error| Issue::new("$", error.to_string()))
}

/// A message as a model reads it: a code tells it nothing.
fn without_code(message: &str) -> &str {
    let coded = message
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("] "));
    coded.map_or(message, |(_code, text)| text)
}

/// A shape whose schema was found sound and compiled.
#[derive(Debug)]
pub struct Checker {
    validator: Validator,
    shape: Shape,
}

impl Checker {
    /// The most bytes a compiled pattern may take.
    const PATTERN_BYTES_MAX: usize = 1 << 20;

    /// Checks the schema itself and compiles it.
    ///
    /// # Errors
    /// A keyword that is not supported, a demand nothing fulfils, a reference to elsewhere, too much depth; with the path.
    pub fn new(shape: &Shape) -> Result<Self, SchemaError> {
        lint::check(&shape.schema)?;
        if shape.typed.is_some() {
            lint::check_typed(&shape.schema)?;
        }
        let validator = compile(&shape.schema)?;
        lint::check_defaults(&shape.schema, &compile)?;
        Ok(Self {
            validator,
            shape: shape.clone(),
        })
    }

    /// The shape it checks.
    #[must_use]
    pub const fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Checks a value and returns it in canonical form, defaults applied.
    ///
    /// # Errors
    /// Every issue there is.
    pub fn accept(&self, value: &Value) -> Result<Value, Issues> {
        let schema_issues = self.issues(value);
        let typed = match self.shape.typed {
            Some(typed) => typed(value),
            None => Ok(Value::Null),
        };
        match (schema_issues, typed, self.shape.typed) {
            (None, Ok(canonical), Some(_)) => Ok(canonical),
            (None, Ok(_), None) => Ok(value.clone()),
            (None, Err(issue), _) => Err(self.explain(value, vec![], Some(issue))),
            (Some(issues), typed, _) => Err(self.explain(value, issues, typed.err())),
        }
    }

    /// Checks a value that is complete already.
    ///
    /// # Errors
    /// Every issue there is.
    pub fn check(&self, value: &Value) -> Result<(), Issues> {
        match self.issues(value) {
            None => Ok(()),
            Some(issues) => Err(Issues::new(issues)),
        }
    }

    fn issues(&self, value: &Value) -> Option<Vec<Issue>> {
        if self.validator.is_valid(value) {
            return None;
        }
        let errors = self.validator.iter_errors(value);
        Some(errors.flat_map(|error| words::issues(&error)).collect())
    }

    /// Joins what the schema says with what only the type knows, such as that `5.0` is no integer.
    fn explain(&self, value: &Value, mut issues: Vec<Issue>, typed: Option<Issue>) -> Issues {
        if self.shape.typed.is_some() {
            plain::fractions(&self.shape.schema, value, &mut issues);
        }
        if let (true, Some(issue)) = (issues.is_empty(), typed) {
            issues.push(issue);
        }
        Issues::new(issues)
    }
}

fn compile(schema: &Value) -> Result<Validator, SchemaError> {
    let patterns = PatternOptions::regex().size_limit(Checker::PATTERN_BYTES_MAX);
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(patterns)
        .should_validate_formats(true)
        .offline()
        .build(schema)
        .map_err(|error| SchemaError::Refused {
            path: words::path_of(error.instance_path()),
            why: error.to_string(),
        })
}
