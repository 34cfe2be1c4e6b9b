//! The story of one execution, told from its records alone: it needs neither the agent nor its configuration.
//!
//! The execution machine folds the records, as it does when the execution runs; a plan is only asked when something is decided,
//! and nothing is decided here. Where a record does not fit, or is of a newer release, the story goes on without the machine.
//!
//! - STORY-1: every record that was read has its line, whatever it says.
//! - STORY-2: spend is the machine's own count, not a second one.

mod about_calls;
mod about_life;
mod about_models;
mod about_pauses;
mod place;

pub(super) use place::state_of;

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_execution::record::{CallUncertain, Claimed, Place, Started};
use leasehold_execution::{AfterAnswer, Entry, Limits, Machine, Plan, Record};
use leasehold_types::{
    CallId, Effect, ExecutionId, IdempotencyKey, Money, Timestamp, TreeId, TreeSummary,
};

use super::frames::{Broken, ReadFrame, ReadRecord, Said};
use super::view::EventView;
use crate::escape::clip;

/// Characters of a text in a timeline; the whole is in the answer, the question or `journal dump`.
const TEXT_CHARS: usize = 160;
/// Characters of arguments in a timeline.
const ARGUMENT_CHARS: usize = 240;

/// What was read of one execution so far.
pub(super) struct Story {
    execution: ExecutionId,
    machine: Option<Machine>,
    started: Option<(Started, Timestamp)>,
    tenant: String,
    epoch: u64,
    frames: u64,
    last_at: Option<Timestamp>,
    claim: Option<Claimed>,
    summary: Option<TreeSummary>,
    place: Option<Place>,
    calls: BTreeMap<CallId, ToldCall>,
    counts: Counts,
    asking: Option<Asking>,
    model_error: Option<String>,
    model_said: String,
    released: Option<String>,
    broken: Option<String>,
}

impl std::fmt::Debug for Story {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Story")
            .field("execution", &self.execution)
            .field("frames", &self.frames)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    model_calls: u32,
    tool_calls: u32,
}

/// A model call whose end was not read yet.
#[derive(Debug, Clone)]
struct Asking {
    model: String,
    turn: u32,
}

/// A call as the records tell of it.
#[derive(Debug, Clone)]
struct ToldCall {
    tool: String,
    effect: Option<Effect>,
    key: Option<IdempotencyKey>,
    /// The epoch of each attempt that was intended.
    epochs: Vec<u64>,
    /// Whether its end was read.
    is_over: bool,
    /// Why nobody knows what it did.
    doubt: Option<String>,
}

impl Story {
    /// A story that has not begun.
    pub(super) fn new(execution: ExecutionId) -> Self {
        Self {
            execution,
            machine: None,
            started: None,
            tenant: String::new(),
            epoch: 0,
            frames: 0,
            last_at: None,
            claim: None,
            summary: None,
            place: None,
            calls: BTreeMap::new(),
            counts: Counts::default(),
            asking: None,
            model_error: None,
            model_said: String::new(),
            released: None,
            broken: None,
        }
    }

    /// Reads on, and tells what happened in this frame.
    pub(super) fn read(&mut self, frame: &ReadFrame) -> Vec<EventView> {
        let header = &frame.header;
        self.epoch = header.epoch.get();
        self.frames = header.index.get() + 1;
        self.summary = Some(header.summary.clone());
        if self.tenant.is_empty() {
            self.tenant = header.tenant.as_str().to_owned();
        }
        let records = frame.records.iter();
        records.map(|record| self.record(record)).collect()
    }

    /// The journal can be read no further.
    pub(super) fn ends_broken(&mut self, broken: &Broken) {
        self.broken = Some(format!("frame {}: {}", broken.frame, broken.why));
    }

    /// The frames that were read.
    pub(super) const fn frames(&self) -> u64 {
        self.frames
    }

    fn record(&mut self, record: &ReadRecord) -> EventView {
        match &record.said {
            Said::Known(entry) => self.entry(entry),
            Said::Unknown { kind, at, why } => {
                // What comes after it cannot be counted any more.
                if self.broken.is_none() {
                    self.broken = Some(format!("record {kind:?} is not known here: {why}"));
                }
                self.machine = None;
                EventView {
                    at: at.map(Into::into),
                    text: format!(
                        "a record of kind {:?}: {}",
                        clip(kind, 64),
                        clip(why, TEXT_CHARS)
                    ),
                    ..self.event("unknown", 0)
                }
            }
        }
    }

