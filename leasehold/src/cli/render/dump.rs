//! Frames of a journal, for people: a line about the frame, then its records as JSON, one a line.

use crate::cli::out::{Paint, painted};
use crate::cli::view::FrameView;
use crate::escape::{grouped, json, line};

/// One frame.
pub(in crate::cli) fn frame(view: &FrameView, colour: bool) -> Vec<String> {
    let about = format!(
        "frame {}  epoch {}  tree {}  {} bytes  id {}  previous {}",
        view.frame,
        view.epoch,
        line(&view.tree_state),
        grouped(view.stored_bytes),
        line(&view.id),
        line(view.previous.get(..16).unwrap_or(&view.previous)),
    );
    let mut lines = vec![painted(&about, Paint::Bold, colour)];
    lines.extend(
        view.records
            .iter()
            .map(|record| format!("  {}", json(record))),
    );
    lines
}
