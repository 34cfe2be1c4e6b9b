//! The law of recovery: crash the process at any point, fold the journal, go on: the same end, no effect twice,
//! one result for each call in every history, spend never under-reported.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "the whole binary is a test: what cannot be is its failure, and a search for one record passes over all others"
)]

mod world;

use std::collections::BTreeSet;

use leasehold_execution::record::{IntentCause, Outcome, Resolution};
use leasehold_execution::{Machine, Record};
use leasehold_types::Effect;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use world::{Answer, CallSpec, Scenario, ToolSpec, World};

fn effect(write: bool) -> impl Strategy<Value = Effect> {
    let last = if write { Effect::Write } else { Effect::Read };
    prop_oneof![
        Just(Effect::Pure),
        Just(Effect::Read),
        Just(Effect::Idempotent {
            retention_s: 86_400
        }),
        Just(last),
    ]
}

fn tool(write: bool) -> impl Strategy<Value = ToolSpec> {
    (
        effect(write),
        prop::bool::weighted(0.4),
        prop::bool::weighted(0.4),
        0..2_u32,
        prop::bool::weighted(0.2),
    )
        .prop_map(|(effect, approval, exclusive, hiccups, fails)| ToolSpec {
            effect,
            approval,
            exclusive,
            hiccups,
            fails,
        })
}

fn call() -> impl Strategy<Value = CallSpec> {
    let id = prop::option::of(prop_oneof![
        Just("call_0".to_owned()),
        Just("a:b".to_owned()),
        "[a-c]{1,2}"
    ]);
    (0..3_usize, 0..4_u8, id, prop::bool::weighted(0.1)).prop_map(
        |(tool, argument, provider_id, malformed)| CallSpec {
            tool,
            argument,
            provider_id,
            malformed,
        },
    )
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        3 => Just(Answer::Approve),
        2 => Just(Answer::Edit),
        2 => Just(Answer::Reject),
        1 => Just(Answer::Ignore),
    ]
}

fn scenario(write: bool) -> impl Strategy<Value = Scenario> {
    (
        prop::collection::vec(tool(write), 3),
        prop::collection::vec(prop::collection::vec(call(), 1..4), 0..3),
        0..2_u32,
        prop::collection::vec(answer(), 0..4),
        prop_oneof![3 => Just(None), 1 => (0..3_usize).prop_map(Some)],
        prop::collection::vec(any::<u8>(), 1..8),
    )
        .prop_map(
            |(tools, turns, model_hiccups, answers, messages, order)| Scenario {
                tools,
                turns,
                model_hiccups,
                answers,
                messages,
                order,
            },
        )
}

/// Checks what holds in every run, crashed or not, and returns how it ended.
fn check(world: &mut World) -> Result<(Outcome, Machine), TestCaseError> {
    let (outcome, live) = world.run();
    prop_assert!(world.violations.is_empty(), "{:?}", world.violations);
    let replayed = world.replayed();
    prop_assert_eq!(
        replayed.checkpoint(),
        live.checkpoint(),
        "EXEC-1: live and replayed state differ"
    );
    prop_assert!(replayed.questions().next().is_none(), "a pause stays open");
    let (settled, possible, _) = replayed.spent();
    let reported = settled.micros() + possible.micros();
    prop_assert!(
        reported >= world.billed,
        "EXEC-5: {} billed, {} reported",
        world.billed,
        reported
    );
    prop_assert!(
        settled.micros() <= world.billed,
        "settled {} of {}",
        settled,
        world.billed
    );
    prop_assert!(
        world.writes.values().all(|count| *count == 1),
        "a write twice: {:?}",
        world.writes
    );
    Ok((outcome, live))
}

