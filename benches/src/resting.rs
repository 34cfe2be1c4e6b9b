//! What rest costs: memory and CPU of executions that wait for an approval, and how soon a restarted instance works among them.

use std::path::Path;
use std::time::Duration;

use leasehold_execution::record::ClaimCause;
use leasehold_journal::Store;
use leasehold_types::{TreeId, TreeState};
use std::sync::Arc;

use crate::machine::{cpu, monotonic, resident};
use crate::report::Report;
use crate::stack::{self, Load};

/// How long the resting executions are watched.
const WATCHED: Duration = Duration::from_secs(10);
/// Starts that are under way at the same time while the store is filled.
const LANES: usize = 64;

pub(crate) fn measure(directory: &Path, count: usize, report: &mut Report) -> anyhow::Result<()> {
    let place = tempfile::tempdir_in(directory)?;
    let path = place.path().join("store");
    {
        let store = stack::embedded(&path)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        runtime.block_on(fill(store.clone(), count))?;
        drop(runtime);
        drop(store);
    }
    let before = resident()?;
    let started = monotonic();
    let store = stack::embedded(&path)?;
    let opened = monotonic() - started;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let node = stack::node(store.clone(), Load::Waits).await?;
        let open = wake_all(&node, &*store).await?;
        let scanned = monotonic() - started;
        let execution = node.start(stack::request()).await?;
        let paused = |summary: &leasehold_types::TreeSummary| summary.state == TreeState::Resting;
        node.wait_for(execution.tree(), paused).await?;
        let first = monotonic() - started;
        report.add(
            format!("open executions found after a restart of {count}"),
            as_f64(open),
            "",
        );
        report.add("restart: store open", opened.as_secs_f64() * 1e3, "ms");
        report.add(
            "restart: all trees looked at",
            scanned.as_secs_f64() * 1e3,
            "ms",
        );
        report.add(
            "restart: first new execution at its approval",
            first.as_secs_f64() * 1e3,
            "ms",
        );
        let held = resident()?.saturating_sub(before);
        let each = as_f64(usize::try_from(held)?) / as_f64(count.max(1));
        report.add("memory of a resting execution", each, "bytes");
        let cpu_before = cpu();
        #[expect(
            clippy::disallowed_methods,
            reason = "the benchmark watches real time pass"
        )]
        tokio::time::sleep(WATCHED).await;
        let used = (cpu() - cpu_before).as_secs_f64() / WATCHED.as_secs_f64();
        report.add(format!("CPU while {count} rest"), used * 100.0, "% of core");
        anyhow::Ok(())
    })
}

#[expect(clippy::cast_precision_loss, reason = "a figure for people")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

async fn fill(store: Arc<dyn Store>, count: usize) -> anyhow::Result<()> {
    let node = stack::node(store.clone(), Load::Waits).await?;
    let mut lanes = tokio::task::JoinSet::new();
    for lane in 0..LANES {
        let node = node.clone();
        lanes.spawn(async move {
            for _ in (lane..count).step_by(LANES) {
                node.start(stack::request()).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(lane) = lanes.join_next().await {
        lane??;
    }
    loop {
        let stats = node.stats().await;
        if stats.awake == 0 && stats.queued == 0 {
            break;
        }
        tokio::task::yield_now().await;
    }
    node.drain(Duration::from_secs(30)).await;
    Ok(())
}

/// What the keeper of an application does after a start: it looks at every tree and wakes those with something to do.
async fn wake_all(node: &leasehold_actors::Node, store: &dyn Store) -> anyhow::Result<usize> {
    let (mut after, mut open): (Option<TreeId>, usize) = (None, 0);
    loop {
        let heads = store.scan(after, 1_024).await?;
        let Some(last) = heads.last() else {
            return Ok(open);
        };
        after = Some(last.header.tree);
        for head in &heads {
            match head.header.summary.state {
                TreeState::Live => node.wake(head.header.tree, ClaimCause::Takeover),
                TreeState::Resting | TreeState::Blocked => {}
                TreeState::Ended => continue,
            }
            open += 1;
        }
    }
}
