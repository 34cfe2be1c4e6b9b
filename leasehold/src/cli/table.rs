//! Columns for people: as wide as their widest cell, two spaces apart, no lines.

use super::out::{Paint, painted};

/// One cell: a text that is escaped already, and its colour.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// A cell in this colour.
    pub(super) fn painted(text: impl Into<String>, paint: Paint) -> Self {
        let text = text.into();
        Self { text, paint }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(text, Paint::Plain)
    }
}

/// Rows under a heading.
#[derive(Debug)]
pub(super) struct Table {
    rows: Vec<Vec<Cell>>,
    right: Vec<usize>,
}

impl Table {
    /// A table with these columns.
    pub(super) fn new(heading: &[&str]) -> Self {
        let heading = heading
            .iter()
            .map(|text| Cell::painted(*text, Paint::Bold))
            .collect();
        Self {
            rows: vec![heading],
            right: vec![],
        }
    }

    /// Sets this column to the right: numbers.
    pub(super) fn right(mut self, column: usize) -> Self {
        self.right.push(column);
        self
    }

    /// Adds a row.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines.
    pub(super) fn lines(&self, colour: bool) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(Cell::width).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(widest).collect();
        self.rows
            .iter()
            .map(|row| self.line(row, &widths, colour))
            .collect()
    }

    fn line(&self, row: &[Cell], widths: &[usize], colour: bool) -> String {
        let mut out = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = widths.get(column).copied().unwrap_or(0);
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let text = painted(&cell.text, cell.paint, colour);
            if self.right.contains(&column) {
                out.push_str(&space);
                out.push_str(&text);
            } else {
                out.push_str(&text);
                out.push_str(&space);
            }
            out.push_str("  ");
        }
        out.trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::new(&["NAME", "N", ""]).right(1);
        table.row(vec!["größe".into(), "7".into(), "x".into()]);
        table.row(vec!["a".into(), "1,000".into()]);
        let lines = ["NAME       N", "größe      7  x", "a      1,000"];
        assert_eq!(table.lines(false), lines);
    }
}
