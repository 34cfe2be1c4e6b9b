//! The list of executions.

use leasehold_types::Timestamp;

use super::{money, paint};
use crate::cli::out::Paint;
use crate::cli::table::{Cell, Table};
use crate::cli::view::ExecutionRow;
use crate::escape::line;

/// One row an execution, the newest first.
pub(in crate::cli) fn executions(
    rows: &[ExecutionRow],
    now: Timestamp,
    colour: bool,
) -> Vec<String> {
    if rows.is_empty() {
        return vec!["no executions".to_owned()];
    }
    let heading = ["EXECUTION", "STATE", "AGENT", "STARTED", "SPENT", "WHY"];
    let mut table = Table::new(&heading).right(4);
    for row in rows {
        table.row(vec![
            row.execution.to_string().into(),
            Cell::painted(row.state.word(), paint(row.state)),
            line(&row.workflow).into(),
            row.started_at.relative(now).into(),
            spent(row),
            Cell::painted(line(&row.why), Paint::Plain),
        ]);
    }
    table.lines(colour)
}

fn spent(row: &ExecutionRow) -> Cell {
    let Some(spend) = &row.spend else {
        return Cell::painted("-", Paint::Dim);
    };
    match spend.possible_micros {
        0 => money(spend.settled_micros).into(),
        possible => format!(
            "{} (+{} possible)",
            money(spend.settled_micros),
            money(possible)
        )
        .into(),
    }
}
