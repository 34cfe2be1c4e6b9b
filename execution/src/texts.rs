//! Framework texts: what a model reads that neither a person nor a tool wrote. Part of every configuration hash.

use std::time::Duration;

use leasehold_types::{Digest, Principal};

/// An answer without text and without calls.
pub const EMPTY_ANSWER: &str =
    "Your last answer was empty. Answer in text, or call one of your tools.";

/// An answer whose text the length limit cut.
pub const CUT_ANSWER: &str =
    "Your last answer was cut off by the length limit. Answer again, shorter.";

/// A call whose arguments the length limit cut.
pub const CUT_ARGUMENTS: &str = "invalid input: the answer was cut off by the length limit, so the call was not made: be shorter";

/// A call that was stopped because the execution was cancelled.
pub const CANCELLED: &str = "cancelled before it had a result";

/// A call in the last turn, which has no tools.
pub const TOOLS_OFF: &str =
    "a limit is reached and there are no more tools: the call was not made, answer in text";

/// A call with whose arguments those of its answer pass the limit.
#[must_use]
pub fn arguments_too_large(bytes_max: usize) -> String {
    format!(
        "invalid input: the calls of one answer may have {bytes_max} bytes of arguments together: the call was not made, make fewer or smaller calls"
    )
}

/// A call beyond the limit of tool calls.
#[must_use]
pub fn limit_reached(limit: u32) -> String {
    format!("the limit of {limit} tool calls is reached: the call was not made")
}

/// A call of a tool the agent does not have, with the names nearest to it.
#[must_use]
pub fn unknown_tool<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    let mut near: Vec<(usize, &str)> = known
        .map(|tool| (distance(&name.to_lowercase(), tool), tool))
        .collect();
    near.sort_unstable();
    let near: Vec<&str> = near.into_iter().take(3).map(|(_, tool)| tool).collect();
    if near.is_empty() {
        return format!("unknown tool: {shown}");
    }
    format!(
        "unknown tool: {shown}; your tools with the nearest names are {}",
        near.join(", ")
    )
}

/// Edit distance over at most the first 64 characters.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().take(64).enumerate() {
        let mut diagonal = line;
        row[0] = line + 1;
        for (column, known) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *known);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

/// A call that somebody refused.
#[must_use]
pub fn rejected(by: &Principal, reason: &str) -> String {
    match reason {
        "" => format!("rejected by {by}: the call was not made"),
        reason => format!("rejected by {by}: {reason}"),
    }
}

/// A call whose approval nobody gave in time.
#[must_use]
pub fn expired(after: Duration) -> String {
    format!(
        "nobody answered within {} s: the approval expired and the call was not made",
        after.as_secs()
    )
}

/// What stands before the result of a call that ran with other arguments than the model wrote.
#[must_use]
pub fn edited_note(by: &Principal) -> String {
    format!("[{by} changed the arguments before the call was made]\n")
}

/// A call of unknown outcome about which a person decided.
#[must_use]
pub fn uncertain(by: &Principal, reason: &str) -> String {
    format!(
        "it is not known whether the call had its effect; {by} decided not to repeat it: {reason}"
    )
}

/// A call that was cut off, may not be repeated for want of budget, and whose outcome nobody knows.
#[must_use]
pub fn not_repeated(why: &str) -> String {
    format!(
        "the call was cut off and not repeated: {why}; it is not known whether it had its effect"
    )
}

/// The error of an execution that a tool's failure ended; no model reads it.
#[must_use]
pub fn tool_ended_it(tool: &str, text: &str) -> String {
    let said = text.strip_prefix("Tool error: ").unwrap_or(text);
    format!("[execution.tool-failed] {tool} ended the execution: {said}")
}

/// The hash of all framework texts.
#[must_use]
pub fn digest() -> Digest {
    let by = Principal::new("p", leasehold_types::PrincipalKind::Person);
    let samples = [
        EMPTY_ANSWER.to_owned(),
        CUT_ANSWER.to_owned(),
        CUT_ARGUMENTS.to_owned(),
        CANCELLED.to_owned(),
        TOOLS_OFF.to_owned(),
        arguments_too_large(1),
        not_repeated("w"),
        limit_reached(1),
        unknown_tool("a", ["b"].into_iter()),
        rejected(&by, ""),
        rejected(&by, "r"),
        expired(Duration::from_secs(1)),
        edited_note(&by),
        uncertain(&by, "r"),
    ];
    let parts: Vec<&[u8]> = samples.iter().map(String::as_bytes).collect();
    Digest::of_parts(&parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT A7
    // BAD INPUT 12
    #[test]
    fn an_unknown_tool_is_answered_with_the_nearest_names_and_never_matched() {
        let known = [
            "refund-card-tool",
            "refund-policy-tool",
            "read-ticket-tool",
            "x-tool",
        ];
        let text = unknown_tool("Refund-card-tool", known.into_iter());
        assert!(
            text.starts_with("unknown tool: Refund-card-tool; "),
            "{text}"
        );
        assert!(text.contains("refund-card-tool"), "{text}");
        assert_eq!(unknown_tool("", [].into_iter()), "unknown tool: ");
        assert!(!unknown_tool("a\u{1b}[2J", [].into_iter()).contains('\u{1b}'));
    }
}
