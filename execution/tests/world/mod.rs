//! A small world around the machine: a model, tools, people and a journal, all in one thread, with crashes where a test wants them.
//!
//! What the world remembers (effects, bills) survives a crash; what the runtime remembers does not, except its journal.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leasehold_execution::machine::{
    CallReport, ClaimFacts, Decision, DecisionReply, ModelFailure, ModelReport, PauseKey, Verdict,
};
use leasehold_execution::record::{ClaimCause, FinishKind, Outcome, PauseSubject, Started};
use leasehold_execution::{
    AfterAnswer, Context, Entry, Event, Limits, Machine, Output, Plan, PlannedApproval,
    PlannedTool, Record, Review, Reviewed, Standing, Step, read_entries, write_entries,
};
use leasehold_models::{Message, ModelAnswer, ModelCall, ModelRequest, Price, Retry, StopReason};
use leasehold_types::{
    Answerer, BootId, CallId, Digest, Effect, Epoch, InstanceId, Money, Owner, PriceSource,
    Principal, PrincipalKind, Random, SpendEntry, Timestamp, TokenUsage, TreeId,
};

/// What one tool does.
#[derive(Debug, Clone)]
pub(crate) struct ToolSpec {
    pub(crate) effect: Effect,
    pub(crate) approval: bool,
    pub(crate) exclusive: bool,
    /// How often each call fails retryably before it works.
    pub(crate) hiccups: u32,
    /// Whether it answers with an error in the end.
    pub(crate) fails: bool,
}

/// One call that the model asks for.
#[derive(Debug, Clone)]
pub(crate) struct CallSpec {
    pub(crate) tool: usize,
    pub(crate) argument: u8,
    pub(crate) provider_id: Option<String>,
    /// Whether the arguments are cut in the middle.
    pub(crate) malformed: bool,
}

/// A whole scenario.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) turns: Vec<Vec<CallSpec>>,
    /// How often the model call of each turn fails before it answers.
    pub(crate) model_hiccups: u32,
    /// Which pauses are rejected, by number modulo the length.
    pub(crate) rejects: Vec<bool>,
    /// In which order steps and people act.
    pub(crate) order: Vec<u8>,
}

pub(crate) fn tool_name(index: usize) -> String {
    format!("t{index}-tool")
}

#[derive(Debug)]
struct JsonObject {
    approval: bool,
}

