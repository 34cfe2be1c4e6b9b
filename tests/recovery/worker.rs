//! A worker process: opens the store with its planned fault, goes on with what is there, starts its runs, and ends when they have ended.

use std::fmt::Display;
use std::io::{BufRead, Write};
use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use leasehold_actors::{Node, Observer, OsRandom, StartError, StartRequest, SystemClock};
use leasehold_cluster::{Application, Backends, Config, Instance, Seams};
use leasehold_execution::Entry;
use leasehold_journal::JournalError;
use leasehold_journal::embedded::{EmbeddedConfig, EmbeddedStore, StoreFatal};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_types::{
    BootId, Clock, ExecutionId, FrameIndex, Owner, Tenant, TreeId, TreeState, TreeSummary,
};

use crate::agent::Parts;
use crate::clock::FastClock;
use crate::job::{Fault, Job, Person};
use crate::outside::{Outside, progress};
use crate::person::{Desk, principal};
use crate::tools::PLANNED;

/// The exit code of a worker that could not open the store.
pub(crate) const NOT_OPENED: i32 = 3;
/// The exit code of a worker that is stuck.
const STUCK: i32 = 99;
/// How long a worker may take: a hundred times what it needs.
const STUCK_AFTER: Duration = Duration::from_secs(100);
/// How long an operator waits for an answer, on the fast clock.
const WAIT: Duration = Duration::from_secs(1_200);

/// A small store: its segments are filled within one test.
pub(crate) fn store_config(directory: &std::path::Path) -> EmbeddedConfig {
    let mut config = EmbeddedConfig::at(directory.join("store"));
    config.segment_bytes = 512 * 1_024;
    config.reserve_bytes = 0;
    config
}

/// Does the job and ends the process.
pub(crate) fn run(job: &Job) -> ! {
    silence_planned_panics();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::select! {
            () = work(job) => {}
            () = SystemClock.sleep(STUCK_AFTER) => exit(STUCK),
        }
    });
    exit(0)
}

fn silence_planned_panics() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload_as_str() != Some(PLANNED) {
            told(panic);
        }
    }));
}

async fn work(job: &Job) {
    let outside = Arc::new(Outside::at(&job.directory, job.process));
    let parts = Arc::new(Parts::new(&outside));
    let instance = open(job, &outside, &parts).await;
    let runs = job.runs.iter().map(|run| {
        let run = Run {
            name: run,
            job,
            node: instance.node(),
            parts: &parts,
            outside: &outside,
        };
        run.carry()
    });
    join_all(runs).await;
    instance.close().await;
}

async fn open(job: &Job, outside: &Arc<Outside>, parts: &Arc<Parts>) -> Instance {
    let mut config = store_config(&job.directory);
    config.faults = job
        .fault
        .and_then(|fault| fault.plan())
        .into_iter()
        .collect();
    let fatal = Arc::new(|_| exit(StoreFatal::EXIT_CODE.into()));
    let opened = match EmbeddedStore::open(&config, BootId::new(&OsRandom), fatal) {
        Ok(opened) => opened,
        Err(error) => {
            say(&error.to_string());
            exit(NOT_OPENED)
        }
    };
    let clock = Arc::new(FastClock);
    let backends = Backends {
        store: Arc::new(crate::store::Trapped::new(opened.store, outside, job.fault)),
        leases: Arc::new(LocalLeaseStore::new(clock.clone(), Expiry::Never)),
    };
    let application = Application {
        agents: parts.clone(),
        channels: parts.clone(),
    };
    let seams = Seams {
        clock,
        observer: Arc::new(Tripwire::of(job.fault, outside)),
        ..Seams::default()
    };
    let config = Config::at(&job.directory).unwrap();
    Instance::over(&config, backends, application, seams)
        .await
        .unwrap()
}

fn say(text: &str) {
    let mut out = std::io::stderr().lock();
    writeln!(out, "{text}").unwrap();
}

