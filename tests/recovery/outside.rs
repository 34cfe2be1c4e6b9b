//! The world outside: what tools did and what the provider bills, in files that outlive every worker.
//!
//! - OUTSIDE-1: a line is written with one system call, so a killed process leaves whole lines or none.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What came of a call that arrived outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// It only looked.
    Read,
    /// It had its effect.
    Applied,
    /// Its key was known: it has the stored result and no effect.
    Known,
    /// It was turned away, to be tried again.
    Refused,
}

impl Arrival {
    const ALL: [(Self, &str); 4] = [
        (Self::Read, "read"),
        (Self::Applied, "applied"),
        (Self::Known, "known"),
        (Self::Refused, "refused"),
    ];

    fn word(self) -> &'static str {
        Self::ALL
            .into_iter()
            .find(|(arrival, _)| *arrival == self)
            .unwrap()
            .1
    }

    fn read(word: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|(_, known)| *known == word)
            .unwrap()
            .0
    }
}

/// One line of the sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    pub(crate) key: String,
    pub(crate) tool: String,
    pub(crate) process: u32,
    pub(crate) arrival: Arrival,
    /// What it cost, in micro-units.
    pub(crate) micros: u64,
}

/// One line of the provider's bill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bill {
    /// Whose: the name of the run.
    pub(crate) run: String,
    /// For which turn, from 1.
    pub(crate) turn: u32,
    pub(crate) micros: u64,
}

/// The files outside. One process writes them at a time.
#[derive(Debug)]
pub(crate) struct Outside {
    directory: PathBuf,
    process: u32,
    /// Looking and writing are one step: two calls of one key never both apply.
    turn: Mutex<()>,
}

impl Outside {
    pub(crate) fn at(directory: &Path, process: u32) -> Self {
        let directory = directory.to_owned();
        let turn = Mutex::new(());
        Self {
            directory,
            process,
            turn,
        }
    }

    /// Adds a line, durably where `sync` says so, and tells whoever counts this process's progress.
    fn write(&self, file: &str, parts: &[&str], sync: impl FnOnce(&File)) {
        let path = self.directory.join(file);
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap();
        let line = format!("{}\n", parts.join("\t"));
        file.write_all(line.as_bytes()).unwrap();
        sync(&file);
        progress("did");
    }

    fn lines(&self, file: &str) -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(self.directory.join(file)).unwrap_or_default();
        let parts = |line: &str| line.split('\t').map(str::to_owned).collect();
        text.lines().map(parts).collect()
    }

    /// A call arrives that costs `fee` where it is applied. `decide` says what comes of it from the lines of its key; the line
    /// that it has its receipt from is told.
    pub(crate) fn arrive(
        &self,
        key: &str,
        tool: &str,
        fee: u64,
        decide: impl FnOnce(&[Effect]) -> Arrival,
    ) -> (Arrival, usize) {
        let _turn = self.turn.lock().unwrap();
        let all = self.effects();
        let before: Vec<Effect> = all
            .iter()
            .filter(|effect| effect.key == key)
            .cloned()
            .collect();
        let arrival = decide(&before);
        let process = self.process.to_string();
        // Effect and bill are one line: nothing comes between them.
        let fee = if arrival == Arrival::Applied { fee } else { 0 };
        self.write(
            "sink",
            &[key, tool, &process, arrival.word(), &fee.to_string()],
            |file| file.sync_data().unwrap(),
        );
        let first = all
            .iter()
            .position(|effect| effect.key == key && effect.arrival == Arrival::Applied);
        let receipt = match arrival {
            Arrival::Known => first.unwrap(),
            Arrival::Read | Arrival::Applied | Arrival::Refused => all.len(),
        };
        (arrival, receipt)
    }

    /// Everything that arrived, in order.
    pub(crate) fn effects(&self) -> Vec<Effect> {
        let effect = |parts: Vec<String>| Effect {
            key: parts[0].clone(),
            tool: parts[1].clone(),
            process: parts[2].parse().unwrap(),
            arrival: Arrival::read(&parts[3]),
            micros: parts[4].parse().unwrap(),
        };
        self.lines("sink").into_iter().map(effect).collect()
    }

    /// The provider bills a call.
    pub(crate) fn bill(&self, run: &str, turn: u32, micros: u64) {
        let line = [run, &turn.to_string(), &micros.to_string()];
        self.write("bills", &line, |file| file.sync_data().unwrap());
    }

    /// All bills.
    pub(crate) fn bills(&self) -> Vec<Bill> {
        let bill = |parts: Vec<String>| Bill {
            run: parts[0].clone(),
            turn: parts[1].parse().unwrap(),
            micros: parts[2].parse().unwrap(),
        };
        self.lines("bills").into_iter().map(bill).collect()
    }

    /// A question is put.
    pub(crate) fn ask(&self, reference: &str) {
        self.write("asks", &[reference], |_| {});
    }

    /// The questions that were put.
    pub(crate) fn asks(&self) -> Vec<String> {
        self.lines("asks")
            .into_iter()
            .map(|parts| parts[0].clone())
            .collect()
    }

    /// Takes note that a frame is handed to the store, or acked.
    pub(crate) fn note_frame(&self, file: FrameNote, tree: &str, index: u64, id: &str) {
        self.write(file.name(), &[tree, &index.to_string(), id], |_| {});
    }

    /// The frames that were handed over or acked: tree, index and id.
    pub(crate) fn frames(&self, file: FrameNote) -> Vec<(String, u64, String)> {
        let frame = |parts: Vec<String>| {
            (
                parts[0].clone(),
                parts[1].parse().unwrap(),
                parts[2].clone(),
            )
        };
        self.lines(file.name()).into_iter().map(frame).collect()
    }

    /// Whether somebody has put a file of this name there.
    pub(crate) fn has(&self, file: &str) -> bool {
        self.directory.join(file).exists()
    }

    /// Puts a file there.
    pub(crate) fn put(&self, file: &str) {
        self.write(file, &["here"], |_| {});
    }
}

/// Which list a frame is noted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameNote {
    /// Handed to the store.
    Sent,
    /// Acked by it.
    Acked,
}

impl FrameNote {
    const fn name(self) -> &'static str {
        match self {
            Self::Sent => "sent",
            Self::Acked => "acked",
        }
    }
}

/// Tells the harness a word on a line of its own. Nobody may listen any more.
pub(crate) fn progress(word: &str) {
    let line = format!("\n{word}\n");
    let mut out = std::io::stdout().lock();
    let told = out.write_all(line.as_bytes()).and_then(|()| out.flush());
    drop(told);
}
