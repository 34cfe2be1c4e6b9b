//! A tool: one declaration of everything there is to know about it, and its body.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use leasehold_types::{Amount, BoxFuture, Effect, Size};
use serde::Serialize;
use serde_json::Value;

use crate::dto::{NoArguments, ToolOutput};
use crate::error::ToolError;
use crate::extract::{FromCall, Needs, ToolCall};
use crate::limits::DEFAULT_TIMEOUT;
use crate::role::Approval;
use crate::schema::Shape;

/// A tool's body under way.
pub type ToolFuture = BoxFuture<'static, Result<Value, ToolError>>;

/// Something an agent may call. `#[tool]` writes it for a function; write it yourself for tools made at run time.
///
/// Both forms are bound, validated, timed and reported by the same code.
pub trait Tool: Send + Sync + 'static {
    /// What the tool is. Asked once, at assembly, and the same each time.
    fn spec(&self) -> ToolSpec;

    /// Starts the body. The arguments fit the input's schema.
    ///
    /// The future is dropped at its timeout, on cancel and when the lease is lost: what must last is not left to its end.
    /// A tool whose spec says [`Body::Blocking`] is done when this returns: its future is ready at the first poll.
    fn call(&self, call: ToolCall) -> ToolFuture;
}

/// How a tool's body runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// It awaits; it can be dropped at each `.await`.
    Async,
    /// It computes or blocks; it runs beside the runtime and cannot be stopped, only given up.
    Blocking,
}

/// Whether other calls of the same turn may run beside a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Company {
    /// They may.
    Parallel,
    /// It runs alone.
    Exclusive,
}

/// What a tool's own failure means for the execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnError {
    /// The model reads it and goes on.
    Tell,
    /// The execution ends as failed, once its siblings' outcomes are journaled.
    Throw,
}

/// Everything there is to know about a tool.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Its name, such as `refund-card-tool`.
    pub name: Cow<'static, str>,
    /// What it does, for the model and for people.
    pub description: Cow<'static, str>,
    /// What a second run would do.
    pub effect: Effect,
    /// What its arguments look like.
    pub input: Shape,
    /// What its results look like; none for tools that say nothing about it.
    pub output: Option<Shape>,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// How much of a result the model reads; none: the workflow's default.
    pub max_result_size: Option<Size>,
    /// Whom a call waits for.
    pub approval: Option<Approval>,
    /// How its body runs.
    pub body: Body,
    /// Whether its calls run alone.
    pub company: Company,
    /// What its own failure means.
    pub on_error: OnError,
    /// The money a call may use, reserved before it starts.
    pub reserve: Option<Amount>,
    /// Names of the environment variables it needs.
    pub env: Vec<Cow<'static, str>>,
    /// What its parameters need.
    pub needs: Needs,
}

impl ToolSpec {
    /// A tool without arguments and with the default of everything else.
    #[must_use]
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        effect: Effect,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            effect,
            input: Shape::of::<NoArguments>(),
            output: None,
            timeout: DEFAULT_TIMEOUT,
            max_result_size: None,
            approval: None,
            body: Body::Async,
            company: Company::Parallel,
            on_error: OnError::Tell,
            reserve: None,
            env: Vec::new(),
            needs: Needs::default(),
        }
    }

    /// Says that the body takes a `P`; an [`crate::Input`] sets the input's shape.
    #[must_use]
    pub fn takes<P: FromCall>(mut self) -> Self {
        P::needs(&mut self.needs);
        if let Some(input) = self.needs.inputs.last() {
            self.input = input.clone();
        }
        self
    }

    /// Says that the body returns a `T`.
    #[must_use]
    pub fn returns<T: ToolOutput>(mut self) -> Self {
        self.output = Some(Shape::of::<T>());
        self
    }
}

/// What a model sees of a tool, and nothing else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Value,
}

/// What a model sees of `tool`.
#[must_use]
pub fn tool_definition(tool: &dyn Tool) -> ToolDefinition {
    let spec = tool.spec();
    ToolDefinition {
        name: spec.name.into_owned(),
        description: spec.description.into_owned(),
        input_schema: spec.input.schema().clone(),
    }
}

impl<T: Tool + ?Sized> Tool for Arc<T> {
    fn spec(&self) -> ToolSpec {
        self.as_ref().spec()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        self.as_ref().call(call)
    }
}

impl<T: Tool + ?Sized> Tool for Box<T> {
    fn spec(&self) -> ToolSpec {
        self.as_ref().spec()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        self.as_ref().call(call)
    }
}
