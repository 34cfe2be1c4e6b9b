//! An application for tests: tools that count, a channel that remembers, a clock that is moved by hand.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold_actors::{Agent, AgentTool, Agents, Ask, Channel, ChannelError, Channels, Sent};
use leasehold_execution::{
    AfterAnswer, Limits, Plan, PlannedApproval, PlannedTool, Review, Reviewed,
};
use leasehold_models::{Model, Price, ToolDefinitionRef};
use leasehold_tools::{ResultBound, Services, Tool, ToolCall, ToolFuture, ToolSpec, bind};
use leasehold_types::{
    Answerer, BoxFuture, Clock, ComponentName, Digest, Effect, Money, Timestamp, Uptime,
};
use serde_json::json;
use tokio::sync::Notify;

/// A clock that stands until it is moved.
#[derive(Debug)]
pub(crate) struct HandClock {
    micros: Arc<AtomicI64>,
    moved: Arc<Notify>,
}

/// 2026-12-01, so that ids look like real ones.
const START: i64 = 1_796_083_200_000_000;

impl HandClock {
    pub(crate) fn new() -> Self {
        Self {
            micros: Arc::new(AtomicI64::new(START)),
            moved: Arc::default(),
        }
    }

    pub(crate) fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).unwrap();
        self.micros.fetch_add(by, Ordering::SeqCst);
        self.moved.notify_waiters();
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.load(Ordering::SeqCst))
    }

    fn uptime(&self) -> Uptime {
        Uptime::from_micros(self.micros.load(Ordering::SeqCst).unsigned_abs())
    }

    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        let until = self.now().plus(after).as_micros();
        let (micros, moved) = (Arc::clone(&self.micros), Arc::clone(&self.moved));
        Box::pin(async move {
            loop {
                let mut woken = std::pin::pin!(moved.notified());
                woken.as_mut().enable();
                if micros.load(Ordering::SeqCst) >= until {
                    return;
                }
                woken.await;
            }
        })
    }
}

/// What the tools did, over all instances: the world outside.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// The idempotency key of each run, in order.
    keys: Mutex<Vec<String>>,
    /// Runs that began.
    pub(crate) began: AtomicUsize,
    /// Told at the beginning of each run.
    pub(crate) begun: Notify,
    /// Opened by a test for runs that wait.
    pub(crate) gate: Notify,
}

impl Outside {
    pub(crate) fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clone()
    }
}

/// What a tool's run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// Has its effect and ends.
    Counts,
    /// Waits for the gate the first time it is run, then has its effect.
    Waits,
}

pub(crate) struct OutsideTool {
    name: &'static str,
    effect: Effect,
    run: Run,
    outside: Arc<Outside>,
}

impl Tool for OutsideTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(self.name, "Does something outside.", self.effect)
            .takes::<leasehold_tools::CallContext>()
    }

    fn call(&self, call: ToolCall) -> ToolFuture {
        let (outside, run) = (Arc::clone(&self.outside), self.run);
        Box::pin(async move {
            let context: leasehold_tools::CallContext = call.take()?;
            let before = outside.began.fetch_add(1, Ordering::SeqCst);
            outside.begun.notify_one();
            if run == Run::Waits && before == 0 {
                outside.gate.notified().await;
            }
            let key = context.idempotency_key().to_string();
            outside.keys.lock().unwrap().push(key);
            Ok(json!({"done": true}))
        })
    }
}

/// A channel that asks nobody and remembers what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Asked(pub(crate) Mutex<Vec<Ask>>);

impl Channel for Asked {
    fn name(&self) -> &'static str {
        "asked"
    }

    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        self.0.lock().unwrap().push(ask);
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

/// The application of a test: one agent.
#[derive(Debug)]
pub(crate) struct One {
    pub(crate) agent: Arc<Agent>,
    pub(crate) channel: Arc<Asked>,
    pub(crate) outside: Arc<Outside>,
}

impl Agents for One {
    fn agent(&self, workflow: &str, _: &str) -> Option<Arc<Agent>> {
        (workflow == "helper").then(|| Arc::clone(&self.agent))
    }
    fn names(&self) -> Vec<String> {
        vec!["helper".to_owned()]
    }
}

