//! The whole stack as an application runs it: embedded or memory store, local leases, a scripted model, an echo tool.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use leasehold_actors::{
    Agent, AgentTool, Agents, Ask, Channel, ChannelError, Channels, Deps, Ignore, Node, NodeConfig,
    OsRandom, Sent, StartRequest, SystemClock, TokioPool,
};
use leasehold_execution::{AfterAnswer, Limits, Plan, PlannedApproval, PlannedTool};
use leasehold_journal::Store;
use leasehold_journal::embedded::{EmbeddedConfig, EmbeddedStore};
use leasehold_lease::{Expiry, Holder, LeaseStore as _, LocalLeaseStore, OpenOutcome, OpenSession};
use leasehold_models::{
    Message, Model as _, ModelRequest, Price, Scripted, ToolDefinitionRef, Turn,
};
use leasehold_tools::{ResultBound, Services, Shape, Tool, ToolCall, ToolError, ToolSpec, bind};
use leasehold_types::{
    Answerer, BootId, BoxFuture, ComponentName, Digest, Effect, InstanceId, Money, Owner,
    Principal, PrincipalKind, Random as _, Tenant,
};
use serde_json::{Value, json};

/// Tool calls of one execution; each is one turn.
pub(crate) const CALLS: usize = 10;
/// Durable outcomes of one execution: an answer for each call, the call's result, and the last answer.
pub(crate) const STEPS: usize = 2 * CALLS + 1;
/// Bytes of an echo call's argument.
pub(crate) const ECHO_BYTES: usize = 200;

struct Echo;

impl Tool for Echo {
    fn spec(&self) -> ToolSpec {
        let text = json!({"type": "string", "description": "What to say again."});
        let schema = json!({
            "type": "object", "properties": {"text": text}, "required": ["text"],
            "additionalProperties": false,
        });
        let mut spec = ToolSpec::new("echo-tool", "Says it again.", Effect::Pure);
        spec.input = Shape::raw(schema);
        spec
    }

    fn call(&self, call: ToolCall) -> BoxFuture<'static, Result<Value, ToolError>> {
        Box::pin(std::future::ready(Ok(Value::clone(call.arguments()))))
    }
}

/// What the executions of a stack do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Load {
    /// Echo calls, one a turn, then the answer.
    Echoes(usize),
    /// One echo call that waits for an approval.
    Waits,
}

fn script(load: Load) -> Scripted {
    let text: Arc<str> = "x".repeat(ECHO_BYTES).into();
    let arguments: Arc<str> = json!({"text": &*text}).to_string().into();
    let calls = match load {
        Load::Echoes(calls) => calls,
        Load::Waits => 1,
    };
    Scripted::from_fn(move |request: &ModelRequest| {
        // Each turn adds an answer and a result to the first message.
        let answered = request.messages.len() / 2;
        match request.messages.last() {
            Some(Message::Assistant { .. }) | None => Turn::say("Done."),
            Some(_) if answered < calls => Turn::call_raw("echo-tool", Arc::clone(&arguments)),
            Some(_) => Turn::say("Done."),
        }
    })
}

#[derive(Debug)]
struct One(Arc<Agent>);

impl Agents for One {
    fn agent(&self, _: &str, _: &str) -> Option<Arc<Agent>> {
        Some(Arc::clone(&self.0))
    }
    fn names(&self) -> Vec<String> {
        vec![self.0.name.to_string()]
    }
}

#[derive(Debug)]
struct Waits;