/// Every single crash point, and pairs of them, against the run without a crash.
fn crash_everywhere(scenario: &Scenario, same_end: bool) -> Result<(), TestCaseError> {
    let mut calm = World::new(scenario.clone(), []);
    let (expected, expected_end) = check(&mut calm)?;
    let points = calm.actions;
    let singles = (1..=points).map(|point| vec![point]);
    let pairs = (1..=points).step_by(7).map(|point| vec![point, point + 5]);
    for crashes in singles.chain(pairs) {
        let mut world = World::new(scenario.clone(), crashes.iter().copied());
        let (outcome, end) = check(&mut world)?;
        prop_assert!(world.crashes_seen >= 1);
        prop_assert_eq!(outcome.word(), expected.word(), "crashes at {:?}", crashes);
        if same_end {
            prop_assert_eq!(&outcome, &expected, "crashes at {:?}", crashes);
            prop_assert_eq!(
                end.conversation(),
                expected_end.conversation(),
                "crashes at {:?}",
                crashes
            );
            prop_assert_eq!(
                world.applied.len(),
                calm.applied.len(),
                "crashes at {:?}",
                crashes
            );
        }
    }
    Ok(())
}

/// A cancel after each action, and a crash at every third of them.
fn cancel_everywhere(scenario: &Scenario) -> Result<(), TestCaseError> {
    let mut calm = World::new(scenario.clone(), []);
    check(&mut calm)?;
    for point in 1..=calm.actions {
        let crashes = (point % 3 == 0).then_some(point + 1);
        let mut world = World::new(scenario.clone(), crashes).cancelled_at(point);
        let (outcome, _) = check(&mut world)?;
        let is_cancelled = world.count(|record| matches!(record, Record::CancelRequested(_))) > 0;
        let word = if is_cancelled {
            "cancelled"
        } else {
            "completed"
        };
        prop_assert_eq!(outcome.word(), word, "cancel at {}", point);
    }
    Ok(())
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// What happened in a world, in words.
fn seen(world: &World) -> Vec<&'static str> {
    let words = world.entries.iter().map(|entry| match &entry.record {
        Record::PauseResolved(body) => match &body.resolution {
            Resolution::Approved {
                override_arguments: Some(_),
                ..
            } => "edited",
            Resolution::Approved { .. } => "approved",
            Resolution::Rejected { .. } => "rejected",
            Resolution::Answered { .. } => "heard",
            Resolution::Expired => "expired",
            Resolution::Cancelled => "closed",
        },
        Record::CallIntended(body) => match body.cause {
            IntentCause::Dequeued => "dequeued",
            IntentCause::Approved => "run after its approval",
            IntentCause::Retry => "retried",
            IntentCause::Recovered => "recovered",
        },
        other => other.kind(),
    });
    words.collect()
}

// RELIABILITY OR14
#[test]
fn the_scenarios_reach_what_the_law_is_about() {
    let mut runner = TestRunner::deterministic();
    let mut reached = BTreeSet::new();
    for _ in 0..200 {
        let scenario = scenario(true).new_tree(&mut runner).unwrap().current();
        for crash in [None, Some(20)] {
            let mut world = World::new(scenario.clone(), crash);
            world.run();
            reached.extend(seen(&world));
        }
    }
    let awaited = [
        "edited",
        "approved",
        "rejected",
        "heard",
        "expired",
        "closed",
        "dequeued",
        "run after its approval",
        "retried",
        "recovered",
        "call_uncertain",
        "cancel_requested",
        "model_failed",
        "rested",
    ];
    for word in awaited {
        assert!(reached.contains(word), "{word} never happened: {reached:?}");
    }
}

proptest! {
    #![proptest_config(config(64))]

    // CONTRACT R4, A1, A4, A5, A16, S5, P7, P8, P9, P10
    // CASE 2, 3, 64, 100, 101
    // RELIABILITY C1
    #[test]
    fn a_crash_anywhere_leads_to_the_same_end_where_every_effect_may_be_repeated(scenario in scenario(false)) {
        crash_everywhere(&scenario, true)?;
    }

    // CONTRACT R4, S5
    // CASE 64
    #[test]
    fn a_crash_anywhere_writes_nothing_twice_where_a_person_tells_what_happened(scenario in scenario(true)) {
        crash_everywhere(&scenario, false)?;
    }

    // CONTRACT A5, A9, S5
    // CASE 41, 86
    #[test]
    fn a_cancel_at_any_point_ends_it_as_cancelled_and_closes_every_pause(scenario in scenario(true)) {
        cancel_everywhere(&scenario)?;
    }
}
