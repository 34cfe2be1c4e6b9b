//! What must hold at the end, whatever was killed: the oracles, written once.
//!
//! - OR1: index and hash chain hold, epochs rise, each epoch begins with its one claim.
//! - OR2: one effect per key; arrivals are bounded by intents and by crashes.
//! - OR5: what the model read is what is journaled, and each step finished once.
//! - OR6: each pause has one decision.
//! - OR8: every acked frame is there; OR9: and none that was not handed over.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_execution::Record;
use leasehold_execution::record::{
    CallPlan, ClaimCause, IntentCause, Outcome, PauseSubject, Resolution,
};
use leasehold_types::{Effect, Epoch};
use serde_json::Value;

use crate::model::BETWEEN;
use crate::money;
use crate::outside::{Arrival, FrameNote, Outside};
use crate::site::Site;
use crate::story::{Story, read};
use crate::tools::WRITES;

/// What a run without a crash comes to.
#[derive(Debug)]
pub(crate) struct Expected {
    told: Vec<String>,
    effects: BTreeSet<String>,
    pub(crate) appends: u64,
}

impl Expected {
    pub(crate) fn of(site: &Site) -> Self {
        let stories = read(site.path());
        let story = &stories["reference-0"];
        let effects = Effects::of(story, &site.outside());
        Self {
            told: told(story)
                .iter()
                .map(|text| without_receipt(text))
                .collect(),
            effects: effects.applied.keys().cloned().collect(),
            appends: story.frames.len() as u64,
        }
    }
}

/// The results that the model told in its last answer.
#[track_caller]
fn told(story: &Story) -> Vec<String> {
    let Outcome::Completed { answer } = story.outcome() else {
        panic!("it did not complete: {:?}", story.outcome());
    };
    answer.split(BETWEEN).map(str::to_owned).collect()
}

/// A result is the same but for the line of the sink that it has its receipt from.
fn without_receipt(text: &str) -> String {
    let Ok(Value::Object(mut fields)) = serde_json::from_str(text) else {
        return text.to_owned();
    };
    fields.insert("receipt".to_owned(), 0.into());
    Value::Object(fields).to_string()
}

/// What arrived outside for one execution, by call.
struct Effects {
    arrived: BTreeMap<String, usize>,
    applied: BTreeMap<String, usize>,
    turned_away: BTreeMap<String, usize>,
    was_known: bool,
}

impl Effects {
    fn of(story: &Story, outside: &Outside) -> Self {
        let prefix = format!("{}:", story.tree);
        let mut effects = Self {
            arrived: BTreeMap::new(),
            applied: BTreeMap::new(),
            turned_away: BTreeMap::new(),
            was_known: false,
        };
        for effect in outside.effects() {
            let Some(call) = effect.key.strip_prefix(&prefix) else {
                continue;
            };
            let of = |counts: &mut BTreeMap<String, usize>| {
                *counts.entry(call.to_owned()).or_default() += 1
            };
            of(&mut effects.arrived);
            match effect.arrival {
                Arrival::Applied => of(&mut effects.applied),
                Arrival::Refused => of(&mut effects.turned_away),
                Arrival::Known => effects.was_known = true,
                Arrival::Read => {}
            }
        }
        effects
    }
}

/// What recovery had to do, in words: a suite that never met one of them proves little.
pub(crate) type Met = BTreeSet<&'static str>;

/// Holds a site's end against what a run without a crash comes to. Says what recovery had to do.
#[track_caller]
pub(crate) fn check(site: &Site, expected: &Expected, name: &str) -> Met {
    let stories = read(site.path());
    let outside = site.outside();
    let mut met = Met::new();
    for run in site
        .runs()
        .iter()
        .filter(|run| run.starts_with("reference-"))
    {
        let story = stories
            .get(run)
            .unwrap_or_else(|| panic!("{name}: {run} is gone"));
        let checked = Checked {
            story,
            outside: &outside,
            expected,
            crashes: site.crashes as usize,
        };
        checked.chain(name);
        checked.answer(name);
        checked.effects(name);
        checked.pauses(name);
        money::check(story, &outside, run, name);
        met.append(&mut checked.met());
    }
    frames_are_there(&stories, &outside, name);
    met
}

