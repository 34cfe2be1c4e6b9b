//! A long execution: whether a late step costs more than an early one, and how long its journal takes to read.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leasehold_actors::load;
use leasehold_execution::Record;
use leasehold_journal::Store;
use leasehold_types::{Timestamp, TreeId, TreeState};

use crate::machine::monotonic;
use crate::report::Report;
use crate::stack::{self, Load};

/// Calls of the execution whose late steps are compared with its early ones.
const CALLS: usize = 600;
/// Steps averaged at each end.
const WINDOW: usize = 100;
/// Calls of the execution whose journal is read; two records a step and its intents make 50,000.
const REPLAY_CALLS: usize = 16_700;

pub(crate) fn measure(directory: &Path, report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let place = tempfile::tempdir_in(directory)?;
    let store = stack::embedded(&place.path().join("store"))?;
    runtime.block_on(async {
        let tree = run(store.clone(), CALLS).await?;
        growth(&*store, tree, report).await?;
        let tree = run(store.clone(), REPLAY_CALLS).await?;
        replay(&*store, tree, report).await
    })
}

async fn run(store: Arc<dyn Store>, calls: usize) -> anyhow::Result<TreeId> {
    let node = stack::node(store, Load::Echoes(calls)).await?;
    let execution = node.start(stack::request()).await?;
    let tree = execution.tree();
    let polls = AtomicU64::new(0);
    let ended = |summary: &leasehold_types::TreeSummary| {
        polls.fetch_add(1, Ordering::Relaxed);
        summary.state == TreeState::Ended
    };
    node.wait_for(tree, ended).await?;
    node.drain(Duration::from_secs(5)).await;
    Ok(tree)
}

/// The times between durable outcomes stand in the records.
async fn growth(store: &dyn Store, tree: TreeId, report: &mut Report) -> anyhow::Result<()> {
    let loaded = load(store, tree).await?;
    let outcome =
        |record: &Record| matches!(record, Record::ModelAnswered(_) | Record::CallFinished(_));
    let times: Vec<Timestamp> = loaded
        .entries()
        .filter(|entry| outcome(&entry.record))
        .map(|entry| entry.at)
        .collect();
    let mean = |times: &[Timestamp]| -> anyhow::Result<f64> {
        let (Some(first), Some(last)) = (times.first(), times.last()) else {
            return Ok(0.0);
        };
        let micros = u32::try_from(last.since(*first).as_micros())?;
        Ok(f64::from(micros) / f64::from(u32::try_from(times.len() - 1)?))
    };
    let early = mean(times.get(..WINDOW).unwrap_or_default())?;
    let from = times.len().min(1_000).saturating_sub(WINDOW);
    let late = mean(times.get(from..from + WINDOW).unwrap_or_default())?;
    report.add("a step, mean of steps 1 to 100", early, "us");
    report.add_ratio("a step, mean of steps 900 to 1,000", late, "us", None);
    report.add("late step over early step", late / early, "times");
    Ok(())
}

async fn replay(store: &dyn Store, tree: TreeId, report: &mut Report) -> anyhow::Result<()> {
    let started = monotonic();
    let loaded = load(store, tree).await?;
    let millis = (monotonic() - started).as_secs_f64() * 1e3;
    let records = u32::try_from(loaded.entries().count())?;
    report.add(
        format!("reading and decoding {records} records of one tree"),
        millis,
        "ms",
    );
    Ok(())
}
