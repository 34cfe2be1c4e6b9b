//! System calls that fail, stop the process, or take their time: provoked from outside with strace, so that the whole path down
//! to the kernel is what is tested.
//!
//! Behind the feature `syscall-tests`: it needs strace, and a system that lets a process trace its child.

#![cfg(feature = "syscall-tests")]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod support;

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;

use leasehold_journal::contract::SeededRandom;
use leasehold_journal::embedded::{EmbeddedStore, StoreFatal};
use leasehold_journal::{AppendOutcome, JournalError};
use leasehold_types::BootId;
use support::{Acks, acked, bodies, child_command, child_job, config, open, tree, write, writer};

const APPENDS: u8 = 12;

/// Writes frames until one is not acked for another reason than lack of space.
fn write_child() -> bool {
    let Some((directory, _)) = child_job() else {
        return false;
    };
    let boot = BootId::new(&SeededRandom::new(3));
    let exit = Arc::new(|_| std::process::exit(i32::from(StoreFatal::EXIT_CODE)));
    let Ok(opened) = EmbeddedStore::open(&config(&directory), boot, exit) else {
        std::process::exit(i32::from(StoreFatal::EXIT_CODE));
    };
    let store = opened.store;
    let acks = Acks::in_directory(&directory);
    let mut writer = writer(&store, tree(0), 1);
    for number in 0..APPENDS {
        loop {
            match write(&store, &mut writer, &[number]) {
                AppendOutcome::Acked(_) => break,
                AppendOutcome::Failed(JournalError::StoreFull(_)) => {}
                // The hook ends the process.
                AppendOutcome::Refused | AppendOutcome::Unknown(_) | AppendOutcome::Failed(_) => {
                    loop {
                        std::thread::park();
                    }
                }
            }
        }
        acks.note(0, &number.to_string());
    }
    true
}

/// Runs the child under strace with one injection.
fn run_traced(name: &str, directory: &Path, injection: &str) -> ExitStatus {
    let program = std::env::current_exe().unwrap();
    let child = child_command(&program, name, directory, "traced");
    let log = directory.join("strace");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-o", log.to_str().unwrap()])
        .args(["-e", "trace=pwrite64,fdatasync", "-e", injection])
        .arg(&program)
        .args(child.get_args())
        .stdout(std::process::Stdio::null());
    for (key, value) in child.get_envs() {
        command.env(key, value.unwrap());
    }
    let status = command.status();
    status.unwrap_or_else(|error| panic!("strace is needed (apt-get install strace): {error}"))
}

/// Makes the store, so that the child's first calls are those of its appends.
fn prepared() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).store.close();
    directory
}

#[track_caller]
fn check_recovery(directory: &Path, name: &str) -> usize {
    let acked = acked(directory).get(&0).map_or(0, Vec::len);
    let found = bodies(&open(directory).store, tree(0)).unwrap();
    let expected: Vec<Vec<u8>> = (0..u8::try_from(found.len()).unwrap())
        .map(|number| vec![number])
        .collect();
    assert_eq!(found, expected, "{name}");
    assert!(
        found.len() >= acked,
        "{name}: {acked} acked, {} there",
        found.len()
    );
    acked
}

// RELIABILITY ES1
#[test]
fn a_sync_that_fails_in_the_kernel_ends_the_process_and_is_not_repeated() {
    const NAME: &str = "a_sync_that_fails_in_the_kernel_ends_the_process_and_is_not_repeated";
    if write_child() {
        return;
    }
    let mut most = 0;
    for nth in 1..=8 {
        let directory = prepared();
        let injection = format!("inject=fdatasync:error=EIO:when={nth}");
        let status = run_traced(NAME, directory.path(), &injection);
        assert_eq!(status.code(), Some(74), "sync {nth}");
        let log = std::fs::read_to_string(directory.path().join("strace")).unwrap();
        let after = log.split_once("EIO").unwrap().1;
        // strace counts by thread: a low number meets the opening, which is refused.
        let was_opened = directory.path().join("acks").exists();
        let is_repeated = was_opened && after.contains("fdatasync(");
        assert!(!is_repeated, "sync {nth} was tried again");
        most = most.max(check_recovery(directory.path(), &injection));
    }
    assert!(most > 2, "some syncs failed behind acked appends: {most}");
}

// RELIABILITY C2
#[test]
fn a_kill_at_the_nth_write_or_sync_loses_nothing_acked() {
    const NAME: &str = "a_kill_at_the_nth_write_or_sync_loses_nothing_acked";
    if write_child() {
        return;
    }
    for call in ["pwrite64", "fdatasync"] {
        for nth in 1..=u32::from(APPENDS) {
            let directory = prepared();
            let injection = format!("inject={call}:signal=SIGKILL:when={nth}");
            run_traced(NAME, directory.path(), &injection);
            let acked = check_recovery(directory.path(), &injection);
            assert!(acked < usize::from(APPENDS), "{injection}: it was killed");
        }
    }
}

// RELIABILITY ES2
#[test]
fn a_write_that_finds_no_space_in_the_kernel_is_no_end() {
    const NAME: &str = "a_write_that_finds_no_space_in_the_kernel_is_no_end";
    if write_child() {
        return;
    }
    for nth in 4..=10 {
        let directory = prepared();
        let injection = format!("inject=pwrite64:error=ENOSPC:when={nth}");
        let status = run_traced(NAME, directory.path(), &injection);
        assert!(status.success(), "write {nth}: {status}");
        let acked = check_recovery(directory.path(), &injection);
        assert_eq!(acked, usize::from(APPENDS), "write {nth}");
    }
}

// RELIABILITY ES8
#[test]
fn a_slow_disk_makes_appends_slow_and_nothing_else() {
    const NAME: &str = "a_slow_disk_makes_appends_slow_and_nothing_else";
    if write_child() {
        return;
    }
    let directory = prepared();
    let injection = "inject=fdatasync:delay_enter=50000:when=1..10";
    let status = run_traced(NAME, directory.path(), injection);
    assert!(status.success());
    let acked = check_recovery(directory.path(), injection);
    assert_eq!(acked, usize::from(APPENDS));
}
