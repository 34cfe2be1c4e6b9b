//! A journal as it stands, frame by frame, for people who must see what was written.
//!
//! - DUMP-1: a pause's secret is shown only where records are asked for as they are stored.

use leasehold_types::TreeState;
use serde_json::Value;

use super::{Desk, Teller};
use crate::cli::error::CliError;
use crate::cli::frames::{FrameReader, ReadFrame, Step};
use crate::cli::ids::resolve;
use crate::cli::request::Reply;
use crate::cli::view::FrameView;

impl Desk {
    pub(super) async fn dump(
        &self,
        execution: &str,
        raw: bool,
        teller: &Teller,
    ) -> Result<(), CliError> {
        let tree = resolve(&*self.store, execution).await?.tree();
        let mut reader = FrameReader::new(tree);
        loop {
            match reader.step(&*self.store).await? {
                Step::Frame(frame) => {
                    let view = view(&frame, raw);
                    teller.tell(Reply::Frame(Box::new(view))).await?;
                }
                Step::Tail => return Ok(()),
                Step::Broken(broken) => {
                    return Err(leasehold_journal::JournalCorruptError {
                        tree,
                        index: leasehold_types::FrameIndex::new(broken.frame),
                        why: broken.why,
                    }
                    .into());
                }
            }
        }
    }
}

fn view(frame: &ReadFrame, raw: bool) -> FrameView {
    let header = &frame.header;
    FrameView {
        frame: header.index.get(),
        epoch: header.epoch.get(),
        id: header.id.to_string(),
        tenant: header.tenant.as_str().to_owned(),
        previous: header.previous.to_string(),
        body_hash: header.body_hash.to_string(),
        stored_bytes: frame.stored_bytes as u64,
        tree_state: word(header.summary.state).to_owned(),
        records: if raw {
            stored(&frame.raw)
        } else {
            frame
                .records
                .iter()
                .map(|record| without_secret(&record.line))
                .collect()
        },
    }
}

fn stored(raw: &[u8]) -> Vec<String> {
    let lines = raw.split(|byte| *byte == b'\n');
    lines
        .filter(|line| !line.is_empty())
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect()
}

/// DUMP-1.
fn without_secret(line: &str) -> String {
    let Ok(mut record) = serde_json::from_str::<Value>(line) else {
        return line.to_owned();
    };
    match record.pointer_mut("/body/pause_id") {
        Some(secret) => {
            *secret = Value::from("…");
            record.to_string()
        }
        None => line.to_owned(),
    }
}

const fn word(state: TreeState) -> &'static str {
    match state {
        TreeState::Live => "live",
        TreeState::Resting => "resting",
        TreeState::Blocked => "blocked",
        TreeState::Ended => "ended",
    }
}
