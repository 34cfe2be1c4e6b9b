//! Arguments: as the model wrote them, and as they are journaled, approved and called with.
//!
//! - ARGS-1: what a tool is called with is what was reviewed: the canonical form of arguments that fit the schema.

use std::sync::Arc;

use leasehold_types::Digest;
use leasehold_types::json::{self, JsonLimits};
use serde_json::Value;

use crate::bind::BoundTool;
use crate::canonical::canonical_json;
use crate::issue::{InvalidInput, Issue, Issues};

/// A tool call's arguments as their author wrote them: bytes that may be anything.
#[derive(Debug, Clone, Copy)]
pub struct RawArguments<'a>(&'a [u8]);

impl<'a> RawArguments<'a> {
    /// Takes bytes, however wrong.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        self.0
    }
}

impl<'a> From<&'a str> for RawArguments<'a> {
    fn from(text: &'a str) -> Self {
        Self(text.as_bytes())
    }
}

/// Arguments that fit a tool's schema, defaults applied. Clones share one value.
#[derive(Debug, Clone)]
pub struct CanonicalArguments(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    text: String,
    value: Arc<Value>,
    definition: Digest,
}

impl CanonicalArguments {
    /// The canonical text, as it is journaled and shown to people.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The value, its fields in the order of the tool's input type.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// The digest of the canonical text.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.0.text.as_bytes())
    }

    /// The hash of the tool definition that they were reviewed against.
    #[must_use]
    pub fn definition_hash(&self) -> Digest {
        self.0.definition
    }

    pub(crate) fn shared_value(&self) -> Arc<Value> {
        self.0.value.clone()
    }
}

impl PartialEq for CanonicalArguments {
    fn eq(&self, other: &Self) -> bool {
        self.0.definition == other.0.definition && self.0.text == other.0.text
    }
}

impl Eq for CanonicalArguments {}

/// What a call is made with: raw text, or arguments that were reviewed before.
#[derive(Debug, Clone)]
pub enum Arguments<'a> {
    /// To be reviewed first.
    Raw(RawArguments<'a>),
    /// Reviewed already, when the call was journaled or approved.
    Reviewed(CanonicalArguments),
}

impl<'a> From<&'a str> for Arguments<'a> {
    fn from(text: &'a str) -> Self {
        Self::Raw(text.into())
    }
}

impl<'a> From<RawArguments<'a>> for Arguments<'a> {
    fn from(raw: RawArguments<'a>) -> Self {
        Self::Raw(raw)
    }
}

impl From<CanonicalArguments> for Arguments<'_> {
    fn from(reviewed: CanonicalArguments) -> Self {
        Self::Reviewed(reviewed)
    }
}

/// Reads and checks a call's arguments, before anybody is asked and before anything runs.
///
/// # Errors
/// `invalid input: …` with every issue: the model reads it and may call again.
pub fn review<'a>(
    tool: &BoundTool,
    raw: impl Into<RawArguments<'a>>,
) -> Result<CanonicalArguments, InvalidInput> {
    let value = json::decode(raw.into().0, &JsonLimits::ARGUMENTS)?;
    if !value.is_object() {
        let issue = Issue::new("$", format!("must be an object, is {}", kind_of(&value)));
        return Err(InvalidInput::Issues(Issues::new(vec![issue])));
    }
    let value = tool.input().accept(&value).map_err(InvalidInput::Issues)?;
    Ok(CanonicalArguments(Arc::new(Inner {
        text: canonical_json(&value),
        value: Arc::new(value),
        definition: tool.definition_hash(),
    })))
}

/// What an approval is bound to: the tool's definition, the canonical arguments and the configuration.
///
/// A decision that names another digest is refused and asked anew.
#[must_use]
pub fn approval_digest(arguments: &CanonicalArguments, config_hash: Digest) -> Digest {
    Digest::of_parts(&[
        arguments.definition_hash().as_bytes(),
        arguments.text().as_bytes(),
        config_hash.as_bytes(),
    ])
}

const fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
