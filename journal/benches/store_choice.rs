//! Which store keeps the frames: redb, fjall, or the segment log, held against what the disk can do.
//!
//! Each of N trees has one append of a 600-byte frame in flight and sends the next one from within its ack. One thread takes
//! all that are queued, checks each tail, commits them durably at once, and acks. For redb and fjall that is the smallest
//! such loop there is, without hand-over between threads. The limit is one thread that overwrites a zero-filled file, one
//! `pwrite` and one `fdatasync` a batch, and does nothing else. Run it with
//! `cargo bench -p leasehold-journal --bench store_choice`; the figures are in `docs/decisions/0001-embedded-store.md`.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark measures real time, prints, and fails by panicking"
)]

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use leasehold_journal::contract::{SeededRandom, block_on, summary};
use leasehold_journal::embedded::{EmbeddedConfig, EmbeddedStore};
use leasehold_journal::{AppendOutcome, Journal, SealedFrame, Tail, Writer, append};
use leasehold_types::{BootId, Digest, Epoch, FrameId, FrameIndex, Tenant, TreeId};
use rustix::time::{ClockId, clock_gettime};

const FRAME_BYTES: usize = 600;
const RECORD_BYTES: usize = 696;
const TREES: [u64; 4] = [1, 16, 64, 256];
const MANY_TREES: u64 = 100_000;
const RUN: Duration = Duration::from_millis(600);
/// The candidates take turns, and the quietest turn of each counts: a disk that others use too stalls now and then, and a mean
/// over all turns tells of that more than of the stores. It is printed too.
const TURNS: usize = 7;

type Run = fn(&Path, u64) -> Figures;

/// The limit comes first: the others are held against it.
const CANDIDATES: [(&str, Run); 5] = [
    ("limit", raw),
    ("segment log", own),
    ("segment log, callers sleep", own_waiting),
    ("redb", with_redb),
    ("fjall", with_fjall),
];

struct Figures {
    trees: u64,
    appends: u64,
    elapsed: Duration,
    cpu: Duration,
    /// How long each batch took.
    batches: Vec<Duration>,
}

impl Figures {
    /// The median of the batches.
    fn batch_seconds(&self) -> f64 {
        let mut batches = self.batches.clone();
        batches.sort_unstable();
        let median = batches.get(batches.len() / 2);
        median.map_or(f64::INFINITY, Duration::as_secs_f64)
    }

    fn a_second(&self) -> f64 {
        count(self.trees) / self.batch_seconds()
    }

    fn cpu_micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / count(self.appends)
    }
}

