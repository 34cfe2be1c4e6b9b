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
        name: tool.into(),
        arguments: arguments.into(),
    }
}
