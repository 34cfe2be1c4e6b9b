//! Binding: a tool and the application's services become something that can be called, or a list of everything wrong.
//!
//! - BIND-1: nothing of a tool runs here; what a call could miss is found from what its parameters say.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_types::{Digest, MoneyError};

use crate::canonical::canonical_json;
use crate::limits::{LimitError, limit_errors};
use crate::name::{Kind, NameError, ToolName, check_name};
use crate::schema::{Checker, SchemaError, Shape};
use crate::services::Services;
use crate::tool::{Tool, ToolDefinition, ToolSpec};

/// The longest description, in bytes: what OpenAI takes, the least of the providers, is 1,024.
pub const DESCRIPTION_BYTES_MAX: usize = 1_024;

/// What is wrong with a tool as it was declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BindError {
    /// Its name, or its role's.
    #[error(transparent)]
    Name(#[from] NameError),
    /// It has no description.
    #[error("[tool.missing-description] {0}: the model reads a tool's description; write one")]
    NoDescription(String),
    /// Its description is longer than providers take.
    #[error("[tool.description-too-long] {tool}: the description has {bytes} bytes, the limit is {max}", max = DESCRIPTION_BYTES_MAX)]
    LongDescription {
        /// The tool.
        tool: String,
        /// The description's length.
        bytes: usize,
    },
    /// Its timeout, result bound or retention.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Its reserve names no exact amount.
    #[error("{error} (the reserve of {tool})")]
    Reserve {
        /// The tool.
        tool: String,
        /// Why.
        error: MoneyError,
    },
    /// The schema of its input or output.
    #[error("{error} (the {side} of {tool})")]
    Schema {
        /// The tool.
        tool: String,
        /// `input` or `output`.
        side: &'static str,
        /// Why.
        error: SchemaError,
    },
    /// It has more than one input.
    #[error("[tool.two-inputs] {0}: a tool has one input: put both in one #[dto]")]
    TwoInputs(String),
    /// It takes the approval of calls that nobody approves.
    #[error(
        "[tool.approved-without-approval] {0} takes `Approved` and names no approval: add `approval = ..`"
    )]
    ApprovedWithoutApproval(String),
    /// An environment name that no shell could set.
    #[error(
        "[tool.env-name-invalid] {tool}: {name:?} is no name of an environment variable: letters, digits and `_`, no digit first"
    )]
    EnvName {
        /// The tool.
        tool: String,
        /// The name.
        name: String,
    },
    /// It takes a service that nobody gave.
    #[error("[di.missing-service] {tool} takes a {service}: give it with .provide(..)")]
    MissingService {
        /// The tool.
        tool: String,
        /// The service's type.
        service: &'static str,
    },
}

/// A tool that can be called: checked, its validators compiled, its services found. Clones share it.
#[derive(Clone)]
pub struct BoundTool {
    inner: Arc<Inner>,
    timeout: Duration,
}

struct Inner {
    tool: Arc<dyn Tool>,
    name: ToolName,
    spec: ToolSpec,
    input: Checker,
    output: Option<Checker>,
    definition: ToolDefinition,
    definition_hash: Digest,
    services: Services,
}

/// Checks a tool and binds it to the services.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn bind(tool: Arc<dyn Tool>, services: &Services) -> Result<BoundTool, Vec<BindError>> {
    let spec = tool.spec();
    let mut errors = Vec::new();
    let name = ToolName::new(&spec.name).map_err(|error| errors.push(error.into()));
    let input = checker(&spec, "input", &spec.input, &mut errors);
    let output = spec
        .output
        .as_ref()
        .map(|shape| checker(&spec, "output", shape, &mut errors));
    check_declaration(&spec, &mut errors);
    check_needs(&spec, services, &mut errors);
    let (Ok(name), Some(input), None | Some(Some(_)), true) =
        (name, input, &output, errors.is_empty())
    else {
        return Err(errors);
    };
    let definition = ToolDefinition {
        name: spec.name.to_string(),
        description: spec.description.to_string(),
        input_schema: spec.input.schema().clone(),
    };
    let timeout = spec.timeout;
    let inner = Inner {
        tool,
        name,
        input,
        output: output.flatten(),
        definition_hash: definition_hash(&definition),
        definition,
        services: services.clone(),
        spec,
    };
    Ok(BoundTool {
        inner: Arc::new(inner),
        timeout,
    })
}

