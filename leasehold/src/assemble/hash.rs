//! The hash of all that a model reads: an execution resumes under the one it started with.
//!
//! - HASH-1: the same configuration has the same hash in every process; any change of what the model reads changes it.

use std::time::Duration;

use leasehold_execution::texts;
use leasehold_tools::{BoundTool, CallEnd, Cut, InvalidInput, Issue, Issues, ToolError};
use leasehold_types::{AbortReason, Digest};

/// Rises when what the hash is made of changes.
const HASH_VERSION: &[u8] = b"leasehold config 1";

/// The hash of one agent's configuration; tools in the order in which the model reads them.
pub(super) fn config_hash<'a>(
    model: &str,
    instructions: &str,
    tools: impl Iterator<Item = &'a BoundTool>,
) -> Digest {
    let tools: Vec<Digest> = tools.map(BoundTool::definition_hash).collect();
    let (texts, results) = (texts::digest(), result_texts());
    let fixed: [&[u8]; 5] = [
        HASH_VERSION,
        model.as_bytes(),
        instructions.as_bytes(),
        texts.as_bytes(),
        results.as_bytes(),
    ];
    let tools = tools.iter().map(|digest| digest.as_bytes().as_slice());
    let parts: Vec<&[u8]> = fixed.into_iter().chain(tools).collect();
    Digest::of_parts(&parts)
}

/// The texts that stand around a tool's result: the marker of a cut one, and the prefixes of errors.
fn result_texts() -> Digest {
    let issues = || Issues::new(vec![Issue::new("p", "t")]);
    let ends = [
        CallEnd::InvalidInput(InvalidInput::Issues(issues())),
        CallEnd::InvalidOutput(issues()),
        CallEnd::Failed(ToolError::new("e")),
        CallEnd::TimedOut(Duration::from_secs(1)),
        CallEnd::Aborted(AbortReason::Stopped("s".to_owned())),
        CallEnd::Panicked(String::new()),
    ];
    let marker = Cut { total: 2, kept: 1 }.to_string();
    let texts: Vec<String> = ends.iter().map(CallEnd::text).chain([marker]).collect();
    let parts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
    Digest::of_parts(&parts)
}
