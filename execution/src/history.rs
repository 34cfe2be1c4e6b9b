//! What the model has read and said: grown by the turn, never rewritten, shared with each request.
//!
//! - HIST-1: results follow their answer in the order of its calls, exactly one for each, before anything else is said.

use std::sync::Arc;

use leasehold_models::{Message, PastCall};

/// The conversation of one execution.
#[derive(Debug, Clone, Default)]
pub struct History {
    messages: Arc<Vec<Message>>,
    bytes: u64,
}

impl History {
    /// Adds a message. Copies nothing once the last request is gone.
    pub fn push(&mut self, message: Message) {
        self.bytes = self.bytes.saturating_add(message.bytes());
        Arc::make_mut(&mut self.messages).push(message);
    }

    /// The messages, oldest first.
    #[must_use]
    pub const fn messages(&self) -> &Arc<Vec<Message>> {
        &self.messages
    }

    /// The bytes of all texts.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many messages there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.messages.len() as u64
    }

    /// Whether nothing was said yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

/// The longest name of a tool that every provider takes, in characters.
const NAME_CHARS_MAX: usize = 64;

/// A name that every provider takes in a conversation: what the model wrote, with `_` for what may not stand there.
///
/// The journal keeps the name as it was written; no tool is ever looked up by this one.
#[must_use]
pub fn callable(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut name: String = name
        .chars()
        .take(NAME_CHARS_MAX)
        .map(|letter| if fits(letter) { letter } else { '_' })
        .collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        name = format!("_{name}").chars().take(NAME_CHARS_MAX).collect();
    }
    name
}

/// A call as it is told back to the model.
#[must_use]
pub fn past_call(
    call_id: &str,
    provider_id: Option<&str>,
    tool: &str,
    arguments: &str,
) -> PastCall {
    PastCall {
        call_id: call_id.into(),
        provider_id: provider_id.map(Arc::from),
        name: callable(tool).into(),
        arguments: arguments.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT A5
    // BAD INPUT 12
    #[test]
    fn a_name_that_no_provider_takes_does_not_enter_the_conversation() {
        assert_eq!(callable("refund-card-tool"), "refund-card-tool");
        for (written, kept) in [
            ("", "_"),
            ("9 lives", "_9_lives"),
            ("refund card ", "refund_card_"),
            ("\u{430}-tool", "_-tool"),
        ] {
            assert_eq!(callable(written), kept, "{written:?}");
        }
        assert_eq!(callable(&"x".repeat(65)).len(), 64);
        assert_eq!(callable(&"9".repeat(65)).len(), 64);
    }
}
