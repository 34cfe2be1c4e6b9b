//! A small world around the machine: a model, tools, people and a journal, all in one thread, with crashes where a test wants them.
//!
//! What the world remembers (effects, bills, letters) survives a crash; what the runtime remembers does not, except its journal.

mod outside;
mod people;
mod scenario;

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leasehold_execution::machine::{ClaimFacts, DecisionReply};
use leasehold_execution::record::{ClaimCause, Outcome, Started};
use leasehold_execution::{
    Context, Entry, Event, Machine, Output, Plan, Record, Standing, Step, read_entries,
    write_entries,
};
use leasehold_types::{
    BootId, CallId, Epoch, InstanceId, Owner, Principal, PrincipalKind, Random, Timestamp, TreeId,
};

use people::{Letter, boss};
pub(crate) use scenario::{Answer, CallSpec, Scenario, ToolSpec};

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Random for Counter {
    fn next_u64(&self) -> u64 {
        self.0
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Thrown out of the world's run when a crash is due.
struct Crash;

/// What survives every crash.
pub(crate) struct World {
    pub(crate) scenario: Scenario,
    plan: Arc<Plan>,
    /// The journal, as it reads back.
    pub(crate) entries: Vec<Entry>,
    now: i64,
    random: Counter,
    /// Actions so far, and the actions at which the process crashes.
    pub(crate) actions: usize,
    crashes: BTreeSet<usize>,
    /// The action after which somebody cancels.
    cancel_at: Option<usize>,
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
        let plan = Arc::new(scenario::plan(&scenario));
        Self {
            scenario,
            plan,
            entries: vec![],
            now: 1_000_000,
            random: Counter::default(),
            actions: 0,
            crashes: crashes.into_iter().collect(),
            cancel_at: None,
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

    /// The same world, in which somebody cancels after so many actions.
    pub(crate) fn cancelled_at(mut self, action: usize) -> Self {
        self.cancel_at = Some(action);
        self
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

    /// How many records of the journal are such.
    pub(crate) fn count(&self, such: impl Fn(&Record) -> bool) -> usize {
        let entries = self.entries.iter();
        entries.filter(|entry| such(&entry.record)).count()
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
        let record = Record::Started(Box::new(Started {
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
        }));
        let at = Timestamp::from_micros(self.now);
        self.write(&[Entry {
            execution: 0,
            at,
            record,
        }]);
    }

    fn write(&mut self, entries: &[Entry]) {
        let written = write_entries(entries).unwrap();
        self.entries.extend(read_entries(&written).unwrap());
    }

    /// The state that the journal alone gives.
    pub(crate) fn replayed(&self) -> Machine {
        let mut machine = Machine::new(TreeId::from_u128(1), Arc::clone(&self.plan));
        machine.replay(&self.entries).unwrap();
        machine
    }

    fn append(&mut self, entries: &[Entry]) -> Result<(), Crash> {
        self.act()?; // before the write
        self.write(entries);
        self.act() // after it, before anything is done
    }

    /// One life of the process: claims, goes on, rests and wakes, until the end or a crash.
    fn live(&mut self) -> Result<Machine, Crash> {
        let mut machine = self.replayed();
        let mut letter = None;
        if machine.ended().is_some() {
            return Ok(machine);
        }
        loop {
            let steps = self.claim(&mut machine, letter.take())?;
            if self.work(&mut machine, steps)? {
                return Ok(machine);
            }
            letter = self.rest(&mut machine)?;
            machine = self.replayed();
        }
    }

    /// Carries out steps until nothing is left to do; says whether that is the end.
    fn work(&mut self, machine: &mut Machine, mut steps: Vec<Step>) -> Result<bool, Crash> {
        loop {
            let event = if self.cancel_is_due() {
                Some(cancel())
            } else if !steps.is_empty() {
                let step = steps.remove(self.pick(steps.len()));
                self.carry_out(machine, &step)?
            } else {
                match machine.standing(Timestamp::from_micros(self.now)) {
                    Standing::Ended => return Ok(true),
                    Standing::Waiting { until } => self.now = self.now.max(until.as_micros()),
                    Standing::AtRest { due: Some(due) } if machine.questions().next().is_none() => {
                        self.now = self.now.max(due.as_micros());
                    }
                    Standing::AtRest { .. } => return Ok(false),
                    Standing::Busy | Standing::Blocked => panic!("stuck: {machine:?}"),
                }
                Some(Event::Tick)
            };
            let Some(event) = event else { continue };
            let output = self.on(machine, event);
            self.append(&output.entries)?;
            steps.extend(output.steps);
        }
    }

    /// A cancel is a letter: it is there until it is journaled.
    fn cancel_is_due(&self) -> bool {
        self.cancel_at.is_some_and(|at| at <= self.actions)
            && self.count(|record| matches!(record, Record::CancelRequested(_) | Record::Ended(_)))
                == 0
    }

    fn on(&self, machine: &mut Machine, event: Event) -> Output {
        let now = Timestamp::from_micros(self.now);
        let random = &self.random;
        machine.on(Context { now, random }, event)
    }

    fn claim(&mut self, machine: &mut Machine, letter: Option<Letter>) -> Result<Vec<Step>, Crash> {
        let context = Context {
            now: Timestamp::from_micros(self.now),
            random: &self.random,
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
        let answered = match letter {
            Some(Letter::Decide(decision)) => {
                let (reply, decided) = machine.decide_pause(context, decision);
                assert_eq!(reply, DecisionReply::Counted);
                decided
            }
            Some(Letter::Cancel) => machine.on(context, cancel()),
            None => Output::default(),
        };
        let resumed = machine.resume(context);
        for more in [answered, resumed] {
            output.entries.extend(more.entries);
            output.steps.extend(more.steps);
        }
        self.append(&output.entries)?;
        Ok(output.steps)
    }

    /// Rests, and has somebody answer one of the open questions, or time pass until the first of them expires.
    fn rest(&mut self, machine: &mut Machine) -> Result<Option<Letter>, Crash> {
        let context = Context {
            now: Timestamp::from_micros(self.now),
            random: &self.random,
        };
        let output = machine.rest(context);
        self.append(&output.entries)?;
        self.check_rest(machine);
        self.act()?;
        let letter = self.letter(machine);
        if letter.is_none() {
            let due = machine
                .next_due()
                .expect("somebody answers, or a timer ends");
            self.now = self.now.max(due.as_micros());
        }
        Ok(letter)
    }

    /// The checkpoint in the journal is the state that the journal gives.
    fn check_rest(&mut self, machine: &Machine) {
        let Some(Record::Rested(written)) = self.entries.last().map(|entry| &entry.record) else {
            panic!("a rest ends with its checkpoint");
        };
        let folded = self.replayed().checkpoint();
        if **written != folded || machine.checkpoint() != folded {
            let violation = format!("EXEC-1: at rest {written:?}, folded {folded:?}");
            self.violations.push(violation);
        }
    }
}

fn cancel() -> Event {
    Event::Cancel {
        by: boss(),
        reason: "enough".to_owned(),
    }
}
