//! Whole-system benchmarks: durable steps, what they cost, what rest costs, and the disk's own limit beside each figure.
//!
//! One run prints a table and writes JSON. A figure means something only beside the raw figures of the same run: the machine and
//! its disk differ from minute to minute. A step is one durable outcome: a model's answer with its intents, or a tool call's
//! result, on disk before the next one starts.

mod long;
mod machine;
mod raw;
mod report;
mod resting;
mod spawn;
mod stack;
mod steps;

use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;

use crate::report::Report;

/// What to measure.
#[derive(Debug, Parser)]
#[command(about = "Measures durable steps, their cost, and the disk's own limit beside them")]
struct Options {
    /// The directory whose disk is measured; emptied of what this program made when it ends.
    #[arg(long, default_value = ".")]
    directory: PathBuf,
    /// Seconds for each column.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Executions at the same time, a column each.
    #[arg(long, value_delimiter = ',', default_value = "1,16,64,256")]
    columns: Vec<usize>,
    /// Executions that rest at the same time.
    #[arg(long, default_value_t = 100_000)]
    resting: usize,
    /// Where the JSON goes.
    #[arg(long, default_value = "leasehold-bench.json")]
    json: PathBuf,
    /// Only these parts: steps, memory, resting, long, spawn.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let wants =
        |part: &str| options.only.is_empty() || options.only.iter().any(|only| only == part);
    let seconds = Duration::from_secs(options.seconds.max(1));
    let mut report = Report::new();
    if wants("steps") {
        steps::measure(&options.directory, seconds, &options.columns, &mut report)?;
    }
    if wants("memory") {
        steps::measure_in_memory(seconds, &mut report)?;
    }
    if wants("spawn") {
        spawn::measure(&mut report)?;
    }
    if wants("long") {
        long::measure(&options.directory, &mut report)?;
    }
    if wants("resting") {
        resting::measure(&options.directory, options.resting, &mut report)?;
    }
    report.finish(&options.json)
}
