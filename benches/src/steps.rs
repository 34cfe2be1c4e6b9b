//! Durable steps a second, at several numbers of executions at a time, beside the disk's limit of the same minute.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;
use leasehold_actors::{Closed, Node};
use leasehold_journal::{MemoryStore, Store};
use leasehold_types::TreeId;
use tokio::sync::oneshot;

use crate::machine::{cpu, monotonic};
use crate::raw;
use crate::report::Report;
use crate::stack::{self, CALLS, Load, STEPS};

/// Bytes of a typical frame of the load, header included; the raw limit writes records of this size.
const FRAME_BYTES: usize = 800;

/// One column's figures.
struct Column {
    steps_per_second: f64,
    cpu_per_step: Duration,
    execution: Histogram<u64>,
}

pub(crate) fn measure(
    directory: &Path,
    time: Duration,
    columns: &[usize],
    report: &mut Report,
) -> anyhow::Result<()> {
    for &width in columns {
        let before = raw::records_per_second(directory, width, FRAME_BYTES, time / 4)?;
        let place = tempfile::tempdir_in(directory)?;
        let store = stack::embedded(&place.path().join("store"))?;
        let column = run(store, width, time)?;
        let after = raw::records_per_second(directory, width, FRAME_BYTES, time / 4)?;
        let limit = f64::midpoint(before, after);
        let name = format!("executions at a time: {width}");
        report.add(format!("{name}: group-commit limit"), limit, "records/s");
        add(report, &name, &column, Some(limit));
    }
    Ok(())
}

pub(crate) fn measure_in_memory(time: Duration, report: &mut Report) -> anyhow::Result<()> {
    for width in [1, 64] {
        let column = run(Arc::new(MemoryStore::new()), width, time)?;
        add(
            report,
            &format!("in memory, executions at a time: {width}"),
            &column,
            None,
        );
    }
    Ok(())
}

fn add(report: &mut Report, name: &str, column: &Column, limit: Option<f64>) {
    let rate = column.steps_per_second;
    let ratio = limit.map(|limit| rate / limit);
    report.add_ratio(format!("{name}: durable steps"), rate, "steps/s", ratio);
    let micros = column.cpu_per_step.as_secs_f64() * 1e6;
    report.add(format!("{name}: CPU a step"), micros, "us");
    for (quantile, word) in [(0.50, "p50"), (0.99, "p99")] {
        let micros = column.execution.value_at_quantile(quantile);
        #[expect(clippy::cast_precision_loss, reason = "a duration for people")]
        let millis = micros as f64 / 1e3;
        report.add(
            format!("{name}: execution of {STEPS} steps, {word}"),
            millis,
            "ms",
        );
    }
}

/// Who waits for which tree's end, and which ended before anybody waited.
#[derive(Debug, Default)]
struct Board {
    waiting: BTreeMap<TreeId, oneshot::Sender<()>>,
    ended: BTreeSet<TreeId>,
}

type Shared = Arc<Mutex<Board>>;

/// Keeps `width` executions going for `time`.
fn run(store: Arc<dyn Store>, width: usize, time: Duration) -> anyhow::Result<Column> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let node = stack::node(store, Load::Echoes(CALLS)).await?;
        let waiting = Shared::default();
        let told = Arc::clone(&waiting);
        node.on_closed(Arc::new(move |tree, how: &Closed| {
            if *how != Closed::Ended {
                return;
            }
            let mut board = lock(&told);
            match board.waiting.remove(&tree) {
                Some(sender) => drop(sender.send(())),
                None => drop(board.ended.insert(tree)),
            }
        }));
        drive(&node, &waiting, width, time / 5).await?; // warm
        let (cpu_before, started) = (cpu(), monotonic());
        let execution = drive(&node, &waiting, width, time).await?;
        let (cpu_used, elapsed) = (cpu() - cpu_before, monotonic() - started);
        let steps = execution.len() * STEPS as u64;
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let steps_per_second = steps as f64 / elapsed.as_secs_f64();
        let cpu_per_step = cpu_used / u32::try_from(steps.max(1))?;
        node.drain(Duration::from_secs(5)).await;
        Ok(Column {
            steps_per_second,
            cpu_per_step,
            execution,
        })
    })
}

fn lock(board: &Shared) -> std::sync::MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn drive(
    node: &Node,
    waiting: &Shared,
    width: usize,
    time: Duration,
) -> anyhow::Result<Histogram<u64>> {
    let deadline = monotonic() + time;
    let mut lanes = tokio::task::JoinSet::new();
    for _ in 0..width {
        let (node, waiting) = (node.clone(), Arc::clone(waiting));
        lanes.spawn(async move {
            let mut execution = Histogram::<u64>::new(3)?;
            while monotonic() < deadline {
                let started = monotonic();
                one(&node, &waiting).await?;
                let micros = u64::try_from((monotonic() - started).as_micros())?;
                execution.record(micros)?;
            }
            anyhow::Ok(execution)
        });
    }
    let mut all = Histogram::<u64>::new(3)?;
    while let Some(lane) = lanes.join_next().await {
        all.add(lane??)?;
    }
    Ok(all)
}

/// Starts one execution and waits for its end.
async fn one(node: &Node, board: &Shared) -> anyhow::Result<()> {
    let execution = node.start(stack::request()).await?;
    let receiver = {
        let mut board = lock(board);
        if board.ended.remove(&execution.tree()) {
            return Ok(());
        }
        let (sender, receiver) = oneshot::channel();
        board.waiting.insert(execution.tree(), sender);
        receiver
    };
    receiver.await?;
    Ok(())
}