/// OR8 and OR9.
#[track_caller]
fn frames_are_there(stories: &BTreeMap<String, Story>, outside: &Outside, name: &str) {
    let there: BTreeSet<(String, u64, String)> = stories
        .values()
        .flat_map(|story| &story.frames)
        .map(|frame| &frame.header)
        .map(|header| {
            (
                header.tree.to_string(),
                header.index.get(),
                header.id.to_string(),
            )
        })
        .collect();
    for acked in outside.frames(FrameNote::Acked) {
        assert!(
            there.contains(&acked),
            "OR8: {name}: {acked:?} was acked and is gone"
        );
    }
    let sent: BTreeSet<_> = outside.frames(FrameNote::Sent).into_iter().collect();
    let strange: Vec<_> = there.difference(&sent).collect();
    assert!(strange.is_empty(), "OR9: {name}: nobody wrote {strange:?}");
}

struct Checked<'a> {
    story: &'a Story,
    outside: &'a Outside,
    expected: &'a Expected,
    crashes: usize,
}

impl Checked<'_> {
    /// OR1; the chain itself was held together when the frames were read.
    #[track_caller]
    fn chain(&self, name: &str) {
        let mut epoch = Epoch::NONE;
        for frame in &self.story.frames {
            let header = &frame.header;
            let claims: Vec<Epoch> = frame
                .entries
                .iter()
                .filter_map(|entry| match &entry.record {
                    Record::Claimed(claimed) => Some(claimed.epoch),
                    _ => None,
                })
                .collect();
            let due = if header.epoch == epoch {
                vec![]
            } else {
                vec![header.epoch]
            };
            assert_eq!(claims, due, "OR1: {name}: frame {}", header.index);
            assert!(header.epoch >= epoch, "OR1: {name}: frame {}", header.index);
            epoch = header.epoch;
        }
        assert_eq!(self.story.machine.epoch(), epoch, "OR1: {name}");
    }

    /// OR5, and the answer of a run without a crash; only the result of a `write` in doubt may be another.
    #[track_caller]
    fn answer(&self, name: &str) {
        let told = told(self.story);
        let same = told.iter().map(|text| without_receipt(text));
        for (position, (text, due)) in same.zip(&self.expected.told).enumerate() {
            let in_doubt =
                position == 2 && text.contains("it is not known whether the call had its effect");
            assert!(
                text == *due || in_doubt,
                "{name}: the model read {text:?}, not {due:?}"
            );
        }
        assert_eq!(told.len(), self.expected.told.len(), "{name}");
        let mut finished = BTreeMap::new();
        let mut answered = BTreeMap::new();
        for record in self.story.records() {
            match record {
                Record::CallFinished(body) => {
                    let twice = finished.insert(body.call_id.clone(), body.text.clone());
                    assert!(
                        twice.is_none(),
                        "OR5: {name}: {} finished twice",
                        body.call_id
                    );
                }
                Record::ModelAnswered(body) => {
                    let twice = answered.insert(body.turn, body.attempt);
                    assert!(
                        twice.is_none(),
                        "OR5: {name}: turn {} was answered twice",
                        body.turn
                    );
                }
                _ => {}
            }
        }
        let journaled: BTreeSet<&String> = finished.values().collect();
        let told: BTreeSet<&String> = told.iter().collect();
        assert_eq!(told, journaled, "OR5: {name}");
    }

    /// OR2.
    #[track_caller]
    fn effects(&self, name: &str) {
        let effects = Effects::of(self.story, self.outside);
        let applied: BTreeSet<String> = effects.applied.keys().cloned().collect();
        assert_eq!(applied, self.expected.effects, "OR2: {name}");
        for (call, times) in &effects.applied {
            assert_eq!(*times, 1, "OR2: {name}: {call} was applied {times} times");
        }
        let intents = self.intents();
        for (call, arrived) in &effects.arrived {
            let turned_away = effects.turned_away.get(call).copied().unwrap_or(0);
            let bound = 1 + self.crashes + turned_away;
            assert!(
                *arrived <= bound,
                "OR2: {name}: {call} arrived {arrived} times, {} crashes",
                self.crashes
            );
            let id = call
                .split_once(':')
                .and_then(|(_, call)| call.split_once(':'))
                .unwrap()
                .1;
            let intended = intents.get(id).copied().unwrap_or(0);
            assert!(
                *arrived <= intended,
                "D12: {name}: {call} arrived {arrived} times on {intended} intents"
            );
        }
    }

    /// How often each call was intended.
    fn intents(&self) -> BTreeMap<&str, usize> {
        let mut intents = BTreeMap::new();
        for record in self.story.records() {
            match record {
                Record::ModelAnswered(body) => {
                    for call in &body.calls {
                        let is_write = call
                            .bound
                            .as_ref()
                            .is_some_and(|bound| bound.effect == Effect::Write);
                        let runs = call.plan == CallPlan::Run
                            || (call.plan == CallPlan::Queue && !is_write);
                        intents.insert(call.call_id.as_str(), usize::from(runs));
                    }
                }
                Record::CallIntended(body) => {
                    *intents.entry(body.call_id.as_str()).or_default() += 1
                }
                _ => {}
            }
        }
        intents
    }

    /// OR6, and a question is put once, and again only after a crash.
    #[track_caller]
    fn pauses(&self, name: &str) {
        let mut open = BTreeMap::new();
        for record in self.story.records() {
            match record {
                Record::PauseOpened(body) => {
                    open.insert(body.number, 0);
                }
                Record::PauseResolved(body) => *open.get_mut(&body.number).unwrap() += 1,
                _ => {}
            }
        }
        assert!(
            open.values().all(|decisions| *decisions == 1),
            "OR6: {name}: {open:?}"
        );
        let prefix = self.story.tree.to_string();
        let asks = self
            .outside
            .asks()
            .into_iter()
            .filter(|asked| asked.starts_with(&prefix))
            .count();
        // None where it was answered before it could be put.
        assert!(asks <= 1 + self.crashes, "{name}: asked {asks} times");
    }

    fn met(&self) -> Met {
        let mut met = Met::new();
        let mut uncertain = BTreeSet::new();
        for record in self.story.records() {
            match record {
                Record::CallIntended(body) if body.cause == IntentCause::Recovered => {
                    met.insert("a call ran again")
                }
                Record::CallIntended(body) if body.cause == IntentCause::Retry => {
                    met.insert("a call was retried")
                }
                Record::CallUncertain(_) => met.insert("a write was in doubt"),
                Record::PauseOpened(body) => {
                    if matches!(body.subject, PauseSubject::Uncertain { .. }) {
                        uncertain.insert(body.number);
                    }
                    false
                }
                Record::PauseResolved(body) if uncertain.contains(&body.number) => {
                    match body.resolution {
                        Resolution::Approved { .. } => met.insert("a write in doubt was repeated"),
                        _ => met.insert("a write in doubt was not repeated"),
                    }
                }
                Record::Claimed(body) if body.cause == ClaimCause::Takeover => {
                    met.insert("a tree was taken over")
                }
                Record::Quarantined(_) => met.insert("a tree was quarantined"),
                _ => false,
            };
        }
        let count = |is: fn(&Record) -> bool| self.story.count(is);
        let ended =
            count(|record| matches!(record, Record::ModelAnswered(_) | Record::ModelFailed(_)));
        if count(|record| matches!(record, Record::ModelIntended(_))) > ended {
            met.insert("the model was asked again");
        }
        if Effects::of(self.story, self.outside).was_known {
            met.insert("an effect was known by its key");
        }
        let writes = self.story.records().any(|record| {
            matches!(record, Record::ModelAnswered(body) if body.calls.iter().any(|call| call.tool == WRITES))
        });
        assert!(writes, "the reference execution writes");
        met
    }
}
