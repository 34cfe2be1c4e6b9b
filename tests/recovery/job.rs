//! What a child process is told to do, as one word list in its environment.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use leasehold_journal::embedded::{FaultAction, FaultPlan, FaultPoint};

/// The environment variable with the site's directory.
pub(crate) const DIRECTORY: &str = "LEASEHOLD_TEST_DIRECTORY";
/// The environment variable with the job.
pub(crate) const JOB: &str = "LEASEHOLD_TEST_JOB";

/// The points of an append, in their order.
pub(crate) const POINTS: [(FaultPoint, &str); 4] = [
    (FaultPoint::BeforeWrite, "before-write"),
    (FaultPoint::AfterWrite, "after-write"),
    (FaultPoint::AfterFsync, "after-fsync"),
    (FaultPoint::AfterAck, "after-ack"),
];

/// "I/O error" and "no space left on device". Source: Linux, `include/uapi/asm-generic/errno-base.h`.
const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// Where the process is killed, or an actor of it, counted from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// At a point of the n-th append.
    Append(FaultPoint, u64),
    /// Before the n-th change of letters, keys or blobs.
    BeforeChange(u64),
    /// After it is durable, before anybody is told.
    AfterChange(u64),
    /// When frames are read for the n-th time.
    AtRead(u64),
    /// Not the process: the sync of the n-th append fails, and the worker ends itself.
    NoSync(u64),
    /// Not the process: there is no space for the n-th append, and there is for the next.
    NoSpace(u64),
    /// Not the process: the tree's actor panics when it tells of durable entries for the n-th time.
    ActorPanic(u64),
}

impl Fault {
    /// What the store must be told of it.
    pub(crate) fn plan(self) -> Option<FaultPlan> {
        let (point, nth, action) = match self {
            Self::Append(point, nth) => (point, nth, FaultAction::Kill),
            Self::NoSync(nth) => (FaultPoint::AfterWrite, nth, FaultAction::Error(EIO)),
            Self::NoSpace(nth) => (FaultPoint::BeforeWrite, nth, FaultAction::Error(ENOSPC)),
            Self::BeforeChange(_)
            | Self::AfterChange(_)
            | Self::AtRead(_)
            | Self::ActorPanic(_) => return None,
        };
        Some(FaultPlan { point, nth, action })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, nth) = match self {
            Self::Append(point, nth) => {
                let (_, word) = POINTS
                    .into_iter()
                    .find(|(known, _)| known == point)
                    .unwrap();
                (word, nth)
            }
            Self::BeforeChange(nth) => ("before-change", nth),
            Self::AfterChange(nth) => ("after-change", nth),
            Self::AtRead(nth) => ("at-read", nth),
            Self::NoSync(nth) => ("no-sync", nth),
            Self::NoSpace(nth) => ("no-space", nth),
            Self::ActorPanic(nth) => ("actor-panic", nth),
        };
        write!(f, "{word}:{nth}")
    }
}

impl FromStr for Fault {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (word, nth) = text.split_once(':').unwrap_or_default();
        let nth = nth.parse()?;
        Ok(match word {
            "before-change" => Self::BeforeChange(nth),
            "after-change" => Self::AfterChange(nth),
            "at-read" => Self::AtRead(nth),
            "no-sync" => Self::NoSync(nth),
            "no-space" => Self::NoSpace(nth),
            "actor-panic" => Self::ActorPanic(nth),
            word => {
                let (point, _) = POINTS
                    .into_iter()
                    .find(|(_, known)| *known == word)
                    .unwrap();
                Self::Append(point, nth)
            }
        })
    }
}

/// What the person at the worker does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Person {
    /// Answers every question, and lets go on what was quarantined.
    Answers,
    /// Answers every question, and leaves alone what was quarantined.
    LeavesBlocked,
    /// Answers once a line comes on standard input.
    Waits,
}

/// One child's job.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    /// The site.
    pub(crate) directory: PathBuf,
    /// How many processes of the site came before, and this one.
    pub(crate) process: u32,
    /// The runs to start or go on with: `reference-0`. A run's agent is the word before the `-`.
    pub(crate) runs: Vec<String>,
    pub(crate) person: Person,
    pub(crate) fault: Option<Fault>,
}

impl Job {
    /// The job as it stands in the environment.
    pub(crate) fn words(&self) -> String {
        let person = match self.person {
            Person::Answers => "answers",
            Person::LeavesBlocked => "leaves-blocked",
            Person::Waits => "waits",
        };
        let fault = self
            .fault
            .map_or_else(|| "none".to_owned(), |fault| fault.to_string());
        format!("{} {} {person} {fault}", self.process, self.runs.join(","))
    }

    /// The job of this process, if it is a child.
    #[expect(
        clippy::disallowed_methods,
        reason = "how a test tells its child process what to do"
    )]
    pub(crate) fn of_this_process() -> Option<Self> {
        let directory = std::env::var(DIRECTORY).ok()?.into();
        let words = std::env::var(JOB).ok()?;
        let words: Vec<&str> = words.split(' ').collect();
        let [process, runs, person, fault] = words[..] else {
            panic!("no job: {words:?}");
        };
        Some(Self {
            directory,
            process: process.parse().unwrap(),
            runs: runs.split(',').map(str::to_owned).collect(),
            person: match person {
                "answers" => Person::Answers,
                "leaves-blocked" => Person::LeavesBlocked,
                _ => Person::Waits,
            },
            fault: (fault != "none").then(|| fault.parse().unwrap()),
        })
    }
}
