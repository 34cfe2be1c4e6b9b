//! The bench: a machine with a journal in memory, driven by a script.

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::machine::{ClaimFacts, Decision, DecisionReply, PauseKey, Verdict};
use leasehold_execution::record::{CallPlan, ClaimCause, Ended, Outcome, Started};
use leasehold_execution::{
    Context, Entry, Event, Machine, Output, Plan, Record, Standing, Step, read_entries,
    write_entries,
};
use leasehold_models::{Message, ModelRequest};
use leasehold_types::{BootId, CallId, Epoch, InstanceId, Owner, Principal, Timestamp, TreeId};

use crate::desk::{self, Counter, person};
use crate::words;

/// A machine, its journal, and what it did last.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) machine: Machine,
    pub(crate) journal: Vec<Entry>,
    pub(crate) last: Output,
    /// What each ended call and model call tells that it used.
    pub(crate) costs: u64,
    pub(crate) now: Timestamp,
    pub(crate) random: Arc<Counter>,
    plan: Arc<Plan>,
    epoch: u64,
}

impl Bench {
    /// Started, claimed, and the model asked for the first time.
    pub(crate) fn new(plan: Plan) -> Self {
        let plan = Arc::new(plan);
        let mut bench = Self {
            machine: Machine::new(TreeId::from_u128(1), Arc::clone(&plan)),
            journal: vec![],
            last: Output::default(),
            costs: 0,
            plan,
            now: Timestamp::from_millis(1_000_000),
            epoch: 0,
            random: Arc::default(),
        };
        let started = bench.started();
        bench.machine.apply(&started).unwrap();
        bench.journal.push(started);
        bench.claim(false);
        bench
    }

    /// A bench with the plan of [`desk::plan`], run through a script.
    pub(crate) fn ran(script: &str) -> Self {
        let mut bench = Self::new(desk::plan());
        bench.run(script);
        bench
    }

    fn started(&self) -> Entry {
        let record = Record::Started(Box::new(Started {
            workflow: "support".to_owned(),
            agent: "support".to_owned(),
            input: "go".to_owned(),
            config_hash: self.plan.config_hash,
            owner: Owner::new("dana"),
            thread: None,
            continues: None,
            started_by: person("dana"),
            budget: self.plan.budget,
            idempotency_key: None,
            parent: None,
            trace: None,
        }));
        Entry {
            execution: 0,
            at: self.now,
            record,
        }
    }

    /// A decision about the pause of this number.
    pub(crate) fn decide(&mut self, number: u32, by: Principal, verdict: Verdict) -> DecisionReply {
        let pause = PauseKey::Number(number);
        self.decide_on(Decision {
            pause,
            by,
            verdict,
            shown: None,
            letter: None,
        })
    }

    pub(crate) fn decide_on(&mut self, decision: Decision) -> DecisionReply {
        let random = Arc::clone(&self.random);
        let context = Context {
            now: self.now,
            random: &*random,
        };
        let (reply, output) = self.machine.decide_pause(context, decision);
        self.absorb(output);
        reply
    }

    pub(crate) fn on(&mut self, event: Event) {
        let random = Arc::clone(&self.random);
        let context = Context {
            now: self.now,
            random: &*random,
        };
        let output = self.machine.on(context, event);
        self.absorb(output);
    }

    /// Time passes and nobody looks.
    pub(crate) fn sleep(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    /// The same journal under another configuration.
    pub(crate) fn replan(&mut self, plan: Plan) {
        self.plan = Arc::new(plan);
        self.machine = self.replayed();
    }

    pub(crate) fn standing(&self) -> Standing {
        self.machine.standing(self.now)
    }

    /// The process is gone: what the journal says is all that is left, and another instance takes the tree.
    pub(crate) fn crash(&mut self, alone: bool) {
        self.machine = self.replayed();
        self.claim(alone);
    }

    /// Another owner goes on from the journal, and somebody cancels: nothing of it may panic.
    pub(crate) fn go_on(&mut self) {
        self.epoch = self.machine.epoch().get().min(u64::MAX - 1);
        self.claim(true);
        self.run("wait 9999; cancel");
    }

    pub(crate) fn claim(&mut self, alone: bool) {
        self.epoch += 1;
        let random = Arc::clone(&self.random);
        let context = Context {
            now: self.now,
            random: &*random,
        };
        let facts = ClaimFacts {
            epoch: Epoch::new(self.epoch),
            instance: InstanceId::new("i"),
            boot: BootId::from_u128(1),
            cause: ClaimCause::Takeover,
            lease_revision: None,
            alone,
        };
        let mut output = self.machine.claim(context, facts);
        let resumed = self.machine.resume(context);
        output.entries.extend(resumed.entries);
        output.steps.extend(resumed.steps);
        self.absorb(output);
    }

    /// The state that the journal alone gives, as it reads back.
    pub(crate) fn replayed(&self) -> Machine {
        let mut machine = Machine::new(TreeId::from_u128(1), Arc::clone(&self.plan));
        let read = read_entries(&write_entries(&self.journal).unwrap()).unwrap();
        assert_eq!(read, self.journal);
        machine.replay(&read).unwrap();
        machine
    }

    pub(crate) fn absorb(&mut self, output: Output) {
        self.journal.extend(output.entries.iter().cloned());
        let (live, mut replayed) = (self.machine.checkpoint(), self.replayed().checkpoint());
        if self.standing() == Standing::Busy {
            // That a question is being sent, nobody but the owner needs to know.
            replayed.next_due = live.next_due;
        }
        assert_eq!(replayed, live, "EXEC-1");
        if output
            .steps
            .iter()
            .any(|step| matches!(step, Step::AskModel { .. }))
        {
            let mut request = ModelRequest::new("", vec![]);
            request.messages = self.machine.conversation().0;
            request.check_history().unwrap();
        }
        self.last = output;
    }

    /// The last command's records and steps in words.
    pub(crate) fn trace(&self) -> String {
        words::of(&self.last)
    }

    pub(crate) fn ended(&self) -> &Ended {
        self.machine.ended().unwrap()
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.ended().outcome
    }

    /// What the model reads as the results of the last turn, in order.
    pub(crate) fn results(&self) -> Vec<(String, String)> {
        let (messages, _) = self.machine.conversation();
        let results = messages.iter().rev().map_while(|message| match message {
            Message::ToolResult { call_id, text, .. } => {
                Some((call_id.to_string(), text.to_string()))
            }
            _ => None,
        });
        let mut results: Vec<_> = results.collect();
        results.reverse();
        results
    }

    /// How many steps of the journal's life ran a call.
    pub(crate) fn intents(&self, call_id: &str) -> usize {
        let call_id = CallId::new(call_id);
        let count = |entry: &Entry| match &entry.record {
            Record::ModelAnswered(body) => body
                .calls
                .iter()
                .filter(|call| call.call_id == call_id)
                .filter(|call| call.plan == CallPlan::Run)
                .count(),
            Record::CallIntended(body) => usize::from(body.call_id == call_id),
            _ => 0,
        };
        self.journal.iter().map(count).sum()
    }
}

/// What the last command of a script leads to.
#[track_caller]
pub(crate) fn check(name: &str, plan: Plan, script: &str, expected: &str) {
    let mut bench = Bench::new(plan);
    bench.run(script);
    assert_eq!(bench.trace(), expected, "{name}");
}
