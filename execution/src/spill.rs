//! Large record bodies are blobs: the line in the frame names the blob's hash in place of the body.
//!
//! `{"kind":"call_finished","v":1,"x":0,"at":…,"blob":"<sha-256>"}`. The blob holds the body's JSON and is durable before the frame.
//!
//! Where the records of one frame are too many for it, one line of kind `bundle` names the blob that holds them all.
//!
//! - SPILL-1: restoring what was spilled gives the line as it was, byte for byte.

use std::borrow::Cow;
use std::collections::BTreeMap;

use leasehold_types::{Digest, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::wire::RecordError;

/// The most bytes of one record that stay in its frame: eight such records still fit one frame.
pub const SPILL_BYTES: usize = 24 * 1_024;

/// The most bytes of records that surely fit one frame beside its header.
const FRAME_BODY_BYTES: usize = 240 * 1_024;

/// The kind of the line that stands for all records of its frame, which are lines of its blob.
const BUNDLE: &str = "bundle";

#[derive(Serialize, Deserialize)]
struct Line<'a> {
    kind: &'a str,
    v: u16,
    x: u32,
    at: Timestamp,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    skippable: bool,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blob: Option<Digest>,
}

/// A frame's body whose large records were taken out.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Spilled {
    /// The body as it is framed.
    pub body: Vec<u8>,
    /// The blobs it names, to be durable first.
    pub blobs: Vec<Vec<u8>>,
}