    fn entry(&mut self, entry: &Entry) -> EventView {
        self.last_at = Some(entry.at);
        if let Record::Started(body) = &entry.record
            && entry.execution == 0
        {
            self.machine = Some(Machine::new(self.execution.tree(), Arc::new(no_plan(body))));
            self.started = Some(((**body).clone(), entry.at));
        }
        let before = self.totals();
        let mut event = self.tell(entry);
        self.fold(entry);
        let after = self.totals();
        event.at = Some(entry.at.into());
        event.settled_micros = after.0.saturating_sub(before.0).micros();
        event.possible_micros = after.1.saturating_sub(before.1).micros();
        event
    }

    fn fold(&mut self, entry: &Entry) {
        if entry.execution != 0 {
            return;
        }
        let Some(machine) = &mut self.machine else {
            return;
        };
        if let Err(error) = machine.apply(entry) {
            self.broken = Some(error.to_string());
            self.machine = None;
        }
    }

    fn totals(&self) -> (Money, Money) {
        let spent = self.machine.as_ref().map(Machine::spent);
        spent.map_or((Money::ZERO, Money::ZERO), |(settled, possible, _)| {
            (settled, possible)
        })
    }

    fn event(&self, kind: &str, number: u32) -> EventView {
        EventView {
            frame: self.frames.saturating_sub(1),
            epoch: self.epoch,
            number,
            kind: kind.to_owned(),
            ..EventView::default()
        }
    }

    fn tell(&mut self, entry: &Entry) -> EventView {
        let event = self.event(entry.record.kind(), entry.execution);
        match &entry.record {
            Record::Started(body) => about_life::started(event, body),
            Record::Claimed(body) => self.claimed(event, body),
            Record::ModelIntended(body) => self.model_intended(event, body),
            Record::ModelAnswered(body) => self.model_answered(event, body),
            Record::ModelFailed(body) => self.model_failed(event, body),
            Record::CallIntended(body) => self.call_intended(event, body),
            Record::CallFinished(body) => self.call_finished(event, body),
            Record::CallUncertain(body) => self.call_uncertain(event, body),
            Record::PauseOpened(body) => self.pause_opened(event, body),
            Record::PauseSent(body) => about_pauses::sent(event, body),
            Record::PauseResolved(body) => about_pauses::resolved(event, body),
            Record::CancelRequested(body) => about_life::cancel_requested(event, body),
            Record::MessageReceived(body) => about_pauses::message(event, body),
            Record::LateOutcome(body) => self.late_outcome(event, body),
            Record::Rested(body) => about_life::rested(event, body),
            Record::Released(body) => {
                self.released = Some(body.reason.clone());
                about_life::released(event, body)
            }
            Record::Quarantined(body) => about_life::quarantined(event, body),
            Record::Retried(body) => about_life::retried(event, body),
            Record::Ended(body) => about_life::ended(event, body),
        }
    }

    fn call_uncertain(&mut self, event: EventView, body: &CallUncertain) -> EventView {
        let told = self.calls.get_mut(&body.call_id);
        if let Some(call) = told {
            call.doubt = Some(body.why.clone());
        }
        let tool = self.tool_of(&body.call_id);
        EventView {
            text: format!(
                "nobody knows what {tool} did: {}",
                clip(&body.why, TEXT_CHARS)
            ),
            ..self.about(event, &body.call_id)
        }
    }

    fn tool_of(&self, call_id: &CallId) -> String {
        let call = self.calls.get(call_id);
        call.map_or_else(|| format!("call {call_id}"), |call| clip(&call.tool, 64))
    }

    /// The event with the call it is about.
    fn about(&self, event: EventView, call_id: &CallId) -> EventView {
        let call = self.calls.get(call_id);
        EventView {
            call_id: Some(call_id.as_str().to_owned()),
            tool: call.map(|call| call.tool.clone()),
            idempotency_key: call
                .and_then(|call| call.key.as_ref())
                .map(|key| key.as_str().to_owned()),
            ..event
        }
    }

    fn key_of(&self, call_id: &CallId) -> Option<IdempotencyKey> {
        let Place { node, visit, item } = self.place.as_ref()?;
        Some(IdempotencyKey::new(
            self.execution,
            node,
            *visit,
            *item,
            call_id,
        ))
    }

    /// The tree.
    pub(super) const fn tree(&self) -> TreeId {
        self.execution.tree()
    }
}

/// A plan for a machine that decides nothing: only its names are read.
fn no_plan(started: &Started) -> Plan {
    Plan {
        workflow: started.workflow.clone(),
        agent: started.agent.clone(),
        config_hash: started.config_hash,
        model: String::new(),
        price: None,
        max_output_tokens: 0,
        fixed_bytes: 0,
        tools: BTreeMap::new(),
        limits: Limits::default(),
        budget: started.budget,
        after_answer: AfterAnswer::End,
        approval_expires_after: None,
    }
}
