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

use leasehold_execution::record::Outcome;
use leasehold_types::Effect;
use proptest::prelude::*;
use world::{CallSpec, Scenario, ToolSpec, World};

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
        any::<bool>(),
        prop::bool::weighted(0.2),
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

fn scenario(write: bool) -> impl Strategy<Value = Scenario> {
    (
        prop::collection::vec(tool(write), 3),
        prop::collection::vec(prop::collection::vec(call(), 1..4), 0..3),
        0..2_u32,
        prop::collection::vec(any::<bool>(), 0..4),
        prop::collection::vec(any::<u8>(), 1..8),
    )
        .prop_map(|(tools, turns, model_hiccups, rejects, order)| Scenario {
            tools,
            turns,
            model_hiccups,
            rejects,
            order,
        })
}

/// Checks what holds in every run, crashed or not, and returns how it ended.
fn check(world: &mut World) -> Result<Outcome, TestCaseError> {
    let (outcome, live) = world.run();
    prop_assert!(world.violations.is_empty(), "{:?}", world.violations);
    let replayed = world.replayed();
    prop_assert_eq!(
        replayed.checkpoint(),
        live.checkpoint(),
        "EXEC-1: live and replayed state differ"
    );
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
    Ok(outcome)
}

/// Every single crash point, and pairs of them, against the run without a crash.
fn crash_everywhere(scenario: &Scenario, same_end: bool) -> Result<(), TestCaseError> {
    let mut calm = World::new(scenario.clone(), []);
    let expected = check(&mut calm)?;
    let points = calm.actions;
    let singles = (1..=points).map(|point| vec![point]);
    let pairs = (1..=points).step_by(7).map(|point| vec![point, point + 5]);
    for crashes in singles.chain(pairs) {
        let mut world = World::new(scenario.clone(), crashes.iter().copied());
        let outcome = check(&mut world)?;
        prop_assert!(world.crashes_seen >= 1);
        if same_end {
            prop_assert_eq!(&outcome, &expected, "crashes at {:?}", crashes);
            prop_assert_eq!(
                world.applied.len(),
                calm.applied.len(),
                "crashes at {:?}",
                crashes
            );
        } else {
            prop_assert_eq!(outcome.word(), expected.word(), "crashes at {:?}", crashes);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    // CONTRACT R4, A1, A5, S5
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
}
