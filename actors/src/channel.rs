//! Channels: how a paused execution asks people or other systems.

use std::fmt;
use std::sync::Arc;

use leasehold_execution::machine::Verdict;
use leasehold_tools::{Dto, decode};
use leasehold_types::{
    Answerer, BoxFuture, Digest, ExecutionId, Owner, PauseId, PauseRef, Timestamp,
};

/// A question as it is handed to a channel.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The secret of the pause: the key under which the channel posts, and the right to try an answer.
    pub pause_id: PauseId,
    /// The public reference.
    pub reference: PauseRef,
    /// The execution.
    pub execution: ExecutionId,
    /// Whose execution it is.
    pub owner: Owner,
    /// The role asked.
    pub role: String,
    /// Who may answer.
    pub answerer: Answerer,
    /// The tool that would run.
    pub tool: String,
    /// The canonical arguments that it would run with, as JSON text.
    pub arguments: String,
    /// What a decision is bound to.
    pub digest: Digest,
    /// When the question expires.
    pub expires_at: Option<Timestamp>,
    /// Which attempt to send it this is, from 1.
    pub attempt: u32,
}

impl Ask {
    /// The arguments as a value of the type that the role approves.
    ///
    /// # Errors
    /// They are none of that type's: the role was declared for another one.
    pub fn input<T: Dto>(&self) -> Result<T, ChannelError> {
        decode(self.arguments.as_bytes()).map_err(|invalid| ChannelError(invalid.to_string()))
    }
}

/// What a channel did with a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It is with whoever answers; the execution rests until then.
    AwaitReply,
    /// A rule answered at once.
    Decided(Verdict),
}

/// A question did not reach its channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChannelError(pub String);

/// Asks whoever may answer.
///
/// `send` is repeated with the same pause id after an error, a panic, a timeout or a crash: post under it once.
/// Its future is dropped when it takes longer than 30 s.
pub trait Channel: Send + Sync + fmt::Debug {
    /// The channel's name, for people: `terminal`.
    fn name(&self) -> &str;

    /// Puts a question.
    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>>;
}

/// Finds the channel of a role.
pub trait Channels: Send + Sync + fmt::Debug {
    /// The one implementation of a role in this environment.
    fn channel(&self, role: &str) -> Option<Arc<dyn Channel>>;
}
