//! The application: the agent of the reference execution and one that kills its worker, put together by hand.

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_actors::{Agent, AgentTool, Agents, Ask, Channel, ChannelError, Channels, Sent};
use leasehold_execution::{
    AfterAnswer, Limits, Plan, PlannedApproval, PlannedTool, Review, Reviewed,
};
use leasehold_models::{Model, ToolDefinitionRef};
use leasehold_tools::{ResultBound, Services, Tool, bind};
use leasehold_types::{Answerer, BoxFuture, ComponentName, Digest, Money};

use crate::model::Provider;
use crate::outside::Outside;
use crate::tools::{APPROVED, SinkTool, poison, reference};

/// Far more than any run uses, crashes included; so that the budget is counted.
const BUDGET: Money = Money::from_micros(1_000_000_000);

/// The application's agents by name, and its one channel.
#[derive(Debug)]
pub(crate) struct Parts {
    agents: BTreeMap<&'static str, Arc<Agent>>,
    channel: Arc<Desk>,
}

impl Parts {
    /// The reference execution's agent, and one that kills its worker.
    pub(crate) fn new(outside: &Arc<Outside>) -> Self {
        let named = |tools: Vec<SinkTool>| {
            let paid = |tool: SinkTool| (tool.fee(), Arc::new(tool) as Arc<dyn Tool>);
            tools.into_iter().map(paid).collect()
        };
        let model = Arc::new(Provider::reference(outside));
        let reference = agent("reference", model, named(reference(outside)));
        let model = Arc::new(Provider::poison(outside));
        let poison = agent("poison", model, named(poison(outside)));
        Self::of([("reference", reference), ("poison", poison)], outside)
    }

    /// An application of these agents.
    pub(crate) fn of<const N: usize>(
        agents: [(&'static str, Agent); N],
        outside: &Arc<Outside>,
    ) -> Self {
        Self {
            agents: agents.map(|(name, agent)| (name, Arc::new(agent))).into(),
            channel: Arc::new(Desk(Arc::clone(outside))),
        }
    }
}

impl Agents for Parts {
    fn agent(&self, workflow: &str, _: &str) -> Option<Arc<Agent>> {
        self.agents.get(workflow).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.agents.keys().map(|name| (*name).to_owned()).collect()
    }
}

impl Channels for Parts {
    fn channel(&self, _: &str) -> Option<Arc<dyn Channel>> {
        Some(Arc::clone(&self.channel) as Arc<dyn Channel>)
    }
}

/// Where questions are put. The person looks at the executions themselves.
#[derive(Debug)]
struct Desk(Arc<Outside>);

impl Channel for Desk {
    fn name(&self) -> &str {
        "desk"
    }

    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        self.0.ask(&ask.reference.to_string());
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

/// An agent with tools and what each of their calls may cost, in micro-units.
pub(crate) fn agent(name: &str, model: Arc<dyn Model>, tools: Vec<(u64, Arc<dyn Tool>)>) -> Agent {
    let mut planned = BTreeMap::new();
    let mut bound = BTreeMap::new();
    for (fee, tool) in tools {
        let tool = AgentTool {
            bound: bind(tool, &Services::new()).unwrap(),
            result_bound: ResultBound::resolve(None, None, None),
        };
        let name = tool.bound.name().to_string();
        planned.insert(name.clone(), plan_of(&name, &tool, Money::from_micros(fee)));
        bound.insert(name, tool);
    }
    let plan = Plan {
        workflow: name.to_owned(),
        agent: name.to_owned(),
        config_hash: Digest::of(name.as_bytes()),
        model: model.name().to_owned(),
        price: model.price(),
        max_output_tokens: 100,
        fixed_bytes: 0,
        tools: planned,
        limits: Limits::default(),
        budget: Some(BUDGET),
        after_answer: AfterAnswer::End,
        approval_expires_after: None,
    };
    Agent {
        plan: Arc::new(plan),
        workflow: ComponentName::new(name).unwrap(),
        name: ComponentName::new(name).unwrap(),
        model,
        instructions: "Do it.".into(),
        definitions: bound.values().map(definition).collect(),
        tools: bound,
    }
}

fn plan_of(name: &str, tool: &AgentTool, reserve: Money) -> PlannedTool {
    let asks = name == APPROVED;
    let approval = PlannedApproval {
        role: "boss-channel".to_owned(),
        answerer: Answerer::Channel,
    };
    PlannedTool {
        definition: tool.bound.definition_hash(),
        effect: tool.bound.spec().effect,
        exclusive: false,
        reserve,
        attempts_max: 3,
        approval: asks.then_some(approval),
        review: Arc::new(Reviewer {
            tool: tool.clone(),
            asks,
        }),
    }
}

fn definition(tool: &AgentTool) -> ToolDefinitionRef {
    let definition = tool.bound.definition();
    let schema = Arc::new(definition.input_schema.clone());
    ToolDefinitionRef::new(
        definition.name.as_str(),
        definition.description.as_str(),
        schema,
    )
}

/// Reviews by the tool, and asks where the plan says so.
struct Reviewer {
    tool: AgentTool,
    asks: bool,
}

impl Review for Reviewer {
    fn review(&self, raw: &str) -> Result<Reviewed, String> {
        self.tool.review(raw)
    }

    fn asks(&self, _: &Reviewed) -> bool {
        self.asks
    }
}
