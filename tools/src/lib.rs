//! What an agent may call: names, schemas, arguments, results, result limits.
//!
//! A tool is declared in one place, checked when the application is assembled, and called through [`invoke`] alone.
//! The crate holds no async runtime and no socket: time comes from the frame's clock, threads from its pool.

mod arguments;
mod bind;
mod bound;
mod canonical;
mod const_text;
mod context;
mod describe;
mod dto;
mod error;
mod extract;
mod guard;
mod invoke;
mod issue;
mod limits;
mod name;
mod offload;
mod outcome;
mod role;
mod schema;
mod services;
mod spend;
mod tool;
mod toolbox;
mod wire;

#[doc(hidden)]
pub mod __private;

pub use arguments::{Arguments, CanonicalArguments, RawArguments, approval_digest, review};
pub use bind::{BindError, BoundTool, DESCRIPTION_BYTES_MAX, bind, definition_hash};
pub use bound::{BUILT_IN_BOUND, BoundSource, Cut, ResultBound, bound};
pub use canonical::{canonical_digest, canonical_json};
pub use context::{CallContext, CallFacts};
pub use describe::{ToolLine, unassigned_tools};
pub use dto::{Dto, NoArguments, PlainText, ToolOutput, decode, decode_value, schema_of};
pub use error::{ToolError, ToolResult};
pub use extract::{ApprovalRecord, Approved, Dep, FromCall, Input, Needs, ToolCall};
pub use guard::{GuardError, PublicUrl, RelPath};
pub use invoke::{CallFrame, invoke};
pub use issue::{InvalidInput, Issue, Issues};
pub use limits::{DEFAULT_TIMEOUT, LimitError, RETENTION_MAX, TIMEOUT_MAX};
pub use name::{
    DuplicateNameError, Kind, NameError, NameRole, NamedTool, ToolName, answer_tool_name,
    check_name, duplicate_names,
};
pub use offload::BlockingPool;
pub use outcome::{CallEnd, CallOutcome};
pub use role::{Approval, ApprovalRole, Approves, QuestionRole, Role, RoleForm, RoleInfo};
pub use schema::{Checker, SchemaError, Shape};
pub use services::{ServiceKey, Services};
pub use spend::{Spend, SpendError};
pub use tool::{
    Body, Company, OnError, Tool, ToolDefinition, ToolFuture, ToolSpec, tool_definition,
};
pub use toolbox::{Toolbox, UnknownToolError};
pub use wire::ToolOutcome;
