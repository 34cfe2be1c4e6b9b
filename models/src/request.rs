//! What a model is asked: instructions, the conversation, the tools it may call.
//!
//! Cheap to build each turn: all text is shared, and a request made from the last one copies no message.

use std::sync::Arc;

use serde_json::Value;

/// A tool as the model sees it: exactly its name, its description and its input schema.
///
/// `tools` makes them; models only pass them on.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinitionRef {
    name: Arc<str>,
    description: Arc<str>,
    input_schema: Arc<Value>,
    bytes: u64,
}

impl ToolDefinitionRef {
    /// Joins the three parts. Measures the schema once, so that estimates need not.
    #[must_use]
    pub fn new(
        name: impl Into<Arc<str>>,
        description: impl Into<Arc<str>>,
        input_schema: Arc<Value>,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        let bytes = name.len() + description.len() + input_schema.to_string().len();
        Self {
            name,
            description,
            input_schema,
            bytes: bytes as u64,
        }
    }

    /// The name the model calls it by.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it does.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The JSON Schema (2020-12) of its input.
    #[must_use]
    pub const fn input_schema(&self) -> &Arc<Value> {
        &self.input_schema
    }

    /// The bytes of all three parts, the schema as compact JSON.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// One call of an earlier answer, as it is told back to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCall {
    /// Our id of the call, unique in the conversation; its result carries the same.
    pub call_id: Arc<str>,
    /// The provider's id as it came. Sent back where it is usable and names one call only; else a provider gets an id made from ours.
    pub provider_id: Option<Arc<str>>,
    /// The name the model wrote.
    pub name: Arc<str>,
    /// The arguments as the model wrote them, or as a person changed them.
    pub arguments: Arc<str>,
}

/// One message of the conversation. A clone shares the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// What a person, or the application for one, said.
    User {
        /// The text.
        text: Arc<str>,
    },
    /// What the model answered earlier.
    Assistant {
        /// The text; empty if there was none.
        text: Arc<str>,
        /// Its calls, in its order.
        calls: Arc<[PastCall]>,
        /// [`crate::ModelAnswer::echo`] as it came.
        echo: Option<Arc<str>>,
    },
    /// The result of one call of the assistant's message before it.
    ToolResult {
        /// The [`PastCall::call_id`] it belongs to.
        call_id: Arc<str>,
        /// The name of the tool.
        name: Arc<str>,
        /// What the model reads.
        text: Arc<str>,
        /// Whether it is an error.
        is_error: bool,
    },
}

impl Message {
    /// A person's message.
    #[must_use]
    pub fn user(text: impl Into<Arc<str>>) -> Self {
        Self::User { text: text.into() }
    }

    /// An answer without calls.
    #[must_use]
    pub fn assistant(text: impl Into<Arc<str>>) -> Self {
        Self::Assistant {
            text: text.into(),
            calls: Arc::default(),
            echo: None,
        }
    }

    /// The bytes of its texts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let bytes = match self {
            Self::User { text } => text.len(),
            Self::Assistant { text, calls, echo } => {
                let calls: usize = calls.iter().map(PastCall::bytes).sum();
                text.len() + calls + echo.as_deref().map_or(0, str::len)
            }
            Self::ToolResult {
                call_id,
                name,
                text,
                is_error: _,
            } => call_id.len() + name.len() + text.len(),
        };
        bytes as u64
    }
}

impl PastCall {
    fn bytes(&self) -> usize {
        let provider_id = self.provider_id.as_deref().map_or(0, str::len);
        self.call_id.len().max(provider_id) + self.name.len() + self.arguments.len()
    }
}

/// Whether the model may call tools in this turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It must answer without calls; the tools stay in the request, since the history names them.
    None,
}

/// What a model is asked in one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelRequest {
    /// The agent's instructions; empty if there are none.
    pub instructions: Arc<str>,
    /// The conversation, oldest first. The one who keeps it appends with [`Arc::make_mut`]: no message is copied.
    pub messages: Arc<Vec<Message>>,
    /// The tools, in the agent's order.
    pub tools: Arc<[ToolDefinitionRef]>,
    /// The most tokens of an answer, reasoning included; at least 1.
    pub max_output_tokens: u32,
    /// Whether it may call tools.
    pub tool_choice: ToolChoice,
}

impl ModelRequest {
    /// The output limit where nobody chose one: long enough for a page of text or a large call.
    pub const MAX_OUTPUT_TOKENS_DEFAULT: u32 = 4_096;

    /// A request without tools.
    #[must_use]
    pub fn new(instructions: impl Into<Arc<str>>, messages: Vec<Message>) -> Self {
        Self {
            instructions: instructions.into(),
            messages: Arc::new(messages),
            tools: Arc::default(),
            max_output_tokens: Self::MAX_OUTPUT_TOKENS_DEFAULT,
            tool_choice: ToolChoice::Auto,
        }
    }

    /// How often the model has answered already: the number of the turn this request asks for, from 0.
    #[must_use]
    pub fn turn(&self) -> usize {
        let answered = |message: &&Message| matches!(message, Message::Assistant { .. });
        self.messages.iter().filter(answered).count()
    }
}
