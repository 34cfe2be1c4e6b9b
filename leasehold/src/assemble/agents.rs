//! Agents: each is checked as far as it goes, and put together where all of it is sound.

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_actors::{Agent as AssembledAgent, AgentTool};
use leasehold_execution::{Plan, PlannedApproval, PlannedTool};
use leasehold_models::ToolDefinitionRef;
use leasehold_tools::{BoundTool, Company, ResultBound};
use leasehold_types::{Amount, ComponentName, Money};

use super::error::{CheckError, Problems};
use super::hash::config_hash;
use super::limits;
use super::models::{Found, Models};
use super::tools::{Listed, bind_listed};
use crate::agent::Agent;
use crate::app::App;

/// The most attempts of one call, the first included, where its tool says that it may be tried again.
const CALL_ATTEMPTS_MAX: u32 = 3;

/// An agent that was checked: its tools, and itself where nothing is wrong.
pub(super) struct Draft {
    pub(super) tools: Vec<Listed>,
    complete: Option<Complete>,
}

/// An agent that was put together, and what there is to say about it.
#[derive(Debug)]
pub(crate) struct Complete {
    pub(crate) assembled: Arc<AssembledAgent>,
    /// Its tools in the order in which it lists them.
    pub(crate) order: Vec<String>,
    pub(crate) key_env: Option<String>,
    pub(crate) result_bound: ResultBound,
}

impl Draft {
    pub(super) fn complete(self) -> Option<Complete> {
        self.complete
    }
}

/// Checks one agent.
pub(super) fn assemble(
    app: &App,
    agent: &Agent,
    catalogue: &[Listed],
    models: &Models<'_>,
    problems: &mut Problems,
) -> Draft {
    let tools = bind_listed(app, agent, catalogue, problems);
    let budget = limits::check_agent(agent, problems);
    let instructions = instructions(agent, problems);
    let found = model(agent, models, problems);
    if let (Some(_), Some(found)) = (&agent.budget, &found)
        && found.model.price().is_none()
    {
        problems.push(CheckError::PriceUnknown {
            agent: agent.name.clone(),
            place: agent.place,
            model: agent.model.clone().unwrap_or_default(),
        });
    }
    // What is wrong with the name has been told.
    let name = ComponentName::new(agent.name.as_str()).ok();
    let bound: Option<Vec<BoundTool>> = tools.iter().map(|tool| tool.bound.clone()).collect();
    let complete = name.zip(bound).zip(instructions).zip(found);
    let complete = complete.map(|(((name, bound), instructions), found)| {
        let parts = Parts {
            app,
            agent,
            name,
            bound,
            instructions,
            found,
            budget,
        };
        parts.join()
    });
    Draft { tools, complete }
}

fn instructions(agent: &Agent, problems: &mut Problems) -> Option<Arc<str>> {
    let given = agent.instructions.clone();
    let given = given.filter(|text| !text.trim().is_empty());
    problems.take(given.ok_or_else(|| CheckError::NoInstructions {
        agent: agent.name.clone(),
        place: agent.place,
    }))
}

fn model(agent: &Agent, models: &Models<'_>, problems: &mut Problems) -> Option<Found> {
    let name = agent.model.as_deref().ok_or_else(|| CheckError::NoModel {
        agent: agent.name.clone(),
        place: agent.place,
    });
    problems.take(name.and_then(|name| models.find(agent, name)))
}

struct Parts<'a> {
    app: &'a App,
    agent: &'a Agent,
    name: ComponentName,
    bound: Vec<BoundTool>,
    instructions: Arc<str>,
    found: Found,
    budget: Option<Money>,
}

impl Parts<'_> {
    fn join(self) -> Complete {
        let definitions: Arc<[ToolDefinitionRef]> = self.bound.iter().map(definition).collect();
        let tools: BTreeMap<String, AgentTool> = self
            .bound
            .iter()
            .map(|tool| (tool.name().to_string(), self.agent_tool(tool)))
            .collect();
        let plan = self.plan(&definitions, &tools);
        let order = self.bound.iter().map(|tool| tool.name().to_string());
        Complete {
            order: order.collect(),
            key_env: self.found.key_env.clone(),
            result_bound: self.result_bound(None),
            assembled: Arc::new(AssembledAgent {
                plan: Arc::new(plan),
                workflow: self.name.clone(),
                name: self.name,
                model: self.found.model,
                instructions: self.instructions,
                definitions,
                tools,
            }),
        }
    }

    fn agent_tool(&self, tool: &BoundTool) -> AgentTool {
        AgentTool {
            bound: tool.clone(),
            result_bound: self.result_bound(tool.spec().max_result_size),
        }
    }

    /// An agent that runs by itself is its own workflow.
    fn result_bound(&self, own: Option<leasehold_types::Size>) -> ResultBound {
        let workflow = self
            .agent
            .max_result_size
            .map(|size| (self.name.as_str(), size));
        ResultBound::resolve(own, workflow, self.app.max_result_size)
    }

    fn plan(&self, definitions: &[ToolDefinitionRef], tools: &BTreeMap<String, AgentTool>) -> Plan {
        let agent = self.agent;
        let model = agent.model.clone().unwrap_or_default();
        let definition_bytes: u64 = definitions.iter().map(ToolDefinitionRef::bytes).sum();
        let planned = tools
            .iter()
            .map(|(name, tool)| (name.clone(), planned(tool)));
        Plan {
            workflow: self.name.to_string(),
            agent: self.name.to_string(),
            config_hash: config_hash(&model, &self.instructions, self.bound.iter()),
            model,
            price: self.found.model.price(),
            max_output_tokens: agent.max_output_tokens,
            fixed_bytes: definition_bytes.saturating_add(self.instructions.len() as u64),
            tools: planned.collect(),
            limits: agent.limits.clone(),
            budget: self.budget,
            after_answer: agent.after_answer,
            approval_expires_after: agent.approvals_expire_after,
        }
    }
}

fn definition(tool: &BoundTool) -> ToolDefinitionRef {
    let definition = tool.definition();
    ToolDefinitionRef::new(
        definition.name.as_str(),
        definition.description.as_str(),
        Arc::new(definition.input_schema.clone()),
    )
}

fn planned(tool: &AgentTool) -> PlannedTool {
    let spec = tool.bound.spec();
    let approval = spec.approval.as_ref().map(|approval| PlannedApproval {
        role: approval.role().name.to_owned(),
        answerer: approval.role().answered_by,
    });
    // Binding has refused a reserve that is no amount.
    let reserve = spec.reserve.as_ref().map(Amount::money);
    PlannedTool {
        definition: tool.bound.definition_hash(),
        effect: spec.effect,
        exclusive: spec.company == Company::Exclusive,
        reserve: reserve.and_then(Result::ok).unwrap_or(Money::ZERO),
        attempts_max: CALL_ATTEMPTS_MAX,
        approval,
        review: Arc::new(tool.clone()),
    }
}
