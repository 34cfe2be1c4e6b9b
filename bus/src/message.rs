//! Messages: what is sent, what arrives, and where an answer may go.
//!
//! - REPLY-1: an answer goes only to an inbox of the tenant that was asked: no message can make us write elsewhere.

use std::sync::Arc;

use crate::addresses::INBOX;
use crate::{Headers, Subject};

/// The bytes of a message. Shared, so that many subscribers cost one copy.
pub type Payload = Arc<[u8]>;

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where it goes.
    pub subject: Subject,
    /// What it says; the bus does not read it.
    pub payload: Payload,
    /// What travels beside it.
    pub headers: Headers,
}

impl Message {
    /// The most bytes of payload and headers together: what a server takes by default.
    pub const BYTES_MAX: usize = 1_048_576;

    /// A message without headers.
    #[must_use]
    pub fn new(subject: Subject, payload: impl Into<Payload>) -> Self {
        Self {
            subject,
            payload: payload.into(),
            headers: Headers::default(),
        }
    }

    /// The same message with these headers.
    #[must_use]
    pub fn with_headers(mut self, headers: Headers) -> Self {
        self.headers = headers;
        self
    }

    /// Bytes of payload and headers together.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.payload.len() + self.headers.bytes()
    }
}

/// Where an answer to one message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyTo(Subject);

impl ReplyTo {
    /// Takes the reply subject that came with a message sent to `asked`, if answers may go there.
    #[must_use]
    pub fn of(reply: &str, asked: &Subject) -> Option<Self> {
        let reply = Subject::parse(reply).ok()?;
        let is_ours = {
            let mut parts = reply.written_parts();
            let is_same_tenant = parts.next() == asked.written_parts().next();
            is_same_tenant && parts.next() == Some(INBOX) && parts.next().is_some()
        };
        is_ours.then_some(Self(reply))
    }

    /// The subject.
    #[must_use]
    pub const fn subject(&self) -> &Subject {
        &self.0
    }
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Where it was sent to.
    pub subject: Subject,
    /// What it says.
    pub payload: Payload,
    /// What travelled beside it.
    pub headers: Headers,
    /// Where an answer goes, if one is wanted and may be given.
    pub reply_to: Option<ReplyTo>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use leasehold_types::Tenant;

    // BAD INPUT 57
    #[test]
    fn an_answer_goes_only_to_an_inbox_of_the_tenant_that_was_asked() {
        let asked = Subject::new(&Tenant::new("acme"), &["ask", "pod-1"]).unwrap();
        assert!(ReplyTo::of("lh.acme.inbox.7", &asked).is_some());
        for foreign in [
            "",
            "lh.acme.inbox",
            "lh.acme.cancel.7",
            "lh.other.inbox.7",
            "lh.acme.inbox.>",
            "lh.in.3.tree",
            "$JS.API.STREAM.DELETE.x",
            "_INBOX.7",
        ] {
            assert_eq!(ReplyTo::of(foreign, &asked), None, "REPLY-1: {foreign}");
        }
    }
}
