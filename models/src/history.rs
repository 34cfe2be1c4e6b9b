//! The one rule every provider has for a conversation: each call has exactly one result, in the order of the calls, before anything else is said.
//!
//! - HISTORY-1: no request leaves whose calls and results do not pair up. A provider would refuse it, and every later one too.

use crate::request::{Message, ModelRequest, PastCall};

/// Where calls and results do not pair up. Positions count messages from 0.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HistoryError {
    /// A call has no result before the next message.
    #[error("call {call_id:?} of message {message} has no result")]
    ResultMissing {
        /// The position of the assistant's message.
        message: usize,
        /// The call.
        call_id: String,
    },
    /// A result answers no call, answers one again, or stands out of order.
    #[error(
        "the result in message {message} for call {call_id:?} answers no open call, or another comes first"
    )]
    ResultUnexpected {
        /// The position of the result.
        message: usize,
        /// The call it names.
        call_id: String,
    },
    /// There is nothing to answer.
    #[error("the conversation is empty")]
    Empty,
}

impl ModelRequest {
    /// Checks HISTORY-1.
    ///
    /// # Errors
    /// The first place where calls and results do not pair up, or an empty conversation.
    pub fn check_history(&self) -> Result<(), HistoryError> {
        let mut open = Open {
            message: 0,
            calls: &[],
        };
        for (position, message) in self.messages.iter().enumerate() {
            match message {
                Message::User { .. } => open.closed()?,
                Message::Assistant { calls, .. } => {
                    open.closed()?;
                    open = Open {
                        message: position,
                        calls,
                    };
                }
                Message::ToolResult { call_id, .. } => open.answer(position, call_id)?,
            }
        }
        open.closed()?;
        if self.messages.is_empty() {
            return Err(HistoryError::Empty);
        }
        Ok(())
    }
}

/// The calls of one assistant's message that have no result yet.
struct Open<'a> {
    message: usize,
    calls: &'a [PastCall],
}

impl Open<'_> {
    fn closed(&self) -> Result<(), HistoryError> {
        self.calls.first().map_or(Ok(()), |call| {
            Err(HistoryError::ResultMissing {
                message: self.message,
                call_id: call.call_id.to_string(),
            })
        })
    }

    fn answer(&mut self, message: usize, call_id: &str) -> Result<(), HistoryError> {
        match self.calls.split_first() {
            Some((call, rest)) if *call.call_id == *call_id => {
                self.calls = rest;
                Ok(())
            }
            Some(_) | None => Err(HistoryError::ResultUnexpected {
                message,
                call_id: call_id.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(ids: &[&str]) -> Message {
        let call = |id: &&str| PastCall {
            call_id: (*id).into(),
            provider_id: None,
            name: "a-tool".into(),
            arguments: "{}".into(),
        };
        Message::Assistant {
            text: "".into(),
            calls: ids.iter().map(call).collect(),
            echo: None,
        }
    }

    fn result(id: &str) -> Message {
        Message::ToolResult {
            call_id: id.into(),
            name: "a-tool".into(),
            text: "".into(),
            is_error: false,
        }
    }

    #[track_caller]
    fn check(messages: Vec<Message>, expected: Result<(), (usize, &str)>) {
        let request = ModelRequest::new("", messages);
        let found = request.check_history().map_err(|error| match error {
            HistoryError::ResultMissing { message, call_id }
            | HistoryError::ResultUnexpected { message, call_id } => (message, call_id),
            HistoryError::Empty => (0, String::new()),
        });
        assert_eq!(found, expected.map_err(|(at, id)| (at, id.to_owned())));
    }

    // CONTRACT A5
    // CASE 100
    #[test]
    fn a_conversation_whose_calls_and_results_do_not_pair_up_is_refused() {
        let user = || Message::user("hello");
        let said = || Message::assistant("hi");
        check(vec![], Err((0, "")));
        check(vec![user()], Ok(()));
        check(
            vec![user(), calls(&["a", "b"]), result("a"), result("b")],
            Ok(()),
        );
        check(
            vec![user(), calls(&["a"]), result("a"), said(), user()],
            Ok(()),
        );
        check(vec![user(), calls(&["a"])], Err((1, "a")));
        check(
            vec![user(), calls(&["a", "b"]), result("a"), user()],
            Err((1, "b")),
        );
        check(vec![user(), calls(&["a"]), said()], Err((1, "a")));
        check(
            vec![user(), calls(&["a"]), calls(&["b"]), result("b")],
            Err((1, "a")),
        );
        check(
            vec![user(), calls(&["a", "b"]), result("b"), result("a")],
            Err((2, "b")),
        );
        check(
            vec![user(), calls(&["a"]), result("a"), result("a")],
            Err((3, "a")),
        );
        check(vec![user(), result("a")], Err((1, "a")));
        check(
            vec![user(), calls(&["a"]), result("a"), user(), result("a")],
            Err((4, "a")),
        );
    }
}
