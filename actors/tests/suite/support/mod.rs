//! An instance for tests: store in memory, local leases, a scripted model and small tools.

pub(crate) mod clock;
pub(crate) mod store;
pub(crate) mod tools;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold_actors::{
    Agent, AgentTool, Agents, Ask, Channel, ChannelError, Channels, Deps, Ignore, Node, NodeConfig,
    NodeStats, Observer, OsRandom, PauseTarget, Sent, StartRequest, TokioPool, load,
};
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::record::{ClaimCause, Outcome};
use leasehold_execution::{
    AfterAnswer, Entry, Limits, Machine, Plan, PlannedApproval, PlannedTool, Record,
};
use leasehold_journal::{Letter, LetterId, Store};
use leasehold_lease::{Expiry, Holder, LeaseStore, LocalLeaseStore, OpenOutcome, OpenSession};
use leasehold_models::{Model, Price, Scripted, ToolDefinitionRef, Turn};
use leasehold_tools::{ResultBound, Services, Tool, ToolCall, ToolError, ToolSpec, bind};
use leasehold_types::{
    Answerer, BootId, BoxFuture, ComponentName, Digest, Effect, ExecutionId, InstanceId, Money,
    Owner, PauseRef, Principal, PrincipalKind, Tenant, TreeId, TreeState, TreeSummary,
};
use serde_json::{Value, json};

use clock::TestClock;
use store::TestStore;

/// What a tool's body does, by its name.
pub(crate) type Behaviour =
    Arc<dyn Fn(ToolCall) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync>;

pub(crate) struct TestTool {
    pub(crate) spec: ToolSpec,
    pub(crate) behaviour: Behaviour,
}

impl Tool for TestTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }
    fn call(&self, call: ToolCall) -> BoxFuture<'static, Result<Value, ToolError>> {
        (self.behaviour)(call)
    }
}

/// A tool with a body.
pub(crate) fn tool(
    name: &'static str,
    effect: Effect,
    behaviour: impl Fn(ToolCall) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync + 'static,
) -> TestTool {
    TestTool {
        spec: ToolSpec::new(name, "Does something.", effect),
        behaviour: Arc::new(behaviour),
    }
}

/// A tool that answers at once.
pub(crate) fn answers(name: &'static str) -> TestTool {
    tool(name, Effect::Read, |_| {
        Box::pin(async { Ok(json!({"done": true})) })
    })
}

/// Remembers what it was asked.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    pub(crate) asks: Mutex<Vec<Ask>>,
    pub(crate) fails: AtomicU32,
}

impl Channel for Asked {
    fn name(&self) -> &str {
        "asked"
    }
    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        self.asks.lock().unwrap().push(ask);
        let left = self.fails.load(Ordering::SeqCst);
        let result = if left > 0 {
            self.fails.store(left - 1, Ordering::SeqCst);
            Err(ChannelError("nobody listens".to_owned()))
        } else {
            Ok(Sent::AwaitReply)
        };
        Box::pin(std::future::ready(result))
    }
}

#[derive(Debug)]
struct One {
    agent: Arc<Agent>,
    channel: Option<Arc<dyn Channel>>,
    /// So many times, finding an agent panics.
    panics: Arc<AtomicU32>,
}

impl Agents for One {
    fn agent(&self, workflow: &str, _: &str) -> Option<Arc<Agent>> {
        let left = self.panics.load(Ordering::SeqCst);
        if left > 0 {
            self.panics.store(left - 1, Ordering::SeqCst);
            panic!("by plan");
        }
        (workflow == "helper").then(|| Arc::clone(&self.agent))
    }
    fn names(&self) -> Vec<String> {
        vec!["helper".to_owned()]
    }
}

impl Channels for One {
    fn channel(&self, _: &str) -> Option<Arc<dyn Channel>> {
        self.channel.clone()
    }
}

