//! Text of models, tools and people made safe to print: what would move the cursor, hide, or reorder is shown as an escape.
//!
//! - ESC-1: no control, bidirectional, zero-width or tag character reaches a terminal, and no line break that we did not make.
//! - ESC-2: what is left out is counted, in bytes of the text as it is.
//!
//! Source: Unicode's general category Cf, and Boucher & Anderson, "Trojan Source" (2021).

use std::fmt::Write as _;

/// Characters that a terminal would not show as themselves, by range; controls are not among them.
const HIDDEN: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    // The last variation selector of the block makes emoji out of signs: it hides nothing.
    ('\u{fe00}', '\u{fe0e}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The most lines of a text that are shown in full.
const LINES_MAX: usize = 200;
/// Blank lines in a row from which on they are counted and not shown: they would push what follows off the screen.
const BLANK_LINES_MAX: usize = 2;

/// Whether a terminal would show the character as something else, or not at all.
pub(crate) fn is_unsafe(letter: char) -> bool {
    letter.is_control()
        || HIDDEN
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&letter))
}

/// The text in one line.
pub(crate) fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        push(&mut out, letter);
    }
    out
}

fn push(out: &mut String, letter: char) {
    match letter {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        hidden if is_unsafe(hidden) => {
            // Writing to a string does not fail.
            let _infallible = write!(out, "\\u{{{:x}}}", u32::from(hidden));
        }
        shown => out.push(shown),
    }
}

/// The text in one line of at most about `chars_max` characters; what is cut is counted.
pub(crate) fn clip(text: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut width = 0;
    for (position, letter) in text.char_indices() {
        let before = out.len();
        push(&mut out, letter);
        width += out.get(before..).map_or(0, |added| added.chars().count());
        if width > chars_max {
            out.truncate(before);
            let left = text.len() - position;
            return format!("{out}… (+{} bytes)", grouped(left as u64));
        }
    }
    out
}

/// The text line by line; long runs of blank lines, and lines past the bound, are counted.
pub(crate) fn block(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut blanks = 0_usize;
    let mut position = 0_usize;
    for raw in text.trim_end_matches('\n').split('\n') {
        if out.len() >= LINES_MAX {
            let left = text.len().saturating_sub(position) as u64;
            out.push(format!("… (+{} bytes)", grouped(left)));
            return out;
        }
        position += raw.len() + 1;
        let raw = raw.strip_suffix('\r').unwrap_or(raw);
        if is_blank(raw) {
            blanks += 1;
            continue;
        }
        flush_blanks(&mut out, &mut blanks);
        out.push(line(&raw.replace('\t', "    ")));
    }
    flush_blanks(&mut out, &mut blanks);
    out
}

fn is_blank(text: &str) -> bool {
    text.chars().all(char::is_whitespace)
}

fn flush_blanks(out: &mut Vec<String>, blanks: &mut usize) {
    if *blanks > BLANK_LINES_MAX {
        out.push(format!("… ({} blank lines)", grouped(*blanks as u64)));
    } else {
        out.extend(std::iter::repeat_n(String::new(), *blanks));
    }
    *blanks = 0;
}

/// JSON text as it may be printed: the same document, with what a terminal would hide written as `\u` escapes.
pub(crate) fn json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        // Line breaks outside strings are layout; inside strings JSON has escaped them already.
        if letter == '\n' || !is_unsafe(letter) {
            out.push(letter);
            continue;
        }
        for unit in letter.encode_utf16(&mut [0; 2]) {
            let _infallible = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// A number with its thousands set apart: `1,048,576`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    // RELIABILITY SEC11
    // BAD INPUT 53
    #[test]
    fn what_a_terminal_would_hide_or_obey_is_shown_as_an_escape() {
        let cases = [
            ("colour", "\u{1b}[31mred", "\\u{1b}[31mred"),
            (
                "clipboard",
                "\u{1b}]52;c;aGk=\u{7}",
                "\\u{1b}]52;c;aGk=\\u{7}",
            ),
            ("forged line", "ok\n2026 approved", "ok\\n2026 approved"),
            ("overwritten line", "no\ryes", "no\\ryes"),
            ("c1 control", "a\u{9b}2J", "a\\u{9b}2J"),
            ("bidi override", "a\u{202e}b", "a\\u{202e}b"),
            ("bidi isolate", "a\u{2066}b", "a\\u{2066}b"),
            ("zero width", "a\u{200b}\u{feff}b", "a\\u{200b}\\u{feff}b"),
            ("tag", "a\u{e0041}", "a\\u{e0041}"),
            ("variation", "a\u{fe00}\u{e0100}", "a\\u{fe00}\\u{e0100}"),
            ("filler", "\u{3164}", "\\u{3164}"),
            ("letters", "größe 日本 ❤\u{fe0f}", "größe 日本 ❤\u{fe0f}"),
        ];
        for (name, text, shown) in cases {
            assert_eq!(line(text), shown, "ESC-1: {name}");
            assert!(
                !json(text).chars().any(|c| c != '\n' && is_unsafe(c)),
                "ESC-1: {name}"
            );
        }
    }

    // CONTRACT P14
    // BAD INPUT 53
    #[test]
    fn what_is_left_out_of_a_text_is_counted() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdef", 4), "abcd… (+2 bytes)", "ESC-2");
        assert_eq!(clip("ééé", 2), "éé… (+2 bytes)", "bytes, not characters");
        assert_eq!(
            clip("a\u{202e}b", 4),
            "a… (+4 bytes)",
            "an escape is not cut in two"
        );
        let long = "x\n".repeat(LINES_MAX + 3);
        let shown = block(&long);
        assert_eq!(shown.len(), LINES_MAX + 1);
        assert_eq!(shown.last().unwrap(), "… (+6 bytes)");
        let pushed = format!("approve?{}delete all", "\n".repeat(5_001));
        assert_eq!(
            block(&pushed),
            ["approve?", "… (5,000 blank lines)", "delete all"]
        );
        assert_eq!(block("a\n\n\nb\n"), ["a", "", "", "b"]);
    }

    #[test]
    fn printable_json_is_the_same_document() {
        let text = serde_json::to_string("a\u{202e}\u{e0041}\u{1b}é").unwrap();
        let read: String = serde_json::from_str(&json(&text)).unwrap();
        assert_eq!(read, "a\u{202e}\u{e0041}\u{1b}é");
    }

    #[test]
    fn thousands_are_set_apart() {
        let shown = [0, 999, 1_000, 1_048_576].map(grouped);
        assert_eq!(shown, ["0", "999", "1,000", "1,048,576"]);
    }
}