fn lines(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    body.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

fn malformed(position: usize, error: &dyn std::fmt::Display) -> RecordError {
    RecordError::Malformed {
        position,
        why: error.to_string(),
    }
}

/// Takes records larger than [`SPILL_BYTES`] out of a frame's body.
///
/// # Errors
/// The body holds a line that is no record.
pub fn spill(body: Vec<u8>) -> Result<Spilled, RecordError> {
    if body.len() <= SPILL_BYTES {
        return Ok(Spilled {
            body,
            blobs: vec![],
        });
    }
    let spilled = spill_lines(&body)?;
    if spilled.body.len() <= FRAME_BODY_BYTES {
        return Ok(spilled);
    }
    bundle(body)
}

/// Very many records that one frame cannot hold: all of them in one blob.
fn bundle(body: Vec<u8>) -> Result<Spilled, RecordError> {
    let line = Line {
        kind: BUNDLE,
        v: 1,
        x: 0,
        at: Timestamp::default(),
        skippable: false,
        body: None,
        blob: Some(Digest::of(&body)),
    };
    let mut named = serde_json::to_vec(&line).map_err(|error| malformed(0, &error))?;
    named.push(b'\n');
    Ok(Spilled {
        body: named,
        blobs: vec![body],
    })
}

/// Spills every line that is longer than [`SPILL_BYTES`].
fn spill_lines(body: &[u8]) -> Result<Spilled, RecordError> {
    let mut spilled = Spilled::default();
    for (position, text) in lines(body).enumerate() {
        if text.len() <= SPILL_BYTES {
            spilled.body.extend_from_slice(text);
        } else {
            let blob = spill_line(text, &mut spilled.body);
            let blob = blob.map_err(|error| malformed(position, &error))?;
            spilled.blobs.push(blob);
        }
        spilled.body.push(b'\n');
    }
    Ok(spilled)
}

/// Writes the line that names the blob, and returns the blob.
fn spill_line(text: &[u8], named: &mut Vec<u8>) -> Result<Vec<u8>, serde_json::Error> {
    let line: Line<'_> = serde_json::from_slice(text)?;
    let body = line.body.map_or("", RawValue::get);
    let blob = body.as_bytes().to_vec();
    let line = Line {
        body: None,
        blob: Some(Digest::of(&blob)),
        ..line
    };
    serde_json::to_writer(named, &line)?;
    Ok(blob)
}

/// The blobs that a frame's body names.
///
/// # Errors
/// A line that is no record.
pub fn blobs_of(body: &[u8]) -> Result<Vec<Digest>, RecordError> {
    #[derive(Deserialize)]
    struct Named {
        #[serde(default)]
        blob: Option<Digest>,
    }
    // Most frames name none, and a record that holds these characters in a text is only looked at in vain.
    if !body.windows(7).any(|window| window == b"\"blob\":") {
        return Ok(vec![]);
    }
    lines(body)
        .enumerate()
        .filter_map(|(position, line)| {
            serde_json::from_slice::<Named>(line)
                .map(|named| named.blob)
                .map_err(|error| malformed(position, &error))
                .transpose()
        })
        .collect()
}

/// Puts the blobs back in the place of their names.
///
/// # Errors
/// A blob that is named is not among `blobs`, or is no JSON.
pub fn restore<'a>(
    body: &'a [u8],
    blobs: &BTreeMap<Digest, Vec<u8>>,
) -> Result<Cow<'a, [u8]>, RecordError> {
    if blobs.is_empty() {
        return Ok(Cow::Borrowed(body));
    }
    let mut restored = Vec::new();
    for (position, text) in lines(body).enumerate() {
        let line: Line<'_> =
            serde_json::from_slice(text).map_err(|error| malformed(position, &error))?;
        match line.blob {
            None => restored.extend_from_slice(text),
            Some(digest) => {
                let blob = blobs
                    .get(&digest)
                    .ok_or_else(|| malformed(position, &"its blob is missing"))?;
                if line.kind == BUNDLE {
                    restored.extend_from_slice(blob);
                    continue;
                }
                let raw: &RawValue =
                    serde_json::from_slice(blob).map_err(|error| malformed(position, &error))?;
                let whole = Line {
                    body: Some(raw),
                    blob: None,
                    ..line
                };
                serde_json::to_writer(&mut restored, &whole)
                    .map_err(|error| malformed(position, &error))?;
            }
        }
        restored.push(b'\n');
    }
    Ok(Cow::Owned(restored))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{CallFinished, Entry, FinishKind, Record};
    use crate::{read_entries, write_entries};
    use leasehold_types::CallId;

    fn finished(bytes: usize) -> Entry {
        let record = Record::CallFinished(Box::new(CallFinished {
            call_id: CallId::new("a"),
            attempt: 1,
            kind: FinishKind::Ok,
            text: "\"blob\":".to_owned() + &"x".repeat(bytes),
            whole_bytes: None,
            whole: None,
            spend: vec![],
            fatal: false,
        }));
        Entry {
            execution: 0,
            at: Timestamp::from_millis(1),
            record,
        }
    }

    #[test]
    fn very_many_small_records_leave_a_frame_that_they_would_not_fit() {
        let entries: Vec<Entry> = (0..1_500).map(|_| finished(200)).collect();
        let whole = write_entries(&entries).unwrap();
        assert!(whole.len() > FRAME_BODY_BYTES);
        let spilled = spill(whole.clone()).unwrap();
        assert!(
            spilled.body.len() <= FRAME_BODY_BYTES,
            "{}",
            spilled.body.len()
        );
        let blobs = spilled.blobs.iter();
        let blobs = blobs.map(|blob| (Digest::of(blob), blob.clone())).collect();
        assert_eq!(restore(&spilled.body, &blobs).unwrap(), whole, "SPILL-1");
    }

    #[test]
    fn large_records_leave_the_frame_and_come_back_as_they_were() {
        let entries = [finished(10), finished(SPILL_BYTES), finished(300_000)];
        let whole = write_entries(&entries).unwrap();
        let spilled = spill(whole.clone()).unwrap();
        assert!(spilled.body.len() < SPILL_BYTES && spilled.blobs.len() == 2);
        let named = blobs_of(&spilled.body).unwrap();
        let blobs: BTreeMap<Digest, Vec<u8>> = spilled
            .blobs
            .iter()
            .map(|blob| (Digest::of(blob), blob.clone()))
            .collect();
        assert_eq!(
            named,
            spilled
                .blobs
                .iter()
                .map(|blob| Digest::of(blob))
                .collect::<Vec<_>>()
        );
        let restored = restore(&spilled.body, &blobs).unwrap();
        assert_eq!(restored, whole, "SPILL-1");
        assert_eq!(read_entries(&restored).unwrap(), entries);
        assert!(restore(&spilled.body, &[(Digest::default(), vec![])].into()).is_err());
    }
}
