//! `executions list`, `show`, and `journal dump`.

use serde::Serialize;

use super::Session;
use crate::cli::door::Door;
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::request::{Reply, Request};
use crate::cli::view::{FrameView, State};
use crate::cli::{document, render};

impl Session<'_> {
    pub(super) async fn list(
        &mut self,
        limit: u64,
        state: Option<State>,
    ) -> Result<Exit, CliError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut rows = Vec::new();
        let mut left_out = None;
        for reply in self.ask_once(Request::List { limit, state }).await? {
            if let Reply::Row(row) = reply {
                rows.push(*row);
            } else if let Reply::More { of } = reply {
                left_out = Some(of);
            } else {
                return unexpected(&reply);
            }
        }
        if self.is_json() {
            self.out.json(&document::executions(&rows, left_out))?;
            return Ok(Exit::Done);
        }
        let lines = render::executions(&rows, self.now(), self.out.streams.out_colour);
        self.out.lines(&lines)?;
        if let Some(of) = left_out {
            self.out.note(&format!(
                "{} of {of} are shown: --limit shows more",
                rows.len()
            ))?;
        }
        Ok(Exit::Done)
    }

    pub(super) async fn show(&mut self, execution: &str) -> Result<Exit, CliError> {
        let execution = execution.to_owned();
        for reply in self.ask_once(Request::Show { execution }).await? {
            let Reply::Execution(view) = reply else {
                return unexpected(&reply);
            };
            if self.is_json() {
                self.out.json(&document::execution(&view))?;
            } else {
                let lines = render::show(&view, self.now(), self.out.streams.out_colour);
                self.out.lines(&lines)?;
            }
        }
        Ok(Exit::Done)
    }

    pub(super) async fn dump(&mut self, execution: &str, raw: bool) -> Result<Exit, CliError> {
        let request = Request::Dump {
            execution: execution.to_owned(),
            raw,
        };
        let is_json = self.is_json();
        let door = Door::open(self.program, &request).await?;
        let out = &mut *self.out;
        let colour = out.streams.out_colour;
        // Frame by frame: a journal may be larger than memory, and what is before a broken frame is told.
        let asked = door
            .ask(request, &mut |reply| {
                let Reply::Frame(view) = reply else {
                    return unexpected(&reply);
                };
                if is_json {
                    out.json_line(&frame_document(&view))
                } else if raw {
                    let records = view.records.iter();
                    let lines: Vec<String> =
                        records.map(|text| crate::escape::json(text)).collect();
                    out.lines(&lines)
                } else {
                    out.lines(&render::frame(&view, colour))
                }
            })
            .await;
        door.close().await;
        asked.map(|()| Exit::Done)
    }
}

/// A frame whose records are JSON, not texts of JSON.
fn frame_document(view: &FrameView) -> impl Serialize {
    let parsed = view.records.iter().map(|record| {
        serde_json::from_str(record).unwrap_or_else(|_| serde_json::Value::from(record.as_str()))
    });
    let records: Vec<serde_json::Value> = parsed.collect();
    let mut whole = serde_json::to_value(view).unwrap_or_default();
    if let Some(fields) = whole.as_object_mut() {
        fields.insert("records".to_owned(), records.into());
    }
    document::other(whole)
}

/// A reply that this request does not have.
pub(super) fn unexpected<T>(reply: &Reply) -> Result<T, CliError> {
    let name = serde_json::to_value(reply).ok();
    let name = name
        .as_ref()
        .and_then(|value| value.get("is"))
        .and_then(|is| is.as_str());
    let name = name.unwrap_or("something");
    Err(CliError::Control(format!(
        "told {name:?} where nothing asked for it"
    )))
}