/// A world of one instance after another on one store.
pub(crate) struct World {
    pub(crate) clock: Arc<TestClock>,
    pub(crate) memory: Arc<TestStore>,
    /// What instances write to: the one in memory, or something around it.
    pub(crate) store: Arc<dyn Store>,
    pub(crate) leases: Arc<dyn LeaseStore>,
    /// The channel, unless there is another or none.
    pub(crate) channel: Arc<Asked>,
    pub(crate) other_channel: Option<Option<Arc<dyn Channel>>>,
    pub(crate) agent: Arc<Agent>,
    pub(crate) config: NodeConfig,
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) panics: Arc<AtomicU32>,
    boots: AtomicU32,
}

impl World {
    pub(crate) fn new(script: impl IntoIterator<Item = Turn>, tools: Vec<TestTool>) -> Self {
        Self::with_model(Arc::new(Scripted::new(script)), tools, &[])
    }

    /// The tools named in `approved` wait for a decision.
    pub(crate) fn approving(
        script: impl IntoIterator<Item = Turn>,
        tools: Vec<TestTool>,
        approved: &[&str],
    ) -> Self {
        Self::with_model(Arc::new(Scripted::new(script)), tools, approved)
    }

    pub(crate) fn with_model(
        model: Arc<dyn Model>,
        tools: Vec<TestTool>,
        approved: &[&str],
    ) -> Self {
        let clock = Arc::new(TestClock::default());
        let memory = Arc::new(TestStore::new());
        Self {
            store: memory.clone(),
            memory,
            leases: Arc::new(LocalLeaseStore::new(clock.clone(), Expiry::Never)),
            clock,
            channel: Arc::new(Asked::default()),
            other_channel: None,
            agent: Arc::new(agent(model, tools, approved)),
            config: NodeConfig::default(),
            observer: Arc::new(Ignore),
            panics: Arc::default(),
            boots: AtomicU32::new(0),
        }
    }

    /// Changes the plan that the agent runs by.
    pub(crate) fn planned(mut self, change: impl FnOnce(&mut Plan)) -> Self {
        let mut agent = (*self.agent).clone();
        let mut plan = (*agent.plan).clone();
        change(&mut plan);
        agent.plan = Arc::new(plan);
        self.agent = Arc::new(agent);
        self
    }

    /// Asks on another channel, or on none.
    pub(crate) fn on_channel(mut self, channel: Option<Arc<dyn Channel>>) -> Self {
        self.other_channel = Some(channel);
        self
    }

    /// Another lease store: instances started from here on know nothing of the others' claims.
    pub(crate) fn split(&mut self) {
        self.leases = Arc::new(LocalLeaseStore::new(self.clock.clone(), Expiry::Never));
    }

    /// Starts an instance, as a process would; its lease session is a new one.
    pub(crate) async fn instance(&self) -> Node {
        let boot = BootId::from_u128(u128::from(self.boots.fetch_add(1, Ordering::SeqCst)) + 1);
        let instance = InstanceId::new("here");
        let holder = Holder {
            instance: instance.clone(),
            boot,
        };
        let open = OpenSession {
            holder,
            ttl: Duration::from_secs(15),
            card: vec![],
        };
        let OpenOutcome::Opened { session, .. } = self.leases.open_session(open).await else {
            panic!("a local session opens");
        };
        let own: Option<Arc<dyn Channel>> = Some(self.channel.clone());
        let one = Arc::new(One {
            agent: Arc::clone(&self.agent),
            channel: self.other_channel.clone().unwrap_or(own),
            panics: Arc::clone(&self.panics),
        });
        Node::spawn(Deps {
            store: self.store.clone(),
            leases: self.leases.clone(),
            session,
            clock: self.clock.clone(),
            random: Arc::new(OsRandom),
            agents: one.clone(),
            channels: one,
            pool: Arc::new(TokioPool::new(tokio::runtime::Handle::current())),
            instance,
            boot,
            observer: self.observer.clone(),
            config: self.config.clone(),
        })
        .await
        .expect("the node starts")
    }