/// The digest of everything a model sees of a tool: an approval given for one definition is not one for another.
#[must_use]
pub fn definition_hash(definition: &ToolDefinition) -> Digest {
    Digest::of_parts(&[
        definition.name.as_bytes(),
        definition.description.as_bytes(),
        canonical_json(&definition.input_schema).as_bytes(),
    ])
}

fn checker(
    spec: &ToolSpec,
    side: &'static str,
    shape: &Shape,
    errors: &mut Vec<BindError>,
) -> Option<Checker> {
    let is_object = shape
        .schema()
        .get("type")
        .is_some_and(|kind| kind == "object");
    let checked = match side == "input" && !is_object {
        true => Err(SchemaError::NotAnObject),
        false => Checker::new(shape),
    };
    let tool = spec.name.to_string();
    checked
        .map_err(|error| errors.push(BindError::Schema { tool, side, error }))
        .ok()
}

fn check_declaration(spec: &ToolSpec, errors: &mut Vec<BindError>) {
    let tool = || spec.name.to_string();
    let bytes = spec.description.len();
    if spec.description.trim().is_empty() {
        errors.push(BindError::NoDescription(tool()));
    }
    if bytes > DESCRIPTION_BYTES_MAX {
        errors.push(BindError::LongDescription {
            tool: tool(),
            bytes,
        });
    }
    let limits = limit_errors(&spec.name, spec.timeout, spec.max_result_size, spec.effect);
    errors.extend(limits.into_iter().map(BindError::Limit));
    if let Some(Err(error)) = spec.reserve.as_ref().map(leasehold_types::Amount::money) {
        errors.push(BindError::Reserve {
            tool: tool(),
            error,
        });
    }
    if let Some(approval) = &spec.approval
        && let Err(error) = check_name(Kind::Channel, approval.role().name)
    {
        errors.push(error.into());
    }
    for name in spec.env.iter().filter(|name| !is_env_name(name)) {
        let name = name.to_string();
        errors.push(BindError::EnvName { tool: tool(), name });
    }
}

fn check_needs(spec: &ToolSpec, services: &Services, errors: &mut Vec<BindError>) {
    let tool = || spec.name.to_string();
    if spec.needs.inputs.len() > 1 {
        errors.push(BindError::TwoInputs(tool()));
    }
    if spec.needs.approved && spec.approval.is_none() {
        errors.push(BindError::ApprovedWithoutApproval(tool()));
    }
    for key in spec
        .needs
        .services
        .iter()
        .filter(|key| !services.has(**key))
    {
        let service = key.name();
        errors.push(BindError::MissingService {
            tool: tool(),
            service,
        });
    }
}

fn is_env_name(name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty()
        && name.bytes().all(is_word)
        && !name.starts_with(|first: char| first.is_ascii_digit())
}

impl BoundTool {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &ToolName {
        &self.inner.name
    }

    /// What it is.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.inner.spec
    }

    /// What a model sees of it.
    #[must_use]
    pub fn definition(&self) -> &ToolDefinition {
        &self.inner.definition
    }

    /// The digest of its definition.
    #[must_use]
    pub fn definition_hash(&self) -> Digest {
        self.inner.definition_hash
    }

    /// How long one attempt may take.
    #[must_use]
    pub const fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The same tool with another timeout, as tests set it.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    pub(crate) fn input(&self) -> &Checker {
        &self.inner.input
    }

    pub(crate) fn output(&self) -> Option<&Checker> {
        self.inner.output.as_ref()
    }

    pub(crate) fn services(&self) -> &Services {
        &self.inner.services
    }

    pub(crate) fn tool(&self) -> &Arc<dyn Tool> {
        &self.inner.tool
    }
}

impl fmt::Debug for BoundTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoundTool")
            .field("name", &self.inner.name)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
