//! A tool's child processes that ignore every signal: after a timeout and after a cancel none is left.

use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use leasehold_actors::{ProcessGroup, SystemClock};
use leasehold_execution::record::FinishKind;
use leasehold_tools::Body;
use leasehold_types::Clock;
use serde_json::json;

use crate::local::{Local, Made};
use crate::person::principal;
use crate::site::fork;

/// It ignores what can be ignored, has children that do, fills its pipes and never ends.
const STUBBORN: &str = "trap '' TERM INT HUP; yes & yes >&2 & sleep 1000 & wait";

/// A tool that runs it, and where it tells its group.
fn stubborn() -> (Made, Arc<Mutex<Option<u32>>>) {
    let group = Arc::new(Mutex::new(None));
    let told = Arc::clone(&group);
    let tool = Made::new(Body::Async, move |_| {
        let told = Arc::clone(&told);
        Box::pin(async move {
            let mut command = Command::new("sh");
            command.args(["-c", STUBBORN]);
            let group = fork(|| ProcessGroup::spawn(command))?;
            *told.lock().unwrap() = Some(group.id());
            let output = group.output(1_024).await?;
            Ok(json!({"code": output.status.code()}))
        })
    });
    (tool, group)
}

/// Processes of a group that are there, zombies included.
fn members(group: u32) -> usize {
    let stats = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|process| std::fs::read_to_string(process.unwrap().path().join("stat")).ok());
    // The fields after the name: state, parent, group.
    let group = group.to_string();
    let of_group = |stat: &String| {
        let fields = stat.rsplit(')').next().unwrap();
        fields.split_whitespace().nth(2) == Some(&group)
    };
    stats.filter(of_group).count()
}

async fn until(done: impl Fn() -> bool) {
    for _ in 0..1_000 {
        if done() {
            return;
        }
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    panic!("it does not come");
}

// RELIABILITY C7
#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_leaves_no_process_of_a_tool() {
    let (mut tool, group) = stubborn();
    tool.spec.timeout = Duration::from_millis(200);
    let local = Local::with(tool).await;
    let execution = local.start().await;
    local.end(execution).await;
    let results = local.results(execution).await;
    assert_eq!(results[0].kind, FinishKind::TimedOut);
    let group = group.lock().unwrap().unwrap();
    until(|| members(group) == 0).await;
}

// RELIABILITY C7
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_leaves_no_process_of_a_tool() {
    let (tool, told) = stubborn();
    let local = Local::with(tool).await;
    let execution = local.start().await;
    until(|| told.lock().unwrap().is_some_and(|group| members(group) > 3)).await;
    let wait = Duration::from_secs(20);
    let (node, by) = (local.instance.node(), principal("dana"));
    let cancelled = node.cancel(execution.tree(), by, "enough".to_owned(), wait);
    cancelled.await.unwrap();
    let machine = local.end(execution).await;
    assert_eq!(machine.ended().unwrap().outcome.word(), "cancelled");
    let group = told.lock().unwrap().unwrap();
    until(|| members(group) == 0).await;
}
