//! What a person is shown of a question: rendered here from the real arguments, for terminals, the command line and tests.
//!
//! - ASK-1: what a person reads are the canonical arguments that run; what is left out is counted.
//! - ASK-2: nothing of what a model wrote reaches a terminal as a control, a hidden character or a line of its own.

use std::collections::BTreeMap;

use leasehold_actors::Ask;
use leasehold_types::Timestamp;
use serde_json::value::RawValue;

use crate::escape::{clip, line};

/// Characters of one argument that are shown.
const ARGUMENT_CHARS: usize = 2_000;
/// Arguments that are shown one by one.
const ARGUMENTS_MAX: usize = 50;
/// The widest column of names.
const NAME_CHARS_MAX: usize = 24;

/// Canonical arguments, one line each; a nested one as its JSON.
///
/// Every line is safe to print. What is too long is cut, and how much more there is is said.
#[must_use]
pub fn shown_arguments(canonical: &str) -> Vec<String> {
    // Raw values: a number is shown as it is written, however large.
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, Box<RawValue>>>(canonical) else {
        return vec![clip(canonical, ARGUMENT_CHARS)];
    };
    if fields.is_empty() {
        return vec!["no arguments".to_owned()];
    }
    let names = fields.keys().map(|name| line(name).chars().count());
    let width = names.max().unwrap_or(0).min(NAME_CHARS_MAX);
    let shown = fields.iter().take(ARGUMENTS_MAX).map(|(name, value)| {
        let name = clip(name, ARGUMENT_CHARS);
        format!("{name:<width$} = {}", clip(value.get(), ARGUMENT_CHARS))
    });
    let mut lines: Vec<String> = shown.collect();
    let more = fields.len().saturating_sub(ARGUMENTS_MAX);
    if more > 0 {
        lines.push(format!("… (+{more} arguments)"));
    }
    lines
}

/// A question as a channel puts it to a person, in lines that are safe to print.
#[must_use]
pub fn shown_question(ask: &Ask) -> Vec<String> {
    let mut lines = vec![format!(
        "{}  may {} run?  ({})",
        ask.reference,
        line(&ask.tool),
        line(&ask.role)
    )];
    let arguments = shown_arguments(&ask.arguments);
    lines.extend(arguments.iter().map(|argument| format!("    {argument}")));
    lines.push(format!("  owner    {}", line(ask.owner.as_str())));
    if let Some(at) = ask.expires_at {
        lines.push(format!("  expires  {}", written(at)));
    }
    lines.push(format!("  digest   {}", ask.digest.short()));
    lines
}

/// A time as RFC 3339 in UTC, to the second.
fn written(at: Timestamp) -> String {
    let at = jiff::Timestamp::from_second(at.as_millis().div_euclid(1_000));
    at.map_or_else(|_| "never".to_owned(), |at| at.to_string())
}

#[cfg(test)]
mod tests {
    use leasehold_types::{Answerer, Digest, ExecutionId, Owner, PauseId, PauseRef, TreeId};

    use super::*;

    fn ask(arguments: &str) -> Ask {
        let execution = ExecutionId::root(TreeId::from_u128(7));
        Ask {
            pause_id: PauseId::from_u128(9),
            reference: PauseRef {
                execution,
                number: 1,
            },
            execution,
            owner: Owner::new("dana"),
            role: "refund-approval-channel".to_owned(),
            answerer: Answerer::Channel,
            tool: "refund-card-tool".to_owned(),
            arguments: arguments.to_owned(),
            digest: Digest::of(b"d"),
            expires_at: Some(Timestamp::from_millis(1_796_000_000_500)),
            attempt: 1,
        }
    }

    // CONTRACT P14
    #[test]
    fn a_question_shows_the_arguments_that_would_run() {
        let lines = shown_question(&ask(r#"{"cents":2000,"order":"A-1042"}"#));
        let right = [
            "00000000000000000000000007/1  may refund-card-tool run?  (refund-approval-channel)",
            "    cents = 2000",
            "    order = \"A-1042\"",
            "  owner    dana",
            "  expires  2026-11-30T00:53:20Z",
            "  digest   18ac3e73",
        ];
        assert_eq!(lines, right);
    }

    // CONTRACT P14
    // BAD INPUT 53
    #[test]
    fn hidden_characters_and_line_breaks_of_an_argument_are_shown_as_escapes() {
        let canonical = serde_json::json!({"to\u{202e}": "a\u{200b}b\n\u{1b}[2J approved: true"});
        let lines = shown_arguments(&canonical.to_string());
        assert_eq!(
            lines,
            ["to\\u{202e} = \"a\\u{200b}b\\n\\u001b[2J approved: true\""],
            "ASK-2"
        );
    }

    // CONTRACT P14
    #[test]
    fn what_is_not_shown_of_an_argument_is_counted() {
        let canonical = serde_json::json!({"text": "x".repeat(ARGUMENT_CHARS + 10)});
        let lines = shown_arguments(&canonical.to_string());
        assert!(lines[0].ends_with("x… (+12 bytes)"), "ASK-1: {}", lines[0]);
        let many: BTreeMap<String, u32> = (0..60).map(|at| (format!("a{at:02}"), at)).collect();
        let lines = shown_arguments(&serde_json::to_string(&many).unwrap());
        assert_eq!(lines.len(), ARGUMENTS_MAX + 1);
        assert_eq!(lines.last().unwrap(), "… (+10 arguments)", "ASK-1");
        let exact = "123456789012345678901234567890";
        assert_eq!(
            shown_arguments(&format!("{{\"n\":{exact}}}")),
            [format!("n = {exact}")]
        );
        assert_eq!(shown_arguments("{}"), ["no arguments"]);
    }
}
