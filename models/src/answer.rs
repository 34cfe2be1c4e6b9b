//! What a model answered, as it came: text, calls with their raw arguments, why it stopped, what it used.
//!
//! It judges nothing: a call cut by a length stop, a doubled id or arguments that are no JSON pass through unchanged, and `execution` decides.

use std::sync::Arc;

use leasehold_types::{Money, TokenUsage};

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopReason {
    /// It had said what it wanted to say.
    Finished,
    /// It waits for the results of its calls. Some routers say so although the answer was cut: parse, do not trust.
    ToolCalls,
    /// The limit of output tokens cut the answer: its last call may be cut too and is never executed.
    Length,
    /// The model or the provider's filter declined to answer.
    Refused,
    /// Another word of the provider, at most [`StopReason::OTHER_CHARS_MAX`] characters of it.
    Other(String),
}

impl StopReason {
    /// The longest foreign word that is kept, in characters.
    pub const OTHER_CHARS_MAX: usize = 64;

    /// A reason we have no name for.
    #[must_use]
    pub fn other(word: &str) -> Self {
        Self::Other(word.chars().take(Self::OTHER_CHARS_MAX).collect())
    }
}

/// One call a model asks for. Nothing in it is checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelCall {
    /// The provider's id of the call: missing, empty or doubled where the provider left it so.
    pub provider_id: Option<Arc<str>>,
    /// The name the model wrote; perhaps no tool's.
    pub name: Arc<str>,
    /// The arguments byte for byte as the provider sent them; empty if there were none.
    pub arguments: Arc<str>,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelAnswer {
    /// The text; empty if there is none.
    pub text: Arc<str>,
    /// The calls, in the order in which the model wrote them.
    pub calls: Vec<ModelCall>,
    /// What the provider wants to be told again with this answer, in its own form: signed reasoning, thought signatures.
    ///
    /// Opaque: to be kept as it is and put into [`crate::Message::Assistant`]; a model of another provider ignores it.
    pub echo: Option<Arc<str>>,
    /// Why it stopped.
    pub stop: StopReason,
    /// The tokens used; `None` where the provider's numbers are missing or cannot be true.
    pub usage: Option<TokenUsage>,
    /// What the provider says the call cost, rounded up to a whole micro-unit.
    pub cost: Option<Money>,
}