    /// Waits until the tree's summary says so.
    pub(crate) async fn until(&self, node: &Node, execution: ExecutionId, state: TreeState) {
        let is = |summary: &TreeSummary| summary.state == state;
        node.wait_for(execution.tree(), is).await.unwrap();
    }

    /// Waits until the tree rests and nothing of it is awake.
    pub(crate) async fn at_rest(&self, node: &Node, execution: ExecutionId) {
        self.until(node, execution, TreeState::Resting).await;
        asleep(node).await;
    }

    /// Puts bytes into a tree's inbox, as anybody might.
    pub(crate) async fn post(&self, execution: ExecutionId, id: u128, body: Vec<u8>) {
        let letter = Letter {
            id: LetterId(id),
            tree: execution.tree(),
            body,
        };
        self.store.put(letter).await.unwrap();
    }

    pub(crate) async fn letters(&self, execution: ExecutionId) -> usize {
        let after = leasehold_journal::LetterSeq::default();
        let letters = self.store.letters(execution.tree(), after).await;
        letters.unwrap().len()
    }

    /// Ends an instance as a crash would: its session's keys are free for the next one.
    pub(crate) async fn crash(&self, node: &Node) {
        let session = node.deps().session.id;
        node.kill();
        self.leases.revoke(session).await;
    }

    pub(crate) async fn entries(&self, execution: ExecutionId) -> Vec<Entry> {
        let store: &dyn Store = &*self.store;
        let loaded = load(store, execution.tree()).await.unwrap();
        loaded.entries().cloned().collect()
    }

    pub(crate) async fn machine(&self, execution: ExecutionId) -> Machine {
        let mut machine = Machine::new(execution.tree(), Arc::clone(&self.agent.plan));
        machine.replay(&self.entries(execution).await).unwrap();
        machine
    }

    pub(crate) async fn outcome(&self, node: &Node, execution: ExecutionId) -> Outcome {
        node.wait_for(execution.tree(), |summary| {
            summary.state == TreeState::Ended
        })
        .await
        .unwrap();
        self.machine(execution)
            .await
            .ended()
            .unwrap()
            .outcome
            .clone()
    }

    pub(crate) async fn count(
        &self,
        execution: ExecutionId,
        is: impl Fn(&Record) -> bool,
    ) -> usize {
        self.entries(execution)
            .await
            .iter()
            .filter(|entry| is(&entry.record))
            .count()
    }

    pub(crate) async fn epochs(&self, execution: ExecutionId) -> Vec<(u64, ClaimCause)> {
        let claims = self.entries(execution).await;
        let claims = claims.iter().filter_map(|entry| {
            let Record::Claimed(claimed) = &entry.record else {
                return None;
            };
            Some((claimed.epoch.get(), claimed.cause))
        });
        claims.collect()
    }
}

fn agent(model: Arc<dyn Model>, tools: Vec<TestTool>, approved: &[&str]) -> Agent {
    let tools: BTreeMap<String, AgentTool> = tools
        .into_iter()
        .map(|tool| {
            let bound = bind(Arc::new(tool), &Services::new()).unwrap();
            let result_bound = ResultBound::resolve(None, None, None);
            (
                bound.name().to_string(),
                AgentTool {
                    bound,
                    result_bound,
                },
            )
        })
        .collect();
    let planned = |(name, tool): (&String, &AgentTool)| {
        let approval = approved.contains(&name.as_str()).then(|| PlannedApproval {
            role: "boss-channel".to_owned(),
            answerer: Answerer::Channel,
        });
        let planned = PlannedTool {
            definition: tool.bound.definition_hash(),
            effect: tool.bound.spec().effect,
            exclusive: false,
            reserve: Money::ZERO,
            attempts_max: 3,
            approval,
            review: Arc::new(Asks {
                tool: tool.clone(),
                asks: approved.contains(&name.as_str()),
            }),
        };
        (name.clone(), planned)
    };
    let definitions = tools.values().map(|tool| {
        let definition = tool.bound.definition();
        let schema = Arc::new(definition.input_schema.clone());
        ToolDefinitionRef::new(
            definition.name.as_str(),
            definition.description.as_str(),
            schema,
        )
    });
    let plan = Plan {
        workflow: "helper".to_owned(),
        agent: "helper".to_owned(),
        config_hash: Digest::of(b"config"),
        model: model.name().to_owned(),
        price: Some(Price::FREE),
        max_output_tokens: 100,
        fixed_bytes: 0,
        tools: tools.iter().map(planned).collect(),
        limits: Limits {
            tool_calls: 1_000,
            model_calls: 1_000,
            ..Limits::default()
        },
        budget: None,
        after_answer: AfterAnswer::End,
        approval_expires_after: None,
    };
    Agent {
        plan: Arc::new(plan),
        workflow: ComponentName::new("helper").unwrap(),
        name: ComponentName::new("helper").unwrap(),
        model,
        instructions: "Help.".into(),
        definitions: definitions.collect(),
        tools,
    }
}

