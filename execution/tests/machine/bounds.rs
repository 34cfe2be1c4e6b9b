//! What one answer may make of the journal: its record has a size, whatever the model writes.

use leasehold_execution::record::{CallPlan, FinishKind};
use leasehold_execution::{RECORD_BYTES_MAX, Record, write_entries};
use leasehold_models::{ModelCall, StopReason};

use crate::bench::Bench;
use crate::desk::plan;

fn large(bytes: usize, count: usize) -> Vec<ModelCall> {
    let call = |_| ModelCall {
        provider_id: Some("p".repeat(bytes).into()),
        name: "read-tool".into(),
        arguments: format!("{{\"n\":\"{}\"}}", "x".repeat(bytes)).into(),
    };
    (0..count).map(call).collect()
}

#[test]
fn arguments_that_are_too_large_together_are_refused_and_the_record_stays_within_its_limit() {
    let mut bench = Bench::new(plan());
    bench.answer("", large(1_000_000, 20), StopReason::ToolCalls);
    let Record::ModelAnswered(body) = &bench.last.entries[0].record else {
        panic!("{}", bench.trace());
    };
    let kinds = body.calls.iter().map(|call| match &call.plan {
        CallPlan::Refuse { kind, message } => {
            assert!(message.contains("4194304 bytes"), "{message}");
            Some(*kind)
        }
        CallPlan::Run | CallPlan::Queue | CallPlan::Ask => None,
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds[..4], [None; 4]);
    assert!(
        kinds[4..]
            .iter()
            .all(|kind| *kind == Some(FinishKind::InvalidInput))
    );
    let written = write_entries(&bench.last.entries).unwrap();
    assert!(
        written.len() < RECORD_BYTES_MAX / 2,
        "{} bytes",
        written.len()
    );
}

// BAD INPUT 14
#[test]
fn an_answer_of_endless_calls_is_looked_at_up_to_a_bound() {
    let mut bench = Bench::new(plan());
    bench.answer("", large(3_000, 10_000), StopReason::ToolCalls);
    let Record::ModelAnswered(body) = &bench.last.entries[0].record else {
        panic!("{}", bench.trace());
    };
    assert_eq!(body.calls.len(), 2_048);
    assert!(write_entries(&bench.last.entries).unwrap().len() < RECORD_BYTES_MAX / 2);
}
