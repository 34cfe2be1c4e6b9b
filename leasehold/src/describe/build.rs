//! How a description is made from what was assembled.

use std::collections::BTreeMap;

use leasehold_actors::AgentTool;
use leasehold_execution::AfterAnswer;
use leasehold_tools::{BoundSource, ResultBound, ToolLine};
use leasehold_types::{Answerer, ComponentName, Effect, Money};

use super::{
    AgentDescription, DESCRIPTION_SCHEMA, Description, LimitsDescription, RoleDescription, Schemas,
    ToolDescription, ToolSchema,
};
use crate::app::App;
use crate::assemble::{Asked, Complete, Resolved};

/// Where tools run that are part of this program.
const LOCAL: &str = "local";

impl Description {
    pub(crate) fn of(
        app: &App,
        environment: &ComponentName,
        agents: &[Complete],
        asked: &BTreeMap<String, Asked>,
        channels: &Resolved,
        unassigned: Vec<String>,
    ) -> Self {
        Self {
            schema: DESCRIPTION_SCHEMA,
            app: app.name.clone(),
            environment: environment.to_string(),
            environments: app.environments().into_iter().map(str::to_owned).collect(),
            agents: agents.iter().map(agent).collect(),
            roles: asked.values().map(|asked| role(asked, channels)).collect(),
            unassigned_tools: unassigned,
            schemas: Schemas {
                tools: schemas(agents),
            },
        }
    }
}

fn agent(complete: &Complete) -> AgentDescription {
    let agent = &complete.assembled;
    let plan = &agent.plan;
    let limits = &plan.limits;
    let tools = complete
        .order
        .iter()
        .filter_map(|name| agent.tools.get(name));
    let (max_result_size, max_result_size_from) = bound(&complete.result_bound);
    AgentDescription {
        name: plan.agent.clone(),
        model: plan.model.clone(),
        model_key: complete.key_env.clone(),
        thinking: "as the model does by itself",
        history: "the whole conversation",
        after_answer: match plan.after_answer {
            AfterAnswer::End => "ends",
            AfterAnswer::AwaitMessage => "waits-for-a-message",
        },
        budget_micros: plan.budget.map(Money::micros),
        limits: LimitsDescription {
            tool_calls: limits.tool_calls,
            model_calls: limits.model_calls,
            identical_failing_calls: limits.identical_failing_calls,
            parallel_calls: limits.parallel_calls,
            model_attempts: limits.model_attempts,
            reply_bytes: limits.reply_bytes,
            output_tokens: plan.max_output_tokens,
            soft_landing: limits.soft_landing,
        },
        approvals_expire_after_ms: plan.approval_expires_after.map(millis),
        max_result_size,
        max_result_size_from,
        config_hash: plan.config_hash.to_string(),
        tools: tools.map(tool).collect(),
    }
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// The size in bytes, and who set it.
fn bound(bound: &ResultBound) -> (u64, String) {
    let from = match &bound.source {
        BoundSource::Own => "own",
        BoundSource::Workflow(name) => name,
        BoundSource::Application => "application",
        BoundSource::BuiltIn => "built-in",
    };
    (bound.size.as_bytes(), from.to_owned())
}

fn tool(tool: &AgentTool) -> ToolDescription {
    let spec = tool.bound.spec();
    let (max_result_size, max_result_size_from) = bound(&tool.result_bound);
    let approval = spec.approval.as_ref();
    ToolDescription {
        name: tool.bound.name().to_string(),
        line: ToolLine::new(&tool.bound, LOCAL).to_string(),
        effect: spec.effect.word(),
        key_retention_s: match spec.effect {
            Effect::Idempotent { retention_s } => Some(retention_s),
            Effect::Pure | Effect::Read | Effect::Write => None,
        },
        place: LOCAL.to_owned(),
        env: spec.env.iter().map(ToString::to_string).collect(),
        approval: approval.map(|approval| approval.role().name.to_owned()),
        timeout_ms: millis(tool.bound.timeout()),
        max_result_size,
        max_result_size_from,
    }
}

fn role(asked: &Asked, channels: &Resolved) -> RoleDescription {
    let role = &asked.role;
    let mine = channels.iter().filter(|((_, name), _)| name == role.name);
    RoleDescription {
        name: role.name.to_owned(),
        description: role.description.to_owned(),
        answered_by: match role.answered_by {
            Answerer::ThreadOwner => "thread-owner",
            Answerer::Channel => "channel",
        },
        tools: asked.tools.iter().cloned().collect(),
        channels: mine
            .map(|((environment, _), channel)| (environment.clone(), channel.name().to_owned()))
            .collect(),
    }
}

fn schemas(agents: &[Complete]) -> BTreeMap<String, ToolSchema> {
    let mut schemas = BTreeMap::new();
    for (name, tool) in agents.iter().flat_map(|agent| &agent.assembled.tools) {
        let spec = tool.bound.spec();
        schemas.entry(name.clone()).or_insert_with(|| ToolSchema {
            description: spec.description.to_string(),
            input: spec.input.schema().clone(),
            output: spec.output.as_ref().map(|shape| shape.schema().clone()),
            max_result_size: tool.result_bound.size.as_bytes(),
        });
    }
    schemas
}
