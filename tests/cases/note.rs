//! The application of these tests: an agent that writes notes, each with approval.

use std::sync::{Mutex, PoisonError};

use leasehold::prelude::*;

/// What was written, in order.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn add(&self, note: String) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push(note);
    }

    pub(crate) fn all(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.clone()
    }
}

/// A note.
#[dto]
pub(crate) struct Note {
    /// What it says.
    pub(crate) text: String,
}

/// Approves notes.
#[role(approves = Note, answered_by = channel)]
pub(crate) struct NoteApproval;

/// Writes a note. Changes the notes.
#[tool(effect = idempotent(days(7)), approval = NoteApproval)]
pub(crate) async fn write_note(
    Input(note): Input<Note>,
    notes: Dep<Notes>,
) -> ToolResult<PlainText> {
    notes.add(note.text);
    std::future::ready(Ok("written".to_owned().into())).await
}

/// The agent that writes notes under these instructions.
pub(crate) fn writer(instructions: &str) -> Agent {
    Agent::new("writer")
        .model("scripted/writer")
        .instructions(instructions)
        .tool(write_note)
}

pub(crate) fn app(agent: Agent) -> App {
    App::new("notes")
        .provide(Notes::default())
        .channel::<NoteApproval>(Terminal)
        .agent(agent)
}
