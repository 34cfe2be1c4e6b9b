//! How records stand in a frame's body: JSON lines, one record each, readable without this program.
//!
//! `{"kind":"call_finished","v":1,"x":0,"at":1790000000000000,"body":{…}}`: the kind and its version, the execution's number,
//! microseconds since 1970, and the kind's own fields. A reader keeps fields it does not know out of its way, and parks a tree
//! whose kind or version it does not know, unless the record says `"skippable":true`.
//!
//! - WIRE-1: a record that cannot be read is never passed over, unless its writer said that it may be.
//! - WIRE-2: reading takes time and memory in proportion to the bytes, whatever they are: a line has a limit of bytes and of depth.

use leasehold_types::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::record::{Entry, Record};

/// The version of every record kind that this build writes.
const VERSION: u16 = 1;

/// The lowest reader that understands what this build writes; stands in each summary.
pub const READER_VERSION: u16 = 1;

/// The most bytes of one record, the texts that its frame keeps in blobs included: 16 MiB.
///
/// What makes records large has limits of its own, far below: an answer's text, its arguments, a result.
pub const RECORD_BYTES_MAX: usize = 16 << 20;

/// The most arrays and objects within each other in one record. An answer to a question may have 64.
const DEPTH_MAX: usize = 100;

/// Why a frame's body cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Written by a newer release: the tree is parked, untouched.
    #[error(
        "[journal.needs-newer-version] NeedsNewerVersion: record kind {kind:?} version {version} is not known to this build"
    )]
    NeedsNewerVersion {
        /// The kind.
        kind: String,
        /// Its version.
        version: u16,
    },
    /// Not a record at all, one whose fields are not those of its kind, or one over a limit.
    #[error("[journal.record-malformed] record {position} of the frame: {why}")]
    Malformed {
        /// Its position in the frame, from 0.
        position: usize,
        /// What is wrong.
        why: String,
    },
}

#[derive(Deserialize)]
struct Envelope<'a> {
    kind: &'a str,
    v: u16,
    x: u32,
    at: Timestamp,
    #[serde(default)]
    skippable: bool,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Serialize)]
struct EnvelopeOut<'a, T> {
    kind: &'a str,
    v: u16,
    x: u32,
    at: Timestamp,
    body: &'a T,
}

/// Says once which record kind has which name, both ways.
macro_rules! kinds {
    ($($name:literal => $variant:ident),* $(,)?) => {
        fn write_one(entry: &Entry, out: &mut Vec<u8>) -> serde_json::Result<()> {
            match &entry.record {
                $(Record::$variant(body) => write_envelope($name, entry, body, out),)*
            }
        }

        fn read_body(kind: &str, body: &RawValue) -> Option<serde_json::Result<Record>> {
            match kind {
                $($name => Some(serde_json::from_str(body.get()).map(Record::$variant)),)*
                _ => None,
            }
        }

        impl Record {
            /// The kind's name, as it is stored.
            #[must_use]
            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }
        }

        /// The names of all record kinds, as they are stored.
        pub const RECORD_KINDS: &[&str] = &[$($name),*];
    };
}

kinds! {
    "started" => Started,
    "claimed" => Claimed,
    "model_intended" => ModelIntended,
    "model_answered" => ModelAnswered,
    "model_failed" => ModelFailed,
    "call_intended" => CallIntended,
    "call_finished" => CallFinished,
    "call_uncertain" => CallUncertain,
    "pause_opened" => PauseOpened,
    "pause_sent" => PauseSent,
    "pause_resolved" => PauseResolved,
    "cancel_requested" => CancelRequested,
    "message_received" => MessageReceived,
    "late_outcome" => LateOutcome,
    "rested" => Rested,
    "released" => Released,
    "quarantined" => Quarantined,
    "retried" => Retried,
    "ended" => Ended,
}

fn write_envelope<T: Serialize>(
    kind: &str,
    entry: &Entry,
    body: &T,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    let envelope = EnvelopeOut {
        kind,
        v: VERSION,
        x: entry.execution,
        at: entry.at,
        body,
    };
    serde_json::to_writer(&mut *out, &envelope)?;
    out.push(b'\n');
    Ok(())
}

/// Writes entries as a frame's body.
///
/// # Errors
/// A record over [`RECORD_BYTES_MAX`], or a value that JSON cannot hold; no record of ours has one.
pub fn write_entries(entries: &[Entry]) -> Result<Vec<u8>, RecordError> {
    let mut out = Vec::with_capacity(entries.len() * 320);
    for (position, entry) in entries.iter().enumerate() {
        let start = out.len();
        write_one(entry, &mut out).map_err(|error| RecordError::Malformed {
            position,
            why: error.to_string(),
        })?;
        // The line break is the frame's.
        within(position, out.len() - start - 1)?;
    }
    Ok(out)
}

/// Reads a frame's body.
///
/// # Errors
/// A record that is too large or malformed, or of a kind or version this build does not know and may not skip.
pub fn read_entries(body: &[u8]) -> Result<Vec<Entry>, RecordError> {
    let lines = body
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .enumerate()
        .filter_map(|(position, line)| read_one(position, line).transpose())
        .collect()
}

fn within(position: usize, bytes: usize) -> Result<(), RecordError> {
    if bytes > RECORD_BYTES_MAX {
        let why = format!("{bytes} bytes, the limit is {RECORD_BYTES_MAX}");
        return Err(RecordError::Malformed { position, why });
    }
    Ok(())
}

/// How deep arrays and objects stand within each other, as far as brackets outside strings tell.
fn depth(line: &[u8]) -> usize {
    let (mut open, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in line {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                open += 1;
                deepest = open.max(deepest);
            }
            b'}' | b']' if !in_string => open = open.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn read_one(position: usize, line: &[u8]) -> Result<Option<Entry>, RecordError> {
    within(position, line.len())?;
    if depth(line) > DEPTH_MAX {
        let why = format!("nested deeper than {DEPTH_MAX} levels");
        return Err(RecordError::Malformed { position, why });
    }
    let malformed = |error: serde_json::Error| RecordError::Malformed {
        position,
        why: error.to_string(),
    };
    let envelope: Envelope<'_> = serde_json::from_slice(line).map_err(malformed)?;
    let known = (envelope.v == VERSION)
        .then(|| read_body(envelope.kind, envelope.body))
        .flatten();
    match known {
        Some(record) => {
            let record = record.map_err(malformed)?;
            Ok(Some(Entry {
                execution: envelope.x,
                at: envelope.at,
                record,
            }))
        }
        None if envelope.skippable => Ok(None),
        None => Err(RecordError::NeedsNewerVersion {
            kind: envelope.kind.chars().take(64).collect(),
            version: envelope.v,
        }),
    }
}