/// Reviews by the tool, and asks where the test says so.
struct Asks {
    tool: AgentTool,
    asks: bool,
}

impl leasehold_execution::Review for Asks {
    fn review(&self, raw: &str) -> Result<leasehold_execution::Reviewed, String> {
        self.tool.review(raw)
    }
    fn asks(&self, _: &leasehold_execution::Reviewed) -> bool {
        self.asks
    }
}

/// Waits until no tree is awake.
pub(crate) async fn asleep(node: &Node) {
    stats(node, |stats| stats.awake == 0).await;
}

/// Waits until the node stands so.
pub(crate) async fn stats(node: &Node, is: impl Fn(&NodeStats) -> bool) -> NodeStats {
    loop {
        let stats = node.stats().await;
        if is(&stats) {
            return stats;
        }
        tokio::task::yield_now().await;
    }
}

pub(crate) fn request(input: &str) -> StartRequest {
    StartRequest {
        agent: "helper".to_owned(),
        input: input.to_owned(),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        thread: None,
        started_by: person("dana"),
        idempotency_key: None,
    }
}

pub(crate) fn person(name: &str) -> Principal {
    Principal::new(name, PrincipalKind::Person)
}

pub(crate) fn first_pause(execution: ExecutionId) -> PauseRef {
    PauseRef {
        execution,
        number: 1,
    }
}

pub(crate) const WAIT: Duration = Duration::from_secs(20);

pub(crate) fn approval() -> Verdict {
    Verdict::Approve {
        override_arguments: None,
    }
}

pub(crate) fn rejection(reason: &str) -> Verdict {
    let reason = reason.to_owned();
    Verdict::Reject { reason }
}

pub(crate) fn pause(execution: ExecutionId, number: u32) -> PauseTarget {
    PauseTarget::Reference(PauseRef { execution, number })
}

/// Decides a pause as `by`, and says what they were told.
pub(crate) async fn decide(
    node: &Node,
    target: PauseTarget,
    by: &str,
    verdict: Verdict,
) -> DecisionReply {
    let decided = node.decide(target, person(by), verdict, None, WAIT);
    decided.await.unwrap()
}

/// Approves a pause and says what the approver was told.
pub(crate) async fn approve(node: &Node, pause: PauseRef) -> DecisionReply {
    let target = PauseTarget::Reference(pause);
    let verdict = Verdict::Approve {
        override_arguments: None,
    };
    node.decide(
        target,
        person("boss"),
        verdict,
        None,
        Duration::from_secs(20),
    )
    .await
    .unwrap()
}

/// Wakes every tree that is not at its end, as the keeper does after a start.
pub(crate) fn wake(node: &Node, tree: TreeId) {
    node.wake(tree, ClaimCause::Takeover);
}

pub(crate) fn call(tool: &'static str) -> Turn {
    Turn::call(tool, &json!({}))
}

pub(crate) fn completed(answer: &str) -> Outcome {
    Outcome::Completed {
        answer: answer.to_owned(),
    }
}
