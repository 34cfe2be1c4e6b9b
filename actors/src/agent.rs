//! An agent as it runs: its plan for the machine, and what the plan's steps are carried out with.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use leasehold_execution::{Plan, Review, Reviewed};
use leasehold_models::{Model, ToolDefinitionRef};
use leasehold_tools::{BoundTool, ResultBound, review};
use leasehold_types::{ComponentName, Digest};

/// An agent, assembled.
#[derive(Debug, Clone)]
pub struct Agent {
    /// What the machine knows of it.
    pub plan: Arc<Plan>,
    /// The workflow it runs in.
    pub workflow: ComponentName,
    /// Its name.
    pub name: ComponentName,
    /// The model it asks.
    pub model: Arc<dyn Model>,
    /// What it is told before the conversation.
    pub instructions: Arc<str>,
    /// Its tools as the model sees them.
    pub definitions: Arc<[ToolDefinitionRef]>,
    /// Its tools by name.
    pub tools: BTreeMap<String, AgentTool>,
}

/// A tool of an agent.
#[derive(Debug, Clone)]
pub struct AgentTool {
    /// The tool, with its services.
    pub bound: BoundTool,
    /// How much of a result the model reads.
    pub result_bound: ResultBound,
}

/// Finds the agent of an execution.
pub trait Agents: Send + Sync + fmt::Debug {
    /// The agent that runs a workflow, if this instance has it.
    fn agent(&self, workflow: &str, agent: &str) -> Option<Arc<Agent>>;

    /// The names of all agents, in order.
    fn names(&self) -> Vec<String>;
}

/// Reviews arguments by the tool itself.
impl Review for AgentTool {
    fn review(&self, raw: &str) -> Result<Reviewed, String> {
        let arguments = review(&self.bound, raw).map_err(|invalid| invalid.to_string())?;
        let digest = Digest::of(arguments.text().as_bytes());
        Ok(Reviewed {
            canonical: arguments.text().to_owned(),
            digest,
        })
    }

    fn asks(&self, reviewed: &Reviewed) -> bool {
        let Some(approval) = &self.bound.spec().approval else {
            return false;
        };
        // What cannot be read back is somebody's business: ask.
        serde_json::from_str(&reviewed.canonical).map_or(true, |value| approval.is_needed(&value))
    }
}
