//! What the tests of the embedded store share: opening, child processes that are killed, and what must hold afterwards.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};

use leasehold_journal::contract::{SeededRandom, block_on, summary};
use leasehold_journal::embedded::{
    EmbeddedConfig, EmbeddedStore, FatalHook, FaultPlan, OpenedStore, StoreOpenError,
};
use leasehold_journal::{AppendOutcome, Chain, Frame, Journal, JournalError, Tail, Writer, append};
use leasehold_types::{BootId, Tenant, TreeId};

/// A small store: segments of 512 KiB.
pub(crate) fn config(directory: &Path) -> EmbeddedConfig {
    let mut config = EmbeddedConfig::at(directory.join("store"));
    config.segment_bytes = 512 * 1_024;
    config.reserve_bytes = 0;
    config
}

pub(crate) fn ignore_fatal() -> FatalHook {
    Arc::new(|_| {})
}

pub(crate) fn try_open(config: &EmbeddedConfig) -> Result<OpenedStore, StoreOpenError> {
    let boot = BootId::new(&SeededRandom::new(7));
    EmbeddedStore::open(config, boot, ignore_fatal())
}

#[track_caller]
pub(crate) fn open(directory: &Path) -> OpenedStore {
    try_open(&config(directory)).unwrap()
}

pub(crate) fn tree(number: u64) -> TreeId {
    leasehold_journal::contract::tree("embedded", number)
}

/// The writer that goes on with a tree, whatever is in it.
pub(crate) fn writer(store: &EmbeddedStore, tree: TreeId, seed: u64) -> Writer {
    let random = SeededRandom::new(seed);
    let read = block_on(store.tail(tree)).unwrap();
    match read.last {
        None => Writer::starting(tree, Tenant::default(), read.tail, &random),
        Some(last) => Writer::claiming(&Frame::read(&last.bytes).unwrap(), read.tail, &random),
    }
}

/// Appends one frame and says what became of it.
pub(crate) fn write(store: &EmbeddedStore, writer: &mut Writer, body: &[u8]) -> AppendOutcome {
    let frame = match writer.in_flight() {
        Some(frame) => frame.clone(),
        None => writer.seal(summary(), body).unwrap(),
    };
    let outcome = block_on(append(store, writer.tail(), frame));
    if let AppendOutcome::Acked(tail) = outcome {
        writer.acked(tail);
    }
    outcome
}

#[track_caller]
pub(crate) fn write_acked(store: &EmbeddedStore, writer: &mut Writer, body: &[u8]) -> Tail {
    match write(store, writer, body) {
        AppendOutcome::Acked(tail) => tail,
        other @ (AppendOutcome::Refused | AppendOutcome::Unknown(_) | AppendOutcome::Failed(_)) => {
            panic!("not acked: {other:?}")
        }
    }
}

/// All bodies of a tree, each frame held against the one before it.
pub(crate) fn bodies(store: &EmbeddedStore, tree: TreeId) -> Result<Vec<Vec<u8>>, JournalError> {
    block_on(store.tail(tree))?;
    let mut chain = Chain::empty(tree);
    let mut bodies = Vec::new();
    loop {
        let page = block_on(store.read(tree, chain.next_index(), 1 << 20))?;
        if page.is_empty() {
            return Ok(bodies);
        }
        for stored in page {
            bodies.push(chain.read(&stored.bytes)?.body);
        }
    }
}

/// Where a child process notes what it was told is durable.
#[derive(Clone)]
pub(crate) struct Acks(Arc<Mutex<std::fs::File>>);

impl Acks {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        let path = directory.join("acks");
        let file = OpenOptions::new().create(true).append(true).open(path);
        Self(Arc::new(Mutex::new(file.unwrap())))
    }

    /// One system call, so that nothing is lost with the process.
    pub(crate) fn note(&self, tree: u64, body: &str) {
        let line = format!("{tree} {body}\n");
        self.0.lock().unwrap().write_all(line.as_bytes()).unwrap();
    }
}

/// What was noted, by tree, in order.
pub(crate) fn acked(directory: &Path) -> BTreeMap<u64, Vec<String>> {
    let mut acked: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    let text = std::fs::read_to_string(directory.join("acks")).unwrap_or_default();
    for line in text.lines() {
        let (tree, body) = line.split_once(' ').unwrap();
        let bodies = acked.entry(tree.parse().unwrap()).or_default();
        bodies.push(body.to_owned());
    }
    acked
}