impl Channels for One {
    fn channel(&self, role: &str) -> Option<Arc<dyn Channel>> {
        (role == "boss-channel").then(|| Arc::clone(&self.channel) as _)
    }
}

/// How an agent's tools are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tools {
    /// What the effect tool does.
    pub(crate) run: Run,
    /// Whether the effect tool waits for a decision.
    pub(crate) is_asked: bool,
    /// When the approval expires.
    pub(crate) expires_after: Option<Duration>,
}

impl Tools {
    pub(crate) const PLAIN: Self = Self {
        run: Run::Counts,
        is_asked: false,
        expires_after: None,
    };
    pub(crate) const ASKED: Self = Self {
        is_asked: true,
        ..Self::PLAIN
    };
}

struct Asks(AgentTool, bool);

impl Review for Asks {
    fn review(&self, raw: &str) -> Result<Reviewed, String> {
        self.0.review(raw)
    }
    fn asks(&self, _: &Reviewed) -> bool {
        self.1
    }
}

impl fmt::Debug for OutsideTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// An agent with `read-tool`, and `effect-tool` as the test wants it.
pub(crate) fn one(model: Arc<dyn Model>, tools: Tools) -> One {
    let outside = Arc::new(Outside::default());
    let made = |name, effect, run| OutsideTool {
        name,
        effect,
        run,
        outside: Arc::clone(&outside),
    };
    let week = Effect::idempotent(Duration::from_secs(7 * 86_400));
    let listed = [
        (made("read-tool", Effect::Read, Run::Counts), false),
        (made("effect-tool", week, tools.run), tools.is_asked),
    ];
    let bound: Vec<(AgentTool, bool)> = listed
        .into_iter()
        .map(|(tool, is_asked)| (agent_tool(tool), is_asked))
        .collect();
    let agent = assembled(model, &bound, tools.expires_after);
    One {
        agent: Arc::new(agent),
        channel: Arc::default(),
        outside,
    }
}

fn agent_tool(tool: OutsideTool) -> AgentTool {
    AgentTool {
        bound: bind(Arc::new(tool), &Services::new()).unwrap(),
        result_bound: ResultBound::resolve(None, None, None),
    }
}

fn planned((tool, is_asked): &(AgentTool, bool)) -> (String, PlannedTool) {
    let planned = PlannedTool {
        definition: tool.bound.definition_hash(),
        effect: tool.bound.spec().effect,
        exclusive: false,
        reserve: Money::ZERO,
        attempts_max: 3,
        approval: is_asked.then(|| PlannedApproval {
            role: "boss-channel".to_owned(),
            answerer: Answerer::Channel,
        }),
        review: Arc::new(Asks(tool.clone(), *is_asked)),
    };
    (tool.bound.name().to_string(), planned)
}

fn assembled(
    model: Arc<dyn Model>,
    tools: &[(AgentTool, bool)],
    expires_after: Option<Duration>,
) -> Agent {
    let definitions = tools.iter().map(|(tool, _)| {
        let definition = tool.bound.definition();
        let schema = Arc::new(definition.input_schema.clone());
        ToolDefinitionRef::new(
            definition.name.as_str(),
            definition.description.as_str(),
            schema,
        )
    });
    let by_name: BTreeMap<String, AgentTool> = tools
        .iter()
        .map(|(tool, _)| (tool.bound.name().to_string(), tool.clone()))
        .collect();
    let plan = Plan {
        workflow: "helper".to_owned(),
        agent: "helper".to_owned(),
        config_hash: Digest::of(b"config"),
        model: model.name().to_owned(),
        price: Some(Price::FREE),
        max_output_tokens: 100,
        fixed_bytes: 0,
        tools: tools.iter().map(planned).collect(),
        limits: Limits::default(),
        budget: None,
        after_answer: AfterAnswer::End,
        approval_expires_after: expires_after,
    };
    Agent {
        plan: Arc::new(plan),
        workflow: ComponentName::new("helper").unwrap(),
        name: ComponentName::new("helper").unwrap(),
        model,
        instructions: "Help.".into(),
        definitions: definitions.collect(),
        tools: by_name,
    }
}
