//! `describe`: what an application is, as data, as text and as JSON. Without network and without a key.
//!
//! - DESC-1: names of environment variables are printed, never a value.

mod build;
mod text;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The version of the JSON form. A field is only ever added; it rises when one changes its meaning or goes.
pub const DESCRIPTION_SCHEMA: u32 = 1;

/// What an application is. Sizes are bytes, times milliseconds, money whole micro-units of US dollars.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Description {
    /// [`DESCRIPTION_SCHEMA`].
    pub schema: u32,
    /// The application.
    pub app: String,
    /// The environment that was described.
    pub environment: String,
    /// All its environments.
    pub environments: Vec<String>,
    /// Its agents, in the order of the program.
    pub agents: Vec<AgentDescription>,
    /// The roles that tools wait for.
    pub roles: Vec<RoleDescription>,
    /// Tools that are offered and that no agent lists.
    pub unassigned_tools: Vec<String>,
    /// What models see.
    pub schemas: Schemas,
}

/// What models see.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Schemas {
    /// Tools by name; one that agents list under different bounds stands here as the first of them has it.
    pub tools: BTreeMap<String, ToolSchema>,
}

/// What a model sees of a tool, and how much it reads of a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ToolSchema {
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input: Value,
    /// The JSON Schema of its results, where it has one.
    pub output: Option<Value>,
    /// How much of a result the model reads, in bytes.
    pub max_result_size: u64,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AgentDescription {
    /// Its name.
    pub name: String,
    /// The model it asks.
    pub model: String,
    /// The environment variable with the model's key, where it needs one.
    pub model_key: Option<String>,
    /// How the model thinks.
    pub thinking: &'static str,
    /// What of the conversation the model reads.
    pub history: &'static str,
    /// What an answer without calls means: `ends` or `waits-for-a-message`.
    pub after_answer: &'static str,
    /// The most money of one execution.
    pub budget_micros: Option<u64>,
    /// Its limits.
    pub limits: LimitsDescription,
    /// How long an approval stays open; for ever if none.
    pub approvals_expire_after_ms: Option<u64>,
    /// How much it reads of results of tools without a bound of their own, in bytes.
    pub max_result_size: u64,
    /// Where that comes from: the agent's name, `application` or `built-in`.
    pub max_result_size_from: String,
    /// The hash of all that its model reads.
    pub config_hash: String,
    /// Its tools, in the order in which its model reads them.
    pub tools: Vec<ToolDescription>,
}

/// The limits of one execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LimitsDescription {
    /// The most tool calls.
    pub tool_calls: u32,
    /// The most model calls.
    pub model_calls: u32,
    /// How often the same failing call may be repeated in a row.
    pub identical_failing_calls: u32,
    /// The most calls at the same time.
    pub parallel_calls: u32,
    /// The most attempts of one model call.
    pub model_attempts: u32,
    /// The longest reply in bytes.
    pub reply_bytes: u64,
    /// The most tokens of one answer.
    pub output_tokens: u32,
    /// Whether a limit is followed by one last turn without tools.
    pub soft_landing: bool,
}

/// One tool of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolDescription {
    /// Its name.
    pub name: String,
    /// The tool in one line: name, effect, place, approval, environment, first sentence.
    pub line: String,
    /// What a second run would do: `pure`, `read`, `idempotent` or `write`.
    pub effect: &'static str,
    /// How long its key is remembered, where it is idempotent.
    pub key_retention_s: Option<u64>,
    /// Where it runs: `local`, or the name of an MCP server.
    pub place: String,
    /// The environment variables it needs.
    pub env: Vec<String>,
    /// The role whose approval it waits for.
    pub approval: Option<String>,
    /// How long one attempt may take.
    pub timeout_ms: u64,
    /// How much of a result this agent's model reads, in bytes.
    pub max_result_size: u64,
    /// Where that comes from: `own`, the agent's name, `application` or `built-in`.
    pub max_result_size_from: String,
}

/// A role that tools wait for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RoleDescription {
    /// Its name.
    pub name: String,
    /// What it decides.
    pub description: String,
    /// Who may answer: `thread-owner` or `channel`.
    pub answered_by: &'static str,
    /// The tools that wait for it.
    pub tools: Vec<String>,
    /// The channel in each environment.
    pub channels: BTreeMap<String, String>,
}

impl Description {
    /// The JSON form, in lines.
    #[must_use]
    pub fn json(&self) -> String {
        // Strings, numbers and maps with text keys: there is nothing JSON cannot hold.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}
