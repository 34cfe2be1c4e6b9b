//! The rule of names, written so that the compiler can evaluate it.

use crate::const_text::ConstText;

/// What a name names. Its ending says so to the model, to operators and in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Ends in `-tool`.
    Tool,
    /// Ends in `-channel`.
    Channel,
    /// Ends in `-rag`.
    KnowledgeBase,
}

impl Kind {
    const fn suffix(self) -> &'static str {
        match self {
            Self::Tool => "-tool",
            Self::Channel => "-channel",
            Self::KnowledgeBase => "-rag",
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Tool => "a tool",
            Self::Channel => "a channel",
            Self::KnowledgeBase => "a knowledge base",
        }
    }
}

/// Why a name was refused; the message says what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

/// The longest name, in bytes: what every provider takes for a tool's.
const BYTES_MAX: usize = 64;
const FORM: &str =
    "lower-case words of letters and digits joined by single hyphens, a letter first";

/// Checks the name of a thing of `kind`.
///
/// # Errors
/// `[tool.name-too-long]`, `[tool.name-invalid]` (for others `[name.too-long]`, `[name.invalid]`) or `[name.kind-suffix]`.
pub fn check_name(kind: Kind, name: &str) -> Result<(), NameError> {
    match refusal(kind, name) {
        Some(message) => Err(NameError(message.as_str().to_owned())),
        None => Ok(()),
    }
}

/// Refuses a wrong name at compile time, where it is called in a `const`.
///
/// # Panics
/// The name is wrong; the message is that of [`check_name`].
#[expect(clippy::panic, reason = "in a const, a panic is the compiler's error")]
pub const fn require_name(kind: Kind, name: &str) {
    if let Some(message) = refusal(kind, name) {
        panic!("{}", message.as_str());
    }
}

/// The name that an identifier stands for: `refund_card` on a tool is `refund-card-tool`.
#[must_use]
pub const fn derived_name(kind: Kind, ident: &str) -> ConstText {
    push_derived(ConstText::EMPTY, kind, ident)
}

/// The name of the tool that carries an agent's answer of this type: `answer-refund` for `Refund`.
#[must_use]
pub fn answer_tool_name(type_name: &str) -> String {
    let prefix = ConstText::EMPTY.push("answer-");
    push_kebab(prefix, type_name).as_str().to_owned()
}

const fn refusal(kind: Kind, name: &str) -> Option<ConstText> {
    let is_tool = matches!(kind, Kind::Tool);
    let text = ConstText::EMPTY;
    if name.len() > BYTES_MAX {
        let text = text.push(if is_tool {
            "[tool.name-too-long] "
        } else {
            "[name.too-long] "
        });
        let text = text.push_quoted(name).push(" has ").push_number(name.len());
        return Some(text.push(" bytes, the limit is ").push_number(BYTES_MAX));
    }
    if is_plain(name) && !ends_with(name, kind.suffix()) {
        let text = text.push("[name.kind-suffix] ").push_quoted(name);
        let text = text.push(" on ").push(kind.noun()).push(": name it \"");
        return Some(push_derived(text, kind, name).push("\""));
    }
    if is_kebab(name) {
        return None;
    }
    let text = text.push(if is_tool {
        "[tool.name-invalid] "
    } else {
        "[name.invalid] "
    });
    let text = text.push_quoted(name).push(" is not ").push(kind.noun());
    let text = text.push("'s name: ").push(FORM);
    let right = derived_name(kind, name);
    if !is_kebab(right.as_str()) {
        return Some(text);
    }
    Some(text.push("; name it \"").push(right.as_str()).push("\""))
}

/// Whether a name has only `[a-zA-Z0-9_-]` and begins with a letter or `_`.
const fn is_plain(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !(bytes[at].is_ascii_alphanumeric() || matches!(bytes[at], b'_' | b'-')) {
            return false;
        }
        at += 1;
    }
    !bytes.is_empty() && (bytes[0].is_ascii_alphabetic() || bytes[0] == b'_')
}

const fn is_kebab(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut at = 1;
    while at < bytes.len() {
        let is_word = bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit();
        let is_joint = bytes[at] == b'-' && bytes[at - 1] != b'-' && at + 1 < bytes.len();
        if !is_word && !is_joint {
            return false;
        }
        at += 1;
    }
    true
}

const fn ends_with(name: &str, ending: &str) -> bool {
    let (name, ending) = (name.as_bytes(), ending.as_bytes());
    if name.len() < ending.len() {
        return false;
    }
    let mut at = 0;
    while at < ending.len() {
        if name[name.len() - ending.len() + at] != ending[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Words in kebab-case, then the kind's ending unless it is there.
const fn push_derived(text: ConstText, kind: Kind, ident: &str) -> ConstText {
    let text = push_kebab(text, ident);
    if ends_with(text.as_str(), kind.suffix()) {
        return text;
    }
    text.push(kind.suffix())
}

/// An identifier's words in kebab-case.
const fn push_kebab(mut text: ConstText, ident: &str) -> ConstText {
    let start = text.len();
    let bytes = ident.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_joint = text.len() > start && text.last() != b'-';
        if is_joint && (is_word_start(bytes, at) || !bytes[at].is_ascii_alphanumeric()) {
            text = text.push("-");
        }
        if bytes[at].is_ascii_alphanumeric() {
            text = text.push_byte(bytes[at].to_ascii_lowercase());
        }
        at += 1;
    }
    if text.len() > start && text.last() == b'-' {
        text = text.without_last();
    }
    text
}

/// Whether an upper-case letter begins a word: `cardName`, and the `G` of `HTTPGet`.
const fn is_word_start(bytes: &[u8], at: usize) -> bool {
    if at == 0 || !bytes[at].is_ascii_uppercase() {
        return false;
    }
    let after_small = bytes[at - 1].is_ascii_lowercase() || bytes[at - 1].is_ascii_digit();
    let before_small = at + 1 < bytes.len() && bytes[at + 1].is_ascii_lowercase();
    after_small || (before_small && bytes[at - 1].is_ascii_uppercase())
}