/// What this process was started for, if it is a child of a test: a directory and a word.
#[expect(
    clippy::disallowed_methods,
    reason = "how a test tells its child process what to do"
)]
pub(crate) fn child_job() -> Option<(PathBuf, String)> {
    let directory = std::env::var("LEASEHOLD_TEST_DIRECTORY").ok()?;
    let word = std::env::var("LEASEHOLD_TEST_JOB").ok()?;
    Some((directory.into(), word))
}

/// The command that runs the test `name` of this file again, as a child with a job.
pub(crate) fn child_command(program: &Path, name: &str, directory: &Path, word: &str) -> Command {
    let mut command = Command::new(program);
    command
        .args([name, "--exact", "--nocapture", "--test-threads=1"])
        .env("LEASEHOLD_TEST_DIRECTORY", directory)
        .env("LEASEHOLD_TEST_JOB", word)
        .stdout(std::process::Stdio::null());
    command
}

pub(crate) fn spawn_child(name: &str, directory: &Path, word: &str) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = child_command(&program, name, directory, word);
    command.spawn().unwrap()
}

pub(crate) fn run_child(name: &str, directory: &Path, word: &str) -> ExitStatus {
    spawn_child(name, directory, word).wait().unwrap()
}

/// Whether a process ended by SIGKILL.
pub(crate) fn was_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    status.signal() == Some(9)
}

pub(crate) fn with_fault(mut config: EmbeddedConfig, plan: FaultPlan) -> EmbeddedConfig {
    config.faults = vec![plan];
    config
}

/// The journal's files as they are now, without the lock: what a crash leaves.
#[derive(Clone)]
pub(crate) struct Image(pub(crate) BTreeMap<String, Vec<u8>>);

impl Image {
    pub(crate) fn of(directory: &Path) -> Self {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(directory.join("store")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if name.starts_with("segment-") || name == "STORE" || name == "trees" {
                files.insert(name, std::fs::read(path).unwrap());
            }
        }
        Self(files)
    }

    pub(crate) fn first_segment(&mut self) -> &mut Vec<u8> {
        self.0.get_mut("segment-0000000000.log").unwrap()
    }

    /// Where the first segment's last byte that is not zero ends.
    pub(crate) fn used(&mut self) -> usize {
        let bytes = self.first_segment();
        bytes.iter().rposition(|byte| *byte != 0).unwrap() + 1
    }

    /// Opens a store of these files, in a directory of its own. In memory where the system has such a place: the files are
    /// written thousands of times, and what is durable is decided by the image alone.
    pub(crate) fn open(&self) -> (tempfile::TempDir, Result<OpenedStore, StoreOpenError>) {
        let directory = fast_directory();
        let store = directory.path().join("store");
        std::fs::create_dir(&store).unwrap();
        for (name, bytes) in &self.0 {
            std::fs::write(store.join(name), bytes).unwrap();
        }
        let opened = try_open(&config(directory.path()));
        (directory, opened)
    }
}

pub(crate) fn fast_directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Appends a frame with the first writer, and then one with each of the others, which are taken in as one write: the
/// store's thread is held in the first one's ack until they are queued.
pub(crate) fn write_at_once(store: &EmbeddedStore, writers: &mut [Writer], body: &[u8]) {
    let (first, rest) = writers.split_first_mut().unwrap();
    let frame = first.seal(summary(), body).unwrap();
    let (queued, all_queued) = std::sync::mpsc::channel::<()>();
    let (told, first_outcome) = std::sync::mpsc::channel();
    let done = move |outcome| {
        told.send(outcome).unwrap();
        all_queued.recv().unwrap();
    };
    store.append(first.tail(), frame, Box::new(done));
    let mut waiting = vec![first_outcome];
    first_acked(&mut waiting, first);
    for writer in rest.iter_mut() {
        let frame = writer.seal(summary(), body).unwrap();
        let (told, outcome) = std::sync::mpsc::channel();
        let done = move |outcome| told.send(outcome).unwrap();
        store.append(writer.tail(), frame, Box::new(done));
        waiting.push(outcome);
    }
    queued.send(()).unwrap();
    for writer in rest {
        first_acked(&mut waiting, writer);
    }
}

fn first_acked(waiting: &mut Vec<std::sync::mpsc::Receiver<AppendOutcome>>, writer: &mut Writer) {
    match waiting.remove(0).recv().unwrap() {
        AppendOutcome::Acked(tail) => {
            writer.acked(tail);
        }
        other @ (AppendOutcome::Refused | AppendOutcome::Unknown(_) | AppendOutcome::Failed(_)) => {
            panic!("not acked: {other:?}")
        }
    }
}
