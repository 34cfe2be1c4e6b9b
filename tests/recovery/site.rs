//! One store with its outside world, and the processes that work there one after the other.

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use leasehold_journal::embedded::StoreFatal;
use tempfile::TempDir;

use crate::job::{DIRECTORY, Fault, JOB, Job, Person};
use crate::outside::Outside;

/// This program, also where its file was replaced by a newer build meanwhile.
const PROGRAM: &str = "/proc/self/exe";
/// The test that becomes a worker where this program is started with a job.
const HOST: &str = "points::a_run_without_a_crash_ends_with_every_effect_made_once";
/// The most processes one after the other before a site is called stuck.
const PROCESSES_MAX: u32 = 64;

/// A process that is forked and not yet the new program holds every lock of this one: no store is open here meanwhile.
static FORKS: RwLock<()> = RwLock::new(());

/// Held while a store is open in the test's own process.
pub(crate) fn nobody_forks() -> RwLockReadGuard<'static, ()> {
    FORKS.read().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a process by `spawn`, which returns once it runs the new program.
pub(crate) fn fork<T>(spawn: impl FnOnce() -> T) -> T {
    let _no_store_is_open: RwLockWriteGuard<'_, ()> =
        FORKS.write().unwrap_or_else(PoisonError::into_inner);
    spawn()
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Its runs have ended.
    Done,
    /// By SIGKILL.
    Killed,
    /// By `abort`.
    Aborted,
    /// By itself, because its store failed.
    StoreFailed,
}

/// A store and the world outside it.
#[derive(Debug)]
pub(crate) struct Site {
    directory: TempDir,
    runs: Vec<String>,
    pub(crate) person: Person,
    processes: u32,
    /// Processes that did not come to the end of their runs.
    pub(crate) crashes: u32,
}

impl Site {
    pub(crate) fn new(runs: &[&str]) -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            runs: runs.iter().map(|run| (*run).to_owned()).collect(),
            person: Person::Answers,
            processes: 0,
            crashes: 0,
        }
    }

    /// The reference execution alone.
    pub(crate) fn reference() -> Self {
        Self::new(&["reference-0"])
    }

    /// Goes on with other runs in the same store.
    pub(crate) fn next_runs(&mut self, runs: Vec<String>) {
        self.runs = runs;
    }

    pub(crate) fn runs(&self) -> &[String] {
        &self.runs
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.directory.path()
    }

    pub(crate) fn outside(&self) -> Outside {
        Outside::at(self.path(), 0)
    }

    /// The next process, with its standard streams as they are given.
    pub(crate) fn command(&mut self, fault: Option<Fault>) -> Command {
        self.processes += 1;
        let job = Job {
            directory: self.path().to_owned(),
            process: self.processes,
            runs: self.runs.clone(),
            person: self.person,
            fault,
        };
        let mut command = Command::new(PROGRAM);
        command
            .args([HOST, "--exact", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, self.path())
            .env(JOB, job.words())
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        command
    }

    /// Runs one process to its end, by itself or by its fault.
    pub(crate) fn run(&mut self, fault: Option<Fault>) -> End {
        let mut command = self.command(fault);
        let mut child = fork(|| command.spawn()).unwrap();
        let status = child.wait().unwrap();
        self.ended(status)
    }

    /// Runs one process and kills it once it has said `events` things; sooner if it ends by itself.
    pub(crate) fn run_and_kill_after(&mut self, events: usize) -> End {
        let mut command = self.command(None);
        command.stdout(Stdio::piped());
        let mut child = fork(|| command.spawn()).unwrap();
        wait_for_words(&mut child, "did", events);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        self.ended(status)
    }

    /// Goes on until the runs have ended.
    #[track_caller]
    pub(crate) fn finish(&mut self) {
        while self.run(None) != End::Done {
            assert!(self.processes < PROCESSES_MAX, "the runs do not end");
        }
    }

    #[track_caller]
    pub(crate) fn ended(&mut self, status: ExitStatus) -> End {
        let end = match (status.code(), status.signal()) {
            (Some(0), _) => End::Done,
            (_, Some(9)) => End::Killed,
            (_, Some(6)) => End::Aborted,
            (Some(code), _) if code == i32::from(StoreFatal::EXIT_CODE) => End::StoreFailed,
            _ => panic!("a process ended unplanned: {status}"),
        };
        self.crashes += u32::from(end != End::Done);
        end
    }
}

/// Reads what a child says until it has said `word` so often, or is gone. Whether it was said.
pub(crate) fn wait_for_words(child: &mut Child, word: &str, times: usize) -> bool {
    let out = BufReader::new(child.stdout.take().unwrap());
    let said = out
        .lines()
        .map_while(Result::ok)
        .filter(|line| line == word);
    said.take(times).count() == times
}