fn count(number: u64) -> f64 {
    f64::from(u32::try_from(number).unwrap())
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    seconds + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// Runs batches of `trees` appends until the time is over.
fn batches(trees: u64, mut batch: impl FnMut(u64)) -> Figures {
    let (start, cpu) = (Instant::now(), cpu_time());
    let mut took = Vec::new();
    while start.elapsed() < RUN {
        let start = Instant::now();
        batch(took.len() as u64);
        took.push(start.elapsed());
    }
    Figures {
        trees,
        appends: took.len() as u64 * trees,
        elapsed: start.elapsed(),
        cpu: cpu_time() - cpu,
        batches: took,
    }
}

fn raw(directory: &Path, trees: u64) -> Figures {
    let path = directory.join("raw");
    let bytes = 256 * 1_024 * 1_024;
    let file = OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .open(&path)
        .unwrap();
    file.write_all_at(&vec![0; bytes], 0).unwrap();
    file.sync_all().unwrap();
    let batch = vec![7; RECORD_BYTES * usize::try_from(trees).unwrap()];
    let mut offset = 0;
    let figures = batches(trees, |_| {
        if offset + batch.len() > bytes {
            offset = 0;
        }
        file.write_all_at(&batch, offset as u64).unwrap();
        file.sync_data().unwrap();
        offset += batch.len();
    });
    std::fs::remove_file(path).unwrap();
    figures
}

/// An append to a candidate that is a library: what a backend on it would have to carry.
struct Queued {
    frame: SealedFrame,
    expected: u64,
    done: Box<dyn FnOnce(u64) -> Self>,
}

fn queued(frame: SealedFrame, expected: u64) -> Queued {
    let next = frame.clone();
    let done = Box::new(move |position| queued(next, position));
    Queued {
        frame,
        expected,
        done,
    }
}

/// Runs a library in the same closed loop as the segment log.
fn grouped(trees: u64, mut commit: impl FnMut(&[(Queued, u64)])) -> Figures {
    let mut tails = std::collections::BTreeMap::new();
    let mut waiting: Vec<Queued> = (0..trees)
        .map(|number| queued(frame(tree(number)), 0))
        .collect();
    batches(trees, |_| {
        let mut taken = Vec::with_capacity(waiting.len());
        for request in waiting.drain(..) {
            let found = tails.get(&request.frame.tree).copied().unwrap_or(0);
            assert_eq!(found, request.expected);
            taken.push((request, found + 1));
        }
        commit(&taken);
        for (request, position) in taken {
            tails.insert(request.frame.tree, position);
            waiting.push((request.done)(position));
        }
    })
}

fn with_redb(directory: &Path, trees: u64) -> Figures {
    const FRAMES: redb::TableDefinition<'_, (u128, u64), &[u8]> =
        redb::TableDefinition::new("frames");
    let database = redb::Database::create(directory.join("redb")).unwrap();
    grouped(trees, |requests| {
        let transaction = database.begin_write().unwrap();
        {
            let mut table = transaction.open_table(FRAMES).unwrap();
            for (request, position) in requests {
                let key = (request.frame.tree.as_u128(), *position);
                table.insert(key, request.frame.bytes.as_slice()).unwrap();
            }
        }
        transaction.commit().unwrap();
    })
}

fn with_fjall(directory: &Path, trees: u64) -> Figures {
    let database = fjall::Database::builder(directory.join("fjall"))
        .open()
        .unwrap();
    let frames = database
        .keyspace("frames", fjall::KeyspaceCreateOptions::default)
        .unwrap();
    grouped(trees, |requests| {
        let mut batch = database
            .batch()
            .durability(Some(fjall::PersistMode::SyncData));
        for (request, position) in requests {
            let mut key = request.frame.tree.as_u128().to_be_bytes().to_vec();
            key.extend_from_slice(&position.to_be_bytes());
            batch.insert(&frames, key, request.frame.bytes.as_slice());
        }
        batch.commit().unwrap();
    })
}

fn tree(number: u64) -> TreeId {
    TreeId::from_u128(u128::from(number) << 64 | 1)
}

fn frame(tree: TreeId) -> SealedFrame {
    SealedFrame {
        tree,
        index: FrameIndex::FIRST,
        epoch: Epoch::NONE,
        id: FrameId::from_u128(1),
        hash: Digest::default(),
        bytes: vec![7; FRAME_BYTES],
    }
}

fn open(directory: &Path) -> EmbeddedStore {
    let config = EmbeddedConfig::at(directory.join("own"));
    let boot = BootId::new(&SeededRandom::new(1));
    let opened = EmbeddedStore::open(&config, boot, Arc::new(|_| {}));
    opened.unwrap().store
}

struct Load {
    store: EmbeddedStore,
    is_over: AtomicBool,
    appends: AtomicU64,
    first_tree_acked: Mutex<Vec<Instant>>,
}

/// Appends again as soon as the last append is acked, from within the ack.
fn go_on(load: Arc<Load>, expected: Tail, frame: SealedFrame) {
    let (next, again) = (frame.clone(), Arc::clone(&load));
    let done = Box::new(move |outcome| {
        let AppendOutcome::Acked(tail) = outcome else {
            return;
        };
        load.appends.fetch_add(1, Ordering::Relaxed);
        if next.tree == tree(0) {
            load.first_tree_acked.lock().unwrap().push(Instant::now());
        }
        if !load.is_over.load(Ordering::Relaxed) {
            go_on(load, tail, next);
        }
    });
    again.store.append(expected, frame, done);
}

fn own(directory: &Path, trees: u64) -> Figures {
    let load = Arc::new(Load {
        store: open(directory),
        is_over: AtomicBool::new(false),
        appends: AtomicU64::new(0),
        first_tree_acked: Mutex::default(),
    });
    let (start, cpu) = (Instant::now(), cpu_time());
    for number in 0..trees {
        let tree = tree(number);
        go_on(Arc::clone(&load), Tail::at(tree, 0), frame(tree));
    }
    while let Some(left) = RUN.checked_sub(start.elapsed()) {
        std::thread::park_timeout(left);
    }
    let acked = load.first_tree_acked.lock().unwrap().clone();
    let figures = Figures {
        trees,
        appends: load.appends.load(Ordering::Relaxed),
        elapsed: start.elapsed(),
        cpu: cpu_time() - cpu,
        batches: acked.windows(2).map(|two| two[1] - two[0]).collect(),
    };
    load.is_over.store(true, Ordering::Relaxed);
    while load.store.appends_in_flight() > 0 {
        std::thread::yield_now();
    }
    figures
}

/// As many threads as trees, at most 16: each appends, sleeps until the ack, and appends again.
fn own_waiting(directory: &Path, trees: u64) -> Figures {
    let store = open(directory);
    let threads = trees.min(16);
    let (start, cpu) = (Instant::now(), cpu_time());
    let batches: Vec<Duration> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|number| {
                let store = &store;
                scope.spawn(move || wait_for_each(store, tree(number)))
            })
            .collect();
        let took = threads.into_iter().flat_map(|t| t.join().unwrap());
        took.collect()
    });
    Figures {
        trees: threads,
        appends: batches.len() as u64,
        elapsed: start.elapsed(),
        cpu: cpu_time() - cpu,
        batches,
    }
}