impl Review for JsonObject {
    fn review(&self, raw: &str) -> Result<Reviewed, String> {
        let value: serde_json::Value =
            serde_json::from_str(raw).map_err(|error| format!("invalid input: {error}"))?;
        let canonical = value.to_string();
        Ok(Reviewed {
            digest: Digest::of(canonical.as_bytes()),
            canonical,
        })
    }
    fn asks(&self, _: &Reviewed) -> bool {
        self.approval
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter(std::sync::atomic::AtomicU64);
impl Random for Counter {
    fn next_u64(&self) -> u64 {
        self.0
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

pub(crate) fn plan(scenario: &Scenario) -> Plan {
    let tool = |(index, spec): (usize, &ToolSpec)| {
        let approval = spec.approval.then(|| PlannedApproval {
            role: "boss-channel".to_owned(),
            answerer: Answerer::Channel,
        });
        let planned = PlannedTool {
            definition: Digest::of(tool_name(index).as_bytes()),
            effect: spec.effect,
            exclusive: spec.exclusive,
            reserve: Money::from_micros(10),
            attempts_max: 3,
            approval,
            review: Arc::new(JsonObject {
                approval: spec.approval,
            }),
        };
        (tool_name(index), planned)
    };
    Plan {
        workflow: "agent".to_owned(),
        agent: "agent".to_owned(),
        config_hash: Digest::of(b"config"),
        model: "scripted/script".to_owned(),
        price: Some(Price::per_million(1_000_000, 1_000_000, 1_000_000)),
        max_output_tokens: 100,
        fixed_bytes: 10,
        tools: scenario.tools.iter().enumerate().map(tool).collect(),
        limits: Limits {
            tool_calls: 100,
            model_calls: 50,
            identical_failing_calls: 50,
            ..Limits::default()
        },
        budget: Some(Money::from_micros(u64::MAX / 4)),
        after_answer: AfterAnswer::End,
        approval_expires_after: None,
    }
}

/// Thrown out of the world's run when a crash is due.
struct Crash;

/// What survives every crash.
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    plan: Arc<Plan>,
    pub(crate) frames: Vec<Vec<u8>>,
    now: i64,
    random: Counter,
    /// Actions so far, and the actions at which the process crashes.
    pub(crate) actions: usize,
    crashes: BTreeSet<usize>,
    order: Cell<usize>,
    /// Applied effects by key, and arrivals by key.
    pub(crate) applied: BTreeMap<String, u32>,
    pub(crate) writes: BTreeMap<String, u32>,
    pub(crate) arrivals: BTreeMap<CallId, u32>,
    /// What providers and services billed, in micro-units.
    pub(crate) billed: u64,
    model_calls: BTreeMap<u32, u32>,
    pub(crate) violations: Vec<String>,
    pub(crate) crashes_seen: usize,
}

impl World {
    pub(crate) fn new(scenario: Scenario, crashes: impl IntoIterator<Item = usize>) -> Self {
        let plan = Arc::new(plan(&scenario));
        Self {
            scenario,
            plan,
            frames: vec![],
            now: 1_000_000,
            random: Counter::default(),
            actions: 0,
            crashes: crashes.into_iter().collect(),
            order: Cell::new(0),
            applied: BTreeMap::new(),
            writes: BTreeMap::new(),
            arrivals: BTreeMap::new(),
            billed: 0,
            model_calls: BTreeMap::new(),
            violations: vec![],
            crashes_seen: 0,
        }
    }

    fn act(&mut self) -> Result<(), Crash> {
        self.actions += 1;
        self.now += 1_000;
        if self.crashes.contains(&self.actions) {
            self.crashes_seen += 1;
            return Err(Crash);
        }
        Ok(())
    }

    fn pick(&self, count: usize) -> usize {
        let at = self.order.get();
        self.order.set(at + 1);
        let order = &self.scenario.order;
        usize::from(order.get(at % order.len().max(1)).copied().unwrap_or(0)) % count.max(1)
    }

    /// Runs to the end, through every crash.
    pub(crate) fn run(&mut self) -> (Outcome, Machine) {
        self.start();
        for _ in 0..1_000 {
            if let Ok(machine) = self.live() {
                let ended = machine.ended().map(|ended| ended.outcome.clone());
                return (
                    ended.expect("a life without a crash leads to the end"),
                    machine,
                );
            }
        }
        panic!("the execution does not end");
    }

    fn start(&mut self) {
        let started = Started {
            workflow: "agent".to_owned(),
            agent: "agent".to_owned(),
            input: "go".to_owned(),
            config_hash: self.plan.config_hash,
            owner: Owner::new("dana"),
            thread: None,
            continues: None,
            started_by: Principal::new("dana", PrincipalKind::Person),
            budget: self.plan.budget,
            idempotency_key: None,
            parent: None,
            trace: None,
        };
        let at = Timestamp::from_micros(self.now);
        let entry = Entry {
            execution: 0,
            at,
            record: Record::Started(Box::new(started)),
        };
        self.frames.push(write_entries(&[entry]).unwrap());
    }

    /// The state that the journal alone gives.
    pub(crate) fn replayed(&self) -> Machine {
        let mut machine = Machine::new(TreeId::from_u128(1), Arc::clone(&self.plan));
        for frame in &self.frames {
            machine.replay(&read_entries(frame).unwrap()).unwrap();
        }
        machine
    }

    fn append(&mut self, entries: &[Entry]) -> Result<(), Crash> {
        self.act()?; // before the write
        if !entries.is_empty() {
            self.frames.push(write_entries(entries).unwrap());
        }
        self.act() // after it, before anything is done
    }

    /// One life of the process: claims, goes on, rests and wakes, until the end or a crash.
    fn live(&mut self) -> Result<Machine, Crash> {
        let mut machine = self.replayed();
        let mut answer = None;
        if machine.ended().is_some() {
            return Ok(machine);
        }
        loop {
            let mut steps = self.claim(&mut machine, answer.take())?;
            loop {
                if steps.is_empty() {
                    match machine.standing(Timestamp::from_micros(self.now)) {
                        Standing::Ended => return Ok(machine),
                        Standing::Waiting { until } => self.now = self.now.max(until.as_micros()),
                        Standing::AtRest { due: Some(due) }
                            if machine.questions().next().is_none() =>
                        {
                            self.now = self.now.max(due.as_micros());
                        }
                        Standing::AtRest { .. } => break,
                        Standing::Busy | Standing::Blocked => panic!("stuck: {machine:?}"),
                    }
                    let output = self.on(&mut machine, Event::Tick);
                    self.append(&output.entries)?;
                    steps = output.steps;
                    continue;
                }
                let step = steps.remove(self.pick(steps.len()));
                let event = self.carry_out(&machine, &step)?;
                let Some(event) = event else { continue };
                let output = self.on(&mut machine, event);
                self.append(&output.entries)?;
                steps.extend(output.steps);
            }
            answer = Some(self.rest(&mut machine)?);
            machine = self.replayed();
        }
    }

    fn on(&self, machine: &mut Machine, event: Event) -> Output {
        let now = Timestamp::from_micros(self.now);
        machine.on(
            Context {
                now,
                random: &self.random,
            },
            event,
        )
    }

    fn claim(
        &mut self,
        machine: &mut Machine,
        answer: Option<Decision>,
    ) -> Result<Vec<Step>, Crash> {
        let now = Timestamp::from_micros(self.now);
        let random = Counter::default();
        let context = Context {
            now,
            random: &random,
        };
        let facts = ClaimFacts {
            epoch: Epoch::new(machine.epoch().get() + 1),
            instance: InstanceId::new("i"),
            boot: BootId::from_u128(1),
            cause: ClaimCause::Wake,
            lease_revision: None,
            alone: false,
        };
        let mut output = machine.claim(context, facts);
        if let Some(decision) = answer {
            let (reply, decided) = machine.decide_pause(context, decision);
            assert_eq!(reply, DecisionReply::Counted);
            output.entries.extend(decided.entries);
            output.steps.extend(decided.steps);
        }
        let resumed = machine.resume(context);
        output.entries.extend(resumed.entries);
        output.steps.extend(resumed.steps);
        self.append(&output.entries)?;
        Ok(output.steps)
    }

    /// Rests, and has somebody answer one of the open questions.
    fn rest(&mut self, machine: &mut Machine) -> Result<Decision, Crash> {
        let now = Timestamp::from_micros(self.now);
        let random = Counter::default();
        let output = machine.rest(Context {
            now,
            random: &random,
        });
        self.append(&output.entries)?;
        self.act()?;
        let questions: Vec<_> = machine.questions().collect();
        let question = &questions[self.pick(questions.len())];
        let number = question.reference.number;
        let verdict = match &question.subject {
            PauseSubject::Approval { call_id, .. } => {
                let rejects = &self.scenario.rejects;
                let reject = !rejects.is_empty() && rejects[call_id.as_str().len() % rejects.len()];
                if reject {
                    self.reject("no")
                } else {
                    Verdict::Approve {
                        override_arguments: None,
                    }
                }
            }
            // The person looks up whether the effect is there, and tells the truth.
            PauseSubject::Uncertain { call_id } => {
                let key = machine.call(call_id).unwrap().key.to_string();
                if self.writes.contains_key(&key) {
                    self.reject("it is there")
                } else {
                    Verdict::Approve {
                        override_arguments: None,
                    }
                }
            }
            PauseSubject::Input => Verdict::Message {
                text: "go on".to_owned(),
            },
        };
        let by = Principal::new("boss", PrincipalKind::Person);
        Ok(Decision {
            pause: PauseKey::Number(number),
            by,
            verdict,
            shown: Some(question.digest),
            letter: None,
        })
    }

    #[expect(clippy::unused_self, reason = "reads as what the person does")]
    fn reject(&self, reason: &str) -> Verdict {
        Verdict::Reject {
            reason: reason.to_owned(),
        }
    }

    fn carry_out(&mut self, machine: &Machine, step: &Step) -> Result<Option<Event>, Crash> {
        self.act()?; // before the effect
        let event = match step {
            Step::AskModel { turn, attempt } => Some(self.model(machine, *turn, *attempt)),
            Step::RunCall {
                call_id, attempt, ..
            } => Some(self.tool(machine, call_id, *attempt)),
            Step::SendQuestion { number, attempt } => Some(Event::Sent {
                number: *number,
                attempt: *attempt,
                error: None,
            }),
            Step::Abort(_) => None,
        };
        self.act()?; // after the effect, before its outcome is journaled
        Ok(event)
    }

    fn model(&mut self, machine: &Machine, turn: u32, attempt: u32) -> Event {
        let (messages, _) = machine.conversation();
        let mut request = ModelRequest::new("", vec![]);
        request.messages = messages;
        if let Err(error) = request.check_history() {
            self.violations.push(format!("EXEC-3: {error}"));
        }
        if self.journal_has(
            |record| matches!(record, Record::ModelAnswered(body) if body.turn == turn),
        ) {
            self.violations
                .push(format!("EXEC-2: turn {turn} was asked again"));
        }
        let asked = self.model_calls.entry(turn).or_default();
        *asked += 1;
        self.billed += 5;
        if *asked <= self.scenario.model_hiccups {
            let failure = ModelFailure {
                error: "[model.server] busy".to_owned(),
                retry: Retry::After(None),
                may_be_billed: true,
            };
            return Event::Model(ModelReport {
                turn,
                attempt,
                result: Err(failure),
            });
        }
        let answer = self.answer(turn, &request.messages);
        let spend = spend("agent:agent", "scripted/script", 5);
        Event::Model(ModelReport {
            turn,
            attempt,
            result: Ok((answer, spend)),
        })
    }

    fn answer(&self, turn: u32, messages: &[Message]) -> ModelAnswer {
        let turns = &self.scenario.turns;
        let calls = turns.get(turn as usize - 1).cloned().unwrap_or_default();
        let text = if calls.is_empty() {
            let results = messages.iter().filter_map(|message| match message {
                Message::ToolResult { call_id, text, .. } => Some(format!("{call_id}={text};")),
                _ => None,
            });
            format!("done {}", results.collect::<String>())
        } else {
            String::new()
        };
        let call = |spec: CallSpec| ModelCall {
            provider_id: spec.provider_id.map(Arc::from),
            name: tool_name(spec.tool).into(),
            arguments: if spec.malformed {
                "{\"n\":".into()
            } else {
                format!("{{\"n\":{}}}", spec.argument).into()
            },
        };
        ModelAnswer {
            text: text.into(),
            calls: calls.into_iter().map(call).collect(),
            stop: StopReason::Finished,
            usage: None,
            cost: None,
            echo: None,
        }
    }

    fn tool(&mut self, machine: &Machine, call_id: &CallId, attempt: u32) -> Event {
        let view = machine
            .call(call_id)
            .expect("a step's call is one of the turn's");
        if self.journal_has(
            |record| matches!(record, Record::CallFinished(body) if body.call_id == *call_id),
        ) {
            self.violations
                .push(format!("EXEC-2: call {call_id} ran again"));
        }
        if Digest::of(view.arguments.as_bytes()) != view.arguments_digest {
            self.violations
                .push(format!("EXEC-4: call {call_id} has other arguments"));
        }
        let index: usize = view.tool[1..view.tool.len() - 5].parse().unwrap();
        let spec = self.scenario.tools[index].clone();
        let arrivals = self.arrivals.entry(call_id.clone()).or_default();
        *arrivals += 1;
        let hiccup = *arrivals <= spec.hiccups;
        let key = view.key.to_string();
        let mut cost = 0;
        if !hiccup {
            match spec.effect {
                Effect::Pure | Effect::Read => {}
                Effect::Idempotent { .. } => {
                    if self.applied.insert(key, 1).is_none() {
                        cost = 7;
                    }
                }
                Effect::Write => {
                    *self.writes.entry(key).or_default() += 1;
                    cost = 7;
                }
            }
        }
        self.billed += cost;
        let (kind, text) = match (hiccup, spec.fails) {
            (true, _) => (FinishKind::Error, "Tool error: try again".to_owned()),
            (false, true) => (FinishKind::Error, "Tool error: no".to_owned()),
            (false, false) => (FinishKind::Ok, format!("ok {}", view.arguments)),
        };
        Event::Call(CallReport {
            call_id: call_id.clone(),
            attempt,
            kind,
            text,
            whole_bytes: None,
            spend: if cost > 0 {
                vec![spend("tool:t", "service", cost)]
            } else {
                vec![]
            },
            retryable: hiccup,
            outcome_unknown: false,
            fatal: false,
        })
    }

    pub(crate) fn journal_has(&self, found: impl Fn(&Record) -> bool) -> bool {
        self.frames.iter().any(|frame| {
            read_entries(frame)
                .unwrap()
                .iter()
                .any(|entry| found(&entry.record))
        })
    }
}

fn spend(caller: &str, service: &str, micros: u64) -> SpendEntry {
    SpendEntry {
        caller: caller.to_owned(),
        service: service.to_owned(),
        tokens: TokenUsage::default(),
        money: Money::from_micros(micros),
        source: PriceSource::Declared,
    }
}