/// An observer that panics once where it is planned, on the actor that tells it.
#[derive(Debug)]
struct Tripwire {
    nth: Option<u64>,
    told: AtomicU64,
    outside: Arc<Outside>,
}

impl Tripwire {
    fn of(fault: Option<Fault>, outside: &Arc<Outside>) -> Self {
        let nth = match fault {
            Some(Fault::ActorPanic(nth)) => Some(nth),
            _ => None,
        };
        Self {
            nth,
            told: AtomicU64::new(0),
            outside: Arc::clone(outside),
        }
    }
}

impl Observer for Tripwire {
    fn durable(&self, _: TreeId, frame: FrameIndex, _: &[Entry]) {
        if frame == FrameIndex::FIRST {
            // Of a start its caller is told, not an actor.
            return;
        }
        let told = self.told.fetch_add(1, Ordering::SeqCst) + 1;
        if self.nth == Some(told) {
            self.outside.put("panicked");
            panic!("{PLANNED}");
        }
    }
}

/// One run of a worker, from its start or from wherever it stands, to its end.
struct Run<'a> {
    name: &'a str,
    job: &'a Job,
    node: &'a Node,
    parts: &'a Parts,
    outside: &'a Arc<Outside>,
}

impl Run<'_> {
    async fn carry(self) {
        let agent = self.name.split('-').next().unwrap();
        let execution = self.start(agent).await;
        let tree = execution.tree();
        let desk = Desk {
            node: self.node,
            parts: self.parts,
            outside: self.outside,
            execution,
            agent,
        };
        loop {
            let stands = |summary: &TreeSummary| {
                matches!(summary.state, TreeState::Ended | TreeState::Blocked)
                    || !summary.pauses.is_empty()
            };
            let summary = or_end(self.node.wait_for(tree, stands).await).await;
            match (summary.state, self.job.person) {
                (TreeState::Ended, Person::Waits) => return wait_for_a_word("ended").await,
                (TreeState::Ended, _) | (TreeState::Blocked, Person::LeavesBlocked) => return,
                (TreeState::Blocked, Person::Answers | Person::Waits) => {
                    self.outside.put("retried");
                    or_end(self.node.retry(tree, principal("op"), WAIT).await).await;
                }
                (TreeState::Live | TreeState::Resting, person) => {
                    if person == Person::Waits {
                        let resting = |summary: &TreeSummary| summary.state == TreeState::Resting;
                        or_end(self.node.wait_for(tree, resting).await).await;
                        wait_for_a_word("rests").await;
                    }
                    desk.answer_all().await;
                }
            }
        }
    }

    /// Starts it, again where the store has no space for the moment.
    async fn start(&self, agent: &str) -> ExecutionId {
        loop {
            match self.node.start(self.request(agent)).await {
                Ok(execution) => return execution,
                // Whether it is there, the next try tells.
                Err(StartError::Store(JournalError::StoreFull(_)) | StartError::Unknown { .. }) => {
                }
                error @ Err(_) => return or_end(error).await,
            }
        }
    }

    /// Started again, it is the same execution: the key is the run's name.
    fn request(&self, agent: &str) -> StartRequest {
        StartRequest {
            agent: agent.to_owned(),
            input: self.name.to_owned(),
            owner: Owner::new(self.name),
            tenant: Tenant::default(),
            thread: None,
            started_by: principal("dana"),
            idempotency_key: Some(self.name.to_owned()),
        }
    }
}

/// What was asked for. After a failed sync the process is about to end: nobody goes on.
pub(crate) async fn or_end<T, E: Display>(result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) if error.to_string().contains("[journal.poisoned]") => {
            std::future::pending().await
        }
        Err(error) => panic!("{error}"),
    }
}

/// Tells the harness how things stand, and waits until it says a word.
async fn wait_for_a_word(stands: &str) {
    progress(stands);
    let word = tokio::task::spawn_blocking(|| std::io::stdin().lock().lines().next());
    word.await.unwrap().unwrap().unwrap();
}