fn wait_for_each(store: &EmbeddedStore, tree: TreeId) -> Vec<Duration> {
    let mut tail = Tail::at(tree, 0);
    let figures = batches(1, |_| match block_on(append(store, tail, frame(tree))) {
        AppendOutcome::Acked(next) => tail = next,
        AppendOutcome::Refused | AppendOutcome::Unknown(_) | AppendOutcome::Failed(_) => {
            println!("an append was not acked");
        }
    });
    figures.batches
}

/// Arguments: a directory to work in, then, if only one candidate is to run, its name and a number of trees.
fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| argument != "--bench")
        .collect();
    let target = env!("CARGO_TARGET_TMPDIR");
    let place = Path::new(arguments.first().map_or(target, String::as_str));
    match arguments.get(1..).unwrap_or_default() {
        [mode] if mode == "--open" => return open_many(place),
        [name, trees] => return run_one(place, name, trees.parse().unwrap()),
        _ => {}
    }
    println!(
        "| trees | store | batch, median | appends a second | of the limit | mean, stalls included | CPU an append |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for trees in TREES {
        let mut turns: Vec<Vec<Figures>> = CANDIDATES.iter().map(|_| Vec::new()).collect();
        for _ in 0..TURNS {
            for ((name, run), turns) in CANDIDATES.iter().zip(&mut turns) {
                if trees > 16 && name.ends_with("sleep") {
                    continue;
                }
                let directory = tempfile::tempdir_in(place).unwrap();
                turns.push(run(directory.path(), trees));
            }
        }
        let limit = best(&turns[0]).a_second();
        let done = CANDIDATES.iter().zip(&turns);
        for ((name, _), turns) in done.filter(|(_, turns)| !turns.is_empty()) {
            row(trees, name, turns, limit);
        }
    }
    many_trees(place);
    one_long_tree(place);
}