impl Channel for Waits {
    fn name(&self) -> &str {
        "waits"
    }
    fn send(&self, _: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

#[derive(Debug)]
struct AllWait;

impl Channels for AllWait {
    fn channel(&self, _: &str) -> Option<Arc<dyn Channel>> {
        Some(Arc::new(Waits))
    }
}

fn agent(load: Load) -> anyhow::Result<Agent> {
    let bound =
        bind(Arc::new(Echo), &Services::new()).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
    let tool = AgentTool {
        bound,
        result_bound: ResultBound::resolve(None, None, None),
    };
    let definition = tool.bound.definition();
    let schema = Arc::new(definition.input_schema.clone());
    let seen = ToolDefinitionRef::new(
        definition.name.as_str(),
        definition.description.as_str(),
        schema,
    );
    let approval = (load == Load::Waits).then(|| PlannedApproval {
        role: "boss-channel".to_owned(),
        answerer: Answerer::Channel,
    });
    let planned = PlannedTool {
        definition: tool.bound.definition_hash(),
        effect: Effect::Pure,
        exclusive: false,
        reserve: Money::ZERO,
        attempts_max: 1,
        approval,
        review: Arc::new(Gate {
            tool: tool.clone(),
            asks: load == Load::Waits,
        }),
    };
    let model = script(load);
    let name = ComponentName::new("echo").context("a valid name")?;
    let plan = Plan {
        workflow: "echo".to_owned(),
        agent: "echo".to_owned(),
        config_hash: Digest::of(b"bench"),
        model: model.name().to_owned(),
        price: Some(Price::FREE),
        max_output_tokens: 1_000,
        fixed_bytes: 100,
        tools: BTreeMap::from([("echo-tool".to_owned(), planned)]),
        limits: Limits {
            tool_calls: u32::MAX,
            model_calls: u32::MAX,
            ..Limits::default()
        },
        budget: None,
        after_answer: AfterAnswer::End,
        approval_expires_after: None,
    };
    Ok(Agent {
        plan: Arc::new(plan),
        workflow: name.clone(),
        name,
        model: Arc::new(model),
        instructions: "Echo.".into(),
        definitions: [seen].into(),
        tools: BTreeMap::from([("echo-tool".to_owned(), tool)]),
    })
}

/// The tool's own review, and a question where the load waits.
struct Gate {
    tool: AgentTool,
    asks: bool,
}

impl leasehold_execution::Review for Gate {
    fn review(&self, raw: &str) -> Result<leasehold_execution::Reviewed, String> {
        self.tool.review(raw)
    }
    fn asks(&self, _: &leasehold_execution::Reviewed) -> bool {
        self.asks
    }
}

/// Opens the embedded store in `directory`.
pub(crate) fn embedded(directory: &Path) -> anyhow::Result<Arc<EmbeddedStore>> {
    let fatal = Arc::new(|_| std::process::abort());
    let opened = EmbeddedStore::open(
        &EmbeddedConfig::at(directory),
        BootId::new(&OsRandom),
        fatal,
    )?;
    Ok(Arc::new(opened.store))
}

/// Starts an instance on a store.
pub(crate) async fn node(store: Arc<dyn Store>, load: Load) -> anyhow::Result<Node> {
    let clock = Arc::new(SystemClock);
    let leases = Arc::new(LocalLeaseStore::new(clock.clone(), Expiry::Never));
    let boot = BootId::from_u128(u128::from(OsRandom.next_u64()));
    let instance = InstanceId::new("bench");
    let holder = Holder {
        instance: instance.clone(),
        boot,
    };
    let open = OpenSession {
        holder,
        ttl: Duration::from_secs(15),
        card: vec![],
    };
    let OpenOutcome::Opened { session, .. } = leases.open_session(open).await else {
        anyhow::bail!("the local lease store opens a session");
    };
    let node = Node::spawn(Deps {
        store,
        leases,
        session,
        clock,
        random: Arc::new(OsRandom),
        agents: Arc::new(One(Arc::new(agent(load)?))),
        channels: Arc::new(AllWait),
        pool: Arc::new(TokioPool::new(tokio::runtime::Handle::current())),
        instance,
        boot,
        observer: Arc::new(Ignore),
        config: NodeConfig::default(),
    })
    .await?;
    Ok(node)
}

/// A start of one execution.
pub(crate) fn request() -> StartRequest {
    StartRequest {
        agent: "echo".to_owned(),
        input: "Say it.".to_owned(),
        owner: Owner::new("bench"),
        tenant: Tenant::default(),
        thread: None,
        started_by: Principal::new("bench", PrincipalKind::Service),
        idempotency_key: None,
    }
}
