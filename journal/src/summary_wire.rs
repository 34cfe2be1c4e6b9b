//! How a tree's summary stands in a frame's header, version 1.
//!
//! `u16` length of what follows; version `u8`; state `u8`; next due in microseconds `i64` (`i64::MIN`: none); config hash 32 bytes;
//! reader version `u16`; workflow and thread as `u8` length and text; count of pauses `u8`, each with execution `u32`, number `u32`,
//! answerer `u8`, role as `u8` length and text. What does not fit is cut: names to 64 bytes, pauses from the end.

use leasehold_types::{Answerer, Digest, PauseSummary, Timestamp, TreeState, TreeSummary};

use crate::frame::{FrameError, Input};

const VERSION: u8 = 1;
const NAME_BYTES_MAX: usize = 64;
const NEVER: i64 = i64::MIN;

pub(crate) fn write(summary: &TreeSummary, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; 2]);
    out.push(VERSION);
    out.push(match summary.state {
        TreeState::Live => 0,
        TreeState::Resting => 1,
        TreeState::Blocked => 2,
        TreeState::Ended => 3,
    });
    let due = summary.next_due.map_or(NEVER, Timestamp::as_micros);
    out.extend_from_slice(&due.to_be_bytes());
    out.extend_from_slice(summary.config_hash.as_bytes());
    out.extend_from_slice(&summary.reader_version.to_be_bytes());
    write_name(&summary.workflow, out);
    write_name(&summary.thread, out);
    write_pauses(&summary.pauses, start, out);
    let length = u16::try_from(out.len() - start - 2).unwrap_or(u16::MAX);
    out[start..start + 2].copy_from_slice(&length.to_be_bytes());
}

fn write_pauses(pauses: &[PauseSummary], start: usize, out: &mut Vec<u8>) {
    let count_at = out.len();
    out.push(0);
    for pause in pauses.iter().take(TreeSummary::PAUSES_MAX) {
        let before = out.len();
        out.extend_from_slice(&pause.execution.to_be_bytes());
        out.extend_from_slice(&pause.number.to_be_bytes());
        out.push(match pause.answerer {
            Answerer::ThreadOwner => 0,
            Answerer::Channel => 1,
        });
        write_name(&pause.role, out);
        if out.len() - start - 2 > TreeSummary::BYTES_MAX {
            out.truncate(before);
            return;
        }
        out[count_at] += 1;
    }
}

fn write_name(text: &str, out: &mut Vec<u8>) {
    let mut end = text.len().min(NAME_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    out.push(u8::try_from(end).unwrap_or(0));
    out.extend_from_slice(&text.as_bytes()[..end]);
}

pub(crate) fn read(input: &mut Input<'_>) -> Result<TreeSummary, FrameError> {
    let length = usize::from(u16::from_be_bytes(input.array()?));
    let mut input = Input(input.take(length)?);
    match input.array::<1>()?[0] {
        VERSION => {}
        other => return Err(FrameError::Version(other)),
    }
    let state = match input.array::<1>()?[0] {
        0 => TreeState::Live,
        1 => TreeState::Resting,
        2 => TreeState::Blocked,
        3 => TreeState::Ended,
        _ => return Err(FrameError::Malformed("unknown tree state")),
    };
    let due = i64::from_be_bytes(input.array()?);
    let summary = TreeSummary {
        state,
        next_due: (due != NEVER).then(|| Timestamp::from_micros(due)),
        config_hash: Digest::from_bytes(input.array()?),
        reader_version: u16::from_be_bytes(input.array()?),
        workflow: read_name(&mut input)?,
        thread: read_name(&mut input)?,
        pauses: read_pauses(&mut input)?,
    };
    match input.0 {
        [] => Ok(summary),
        [..] => Err(FrameError::Malformed("bytes left over in the summary")),
    }
}

fn read_pauses(input: &mut Input<'_>) -> Result<Vec<PauseSummary>, FrameError> {
    let count = input.array::<1>()?[0];
    (0..count)
        .map(|_| {
            Ok(PauseSummary {
                execution: u32::from_be_bytes(input.array()?),
                number: u32::from_be_bytes(input.array()?),
                answerer: match input.array::<1>()?[0] {
                    0 => Answerer::ThreadOwner,
                    1 => Answerer::Channel,
                    _ => return Err(FrameError::Malformed("unknown answerer")),
                },
                role: read_name(input)?,
            })
        })
        .collect()
}

fn read_name(input: &mut Input<'_>) -> Result<String, FrameError> {
    let length = usize::from(input.array::<1>()?[0]);
    input.text(length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::summary;

    #[test]
    fn a_summary_stays_within_its_bound_and_drops_pauses_from_the_end() {
        let mut large = summary();
        large.workflow = "w".repeat(64);
        large.pauses = (1..=20)
            .map(|number| PauseSummary {
                number,
                ..large.pauses[0].clone()
            })
            .collect();
        let mut bytes = Vec::new();
        write(&large, &mut bytes);
        assert!(
            bytes.len() - 2 <= TreeSummary::BYTES_MAX,
            "{} bytes",
            bytes.len()
        );
        let read = read(&mut Input(&bytes)).unwrap();
        assert!(!read.pauses.is_empty());
        assert_eq!(read.pauses, large.pauses[..read.pauses.len()]);
    }
}