fn best(turns: &[Figures]) -> &Figures {
    let quicker =
        |one: &&Figures, other: &&Figures| one.batch_seconds().total_cmp(&other.batch_seconds());
    turns.iter().min_by(quicker).unwrap()
}

fn run_one(place: &Path, name: &str, trees: u64) {
    let (_, run) = CANDIDATES.into_iter().find(|(n, _)| *n == name).unwrap();
    let directory = tempfile::tempdir_in(place).unwrap();
    let figures = run(directory.path(), trees);
    let limit = figures.a_second();
    row(trees, name, &[figures], limit);
}

fn row(trees: u64, name: &str, turns: &[Figures], limit: f64) {
    let best = best(turns);
    let appends: u64 = turns.iter().map(|turn| turn.appends).sum();
    let elapsed: Duration = turns.iter().map(|turn| turn.elapsed).sum();
    println!(
        "| {trees} | {name} | {:.0} µs | {:.0} | {:.0} % | {:.0} | {:.2} µs |",
        best.batch_seconds() * 1e6,
        best.a_second(),
        best.a_second() / limit * 100.0,
        count(appends) / elapsed.as_secs_f64(),
        best.cpu_micros()
    );
}

fn resident_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn open_many(directory: &Path) {
    let before = resident_kib();
    let start = Instant::now();
    let store = open(directory);
    let opened = start.elapsed();
    let bytes = (resident_kib() - before) * 1_024 / MANY_TREES;
    println!(
        "\n100,000 trees: open {opened:?}, {bytes} bytes of memory a tree, everything included"
    );
    store.close();
}

fn many_trees(place: &Path) {
    let directory = tempfile::tempdir_in(place).unwrap();
    {
        let store = open(directory.path());
        for first in (0..MANY_TREES).step_by(10_000) {
            for number in first..first + 10_000 {
                let tree = tree(number);
                store.append(Tail::at(tree, 0), frame(tree), Box::new(drop));
            }
            while store.appends_in_flight() > 0 {
                std::thread::yield_now();
            }
        }
    }
    // In a process of its own, since this one's allocator has memory to spare.
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .env_clear()
        .args([directory.path().as_os_str(), "--open".as_ref()])
        .status();
    assert!(child.unwrap().success());
    std::fs::remove_file(directory.path().join("own/trees")).unwrap();
    let start = Instant::now();
    drop(open(directory.path()));
    let rebuilt = start.elapsed();
    println!("100,000 trees: open {rebuilt:?} without the saved table, closing included");
}

fn one_long_tree(place: &Path) {
    const COUNT: u64 = 50_000;
    let directory = tempfile::tempdir_in(place).unwrap();
    let store = open(directory.path());
    let tree = tree(0);
    let mut writer = Writer::starting(
        tree,
        Tenant::default(),
        Tail::at(tree, 0),
        &SeededRandom::new(1),
    );
    for _ in 0..COUNT {
        let frame = writer.seal(summary(), &[7; 350]).unwrap();
        match block_on(append(&store, writer.tail(), frame)) {
            AppendOutcome::Acked(tail) => {
                writer.acked(tail);
            }
            AppendOutcome::Refused | AppendOutcome::Unknown(_) | AppendOutcome::Failed(_) => {
                println!("an append was not acked");
            }
        }
    }
    let start = Instant::now();
    let (mut frames, mut bytes) = (0, 0);
    loop {
        let page = block_on(store.read(tree, FrameIndex::new(frames), 1_024 * 1_024)).unwrap();
        if page.is_empty() {
            break;
        }
        frames += page.len() as u64;
        bytes += page.iter().map(|frame| frame.bytes.len()).sum::<usize>();
    }
    let took = start.elapsed();
    println!("one tree of {frames} frames, {bytes} bytes: read in pages of 1 MiB in {took:?}");
}
