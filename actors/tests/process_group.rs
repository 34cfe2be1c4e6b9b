//! Process groups: whatever a command has started is gone with it, and its output is bounded.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "support of tests: what fails here fails the test"
)]

use std::process::Command;
use std::time::Duration;

use leasehold_actors::{ProcessGroup, SystemClock};
use leasehold_types::Clock;

/// Shell commands whose processes ignore every signal that can be ignored.
fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("trap '' TERM INT HUP; {script}")]);
    command
}

/// Processes of a group that are there, zombies included.
fn members(group: u32) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap();
    let is_member = |stat: String| {
        // The fields after the name: state, parent, group.
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        fields.clone().nth(2) == Some(&group.to_string())
    };
    processes
        .filter_map(|process| std::fs::read_to_string(process.unwrap().path().join("stat")).ok())
        .filter(|stat| is_member(stat.clone()))
        .count()
}

/// Waits until nothing of a group is left.
async fn gone(group: u32) {
    for _ in 0..1_000 {
        if members(group) == 0 {
            return;
        }
        SystemClock.sleep(Duration::from_millis(10)).await;
    }
    panic!("{} processes of the group are left", members(group));
}

// RELIABILITY C7
#[tokio::test]
async fn a_dropped_group_is_gone_with_everything_it_started_though_it_ignores_signals() {
    let group = ProcessGroup::spawn(shell("sleep 1000 & sleep 1000 & wait")).unwrap();
    let id = group.id();
    while members(id) < 3 {
        tokio::task::yield_now().await;
    }
    drop(group);
    gone(id).await;
}

// RELIABILITY C7
#[tokio::test]
async fn a_wait_that_is_given_up_ends_the_group() {
    let group = ProcessGroup::spawn(shell("yes & yes >&2 & wait")).unwrap();
    let id = group.id();
    let mut output = Box::pin(group.output(1_024));
    tokio::select! {
        _ = &mut output => panic!("it does not end by itself"),
        () = SystemClock.sleep(Duration::from_millis(50)) => {}
    }
    assert!(members(id) > 0);
    drop(output);
    gone(id).await;
}

// RELIABILITY C7
#[tokio::test]
async fn output_is_bounded_and_what_a_command_leaves_running_is_ended() {
    let script = "yes & head -c 3000000 /dev/zero >&2; echo done >&2; exit 7";
    let group = ProcessGroup::spawn(shell(script)).unwrap();
    let id = group.id();
    let output = group.output(1_000).await.unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert!(output.stdout.len() <= 1_000 && output.stderr.len() == 1_000);
    assert!(output.cut_bytes >= 2_999_000, "{}", output.cut_bytes);
    gone(id).await;
}

#[tokio::test]
async fn a_short_output_is_whole() {
    let group = ProcessGroup::spawn(shell("printf one; printf two >&2")).unwrap();
    let output = group.output(1_000).await.unwrap();
    assert!(output.status.success());
    assert_eq!(
        (output.stdout, output.stderr),
        (b"one".to_vec(), b"two".to_vec())
    );
    assert_eq!(output.cut_bytes, 0);
}

// RELIABILITY C7
#[tokio::test]
async fn a_process_that_left_the_group_does_not_hold_up_its_output() {
    // It keeps the stream open for longer than the test may take.
    let directory = tempfile::tempdir().unwrap();
    let fifo = directory.path().join("fifo");
    let fifo = fifo.to_str().unwrap();
    let script = format!(
        "mkfifo {fifo}; setsid sh -c 'echo $$ >{fifo}; exec sleep 1000' & read left <{fifo}; echo $left; echo end"
    );
    let group = ProcessGroup::spawn(shell(&script)).unwrap();
    let output = group.output(1_000).await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("end"), "{text:?}");
    let left: i32 = text.lines().next().unwrap().parse().unwrap();
    let left = rustix::process::Pid::from_raw(left).unwrap();
    rustix::process::kill_process(left, rustix::process::Signal::KILL).unwrap();
}
