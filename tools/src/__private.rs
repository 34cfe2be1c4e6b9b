//! What the attributes' output names. Not for people: it changes without notice.

use serde_json::Value;

pub use {leasehold_types as types, schemars, serde, serde_json};

pub use crate as tools;
pub use crate::const_text::ConstText;
pub use crate::limits::{require_bound, require_effect, require_timeout};
pub use crate::name::{derived_name, require_name};
pub use crate::tool::ToolFuture;

use crate::dto::{Dto, ToolOutput, decode_value};
use crate::error::{ToolError, ToolResult};
use crate::extract::{FromCall, Input, ToolCall};
use crate::issue::InvalidInput;
use crate::role::{Approval, Approves};
use crate::tool::ToolSpec;

/// One parameter of a tool. The attribute names a parameter's type here only, so a wrong one is one error.
#[derive(Debug)]
pub struct Param<P> {
    needs: fn(ToolSpec) -> ToolSpec,
    make: fn(&ToolCall) -> Result<P, ToolError>,
}

impl<P> Param<P> {
    /// Adds what the parameter needs.
    #[must_use]
    pub fn declare(&self, spec: ToolSpec) -> ToolSpec {
        (self.needs)(spec)
    }

    /// Makes the parameter.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self, call: &ToolCall) -> Result<P, ToolError> {
        (self.make)(call)
    }
}

/// A parameter of type `P`.
#[must_use]
pub fn param<P: FromCall>() -> Param<P> {
    Param {
        needs: ToolSpec::takes::<P>,
        make: P::from_call,
    }
}

/// The parameter that holds a tool's arguments.
#[derive(Debug)]
pub struct InputParam<T> {
    param: Param<Input<T>>,
    read: fn(&Value) -> Result<T, InvalidInput>,
}

impl<T> InputParam<T> {
    /// Adds the input's shape.
    #[must_use]
    pub fn declare(&self, spec: ToolSpec) -> ToolSpec {
        self.param.declare(spec)
    }

    /// Makes the parameter.
    ///
    /// # Errors
    /// The arguments are none of the type's.
    pub fn make(&self, call: &ToolCall) -> Result<Input<T>, ToolError> {
        self.param.make(call)
    }

    /// Reads a tool's input in a test.
    ///
    /// # Panics
    /// The value is no valid input; the message lists every issue.
    #[must_use]
    #[track_caller]
    #[expect(
        clippy::panic,
        reason = "a wrong input is a mistake in the test that wrote it"
    )]
    pub fn read(&self, value: &Value) -> T {
        match (self.read)(value) {
            Ok(input) => input,
            Err(invalid) => panic!("{invalid}"),
        }
    }
}

/// The parameter `Input<T>`: the attribute names the type of the arguments here only.
#[must_use]
pub fn input<T: Dto>() -> InputParam<T> {
    InputParam {
        param: param::<Input<T>>(),
        read: decode_value::<T>,
    }
}

/// A tool's output. The attribute names its type here only.
#[derive(Debug)]
pub struct Output<T> {
    declare: fn(ToolSpec) -> ToolSpec,
    write: fn(T) -> Result<Value, ToolError>,
}

impl<T> Output<T> {
    /// Says what the tool returns.
    #[must_use]
    pub fn declare(&self, spec: ToolSpec) -> ToolSpec {
        (self.declare)(spec)
    }

    /// Writes what the tool returned.
    ///
    /// # Errors
    /// The tool's own, or a value that cannot be written.
    pub fn write(&self, result: ToolResult<T>) -> Result<Value, ToolError> {
        (self.write)(result?)
    }
}

/// An output of type `T`.
#[must_use]
pub fn output<T: ToolOutput>() -> Output<T> {
    Output {
        declare: ToolSpec::returns::<T>,
        write: |value| serde_json::to_value(value).map_err(ToolError::from),
    }
}

/// An approval by the role `R` of a tool whose input is `T`.
#[must_use]
pub fn approval<R: Approves<T>, T: Dto>() -> Approval {
    Approval::by::<R, T>()
}
