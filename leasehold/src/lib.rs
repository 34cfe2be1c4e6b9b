//! Runs AI agents the way a bank runs payments.
//!
//! The facade: what people depend on. A program declares an [`App`] as a plain value; it is checked as a whole, put together,
//! and run by an instance. Nothing here decides what an execution does.

// What the macros write names this crate from outside; its own tests use them too.
#[cfg(test)]
extern crate self as leasehold;

mod agent;
mod app;
mod assemble;
mod channels;
mod cli;
mod describe;
mod escape;
mod place;
mod question;
mod runtime;

#[doc(hidden)]
pub use leasehold_tools::__private;

pub use leasehold_actors::{
    Ask, Channel, ChannelError, DecideError, Node, PauseTarget, Sent, StartError, StartRequest,
};
pub use leasehold_execution::machine::{DecisionReply, Verdict};
#[cfg(feature = "providers")]
pub use leasehold_models::{Dialect, Endpoint};
pub use leasehold_models::{Model, Price, Scripted, Turn};
pub use leasehold_tools::{Role, Services, Shape, Tool, ToolCall, ToolFuture, ToolSpec};

pub use agent::Agent;
pub use app::{App, DEFAULT_ENVIRONMENT};
pub use assemble::Assembly;
pub use assemble::error::{CheckError, CheckErrors, Nearest, UnknownAgentToolError};
pub use channels::{AutoApprove, AutoReject, Terminal};
pub use describe::{
    AgentDescription, DESCRIPTION_SCHEMA, Description, LimitsDescription, RoleDescription, Schemas,
    ToolDescription, ToolSchema,
};
pub use place::Place;
pub use question::{shown_arguments, shown_question};
pub use runtime::{RunError, Runtime};

/// What a program that declares tools and agents imports.
pub mod prelude {
    pub use std::process::ExitCode;

    pub use leasehold_macros::{dto, role, tool};
    pub use leasehold_tools::{
        Approved, CallContext, Dep, Input, PlainText, Spend, ToolError, ToolResult,
    };
    pub use leasehold_types::{cents, days, hours, kilobytes, milliseconds, minutes, seconds, usd};

    pub use crate::{Agent, App, AutoApprove, AutoReject, Terminal};
}
