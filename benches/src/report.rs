//! The table for people and the JSON for programs, from the same rows.

use std::io::Write;
use std::path::Path;

use serde::Serialize;

/// One measured figure.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio_to_raw: Option<f64>,
}

/// All figures of one run.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    schema: u32,
    cores: usize,
    rows: Vec<Row>,
}

impl Report {
    pub(crate) fn new() -> Self {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        Self {
            schema: 1,
            cores,
            rows: vec![],
        }
    }

    /// Takes a figure, and says it at once.
    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.add_ratio(name, value, unit, None);
    }

    /// Takes a figure with its ratio to the raw limit.
    pub(crate) fn add_ratio(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        ratio_to_raw: Option<f64>,
    ) {
        let row = Row {
            name: name.into(),
            value,
            unit,
            ratio_to_raw,
        };
        let ratio = ratio_to_raw
            .map(|ratio| format!("  ({ratio:.2} of raw)"))
            .unwrap_or_default();
        say(&format!(
            "{:<58} {:>14} {:<10}{ratio}",
            row.name,
            shown(value),
            unit
        ));
        self.rows.push(row);
    }

    pub(crate) fn finish(self, json: &Path) -> anyhow::Result<()> {
        std::fs::write(json, serde_json::to_vec_pretty(&self)?)?;
        say(&format!("written to {}", json.display()));
        Ok(())
    }
}

fn shown(value: f64) -> String {
    if value.abs() >= 1_000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Prints a line; a reader that has gone away is no reason to stop measuring.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _closed = writeln!(out, "{line}");
}
