//! An agent as a program declares it: a plain value that nothing has checked yet.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::{AfterAnswer, Limits};
use leasehold_models::ModelRequest;
use leasehold_tools::Tool;
use leasehold_types::{Budget, Size};

use crate::place::Place;

/// An agent: a model, what it is told, and the tools it may call.
///
/// No method fails; what is wrong is reported when the application is assembled, all at once.
///
/// ```
/// use leasehold::prelude::*;
///
/// let agent = Agent::new("support")
///     .model("anthropic/claude-sonnet-5")
///     .instructions("Help customers with refunds.")
///     .budget(usd(1.50).per_execution());
/// ```
#[derive(Debug, Clone)]
pub struct Agent {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) model: Option<String>,
    pub(crate) instructions: Option<Arc<str>>,
    pub(crate) tools: Vec<ListedTool>,
    pub(crate) budget: Option<Budget>,
    pub(crate) limits: Limits,
    pub(crate) max_output_tokens: u32,
    pub(crate) max_result_size: Option<Size>,
    pub(crate) approvals_expire_after: Option<Duration>,
    pub(crate) after_answer: AfterAnswer,
}

/// A tool in an agent's list or in the application's catalogue.
#[derive(Clone)]
pub(crate) enum ListedTool {
    /// The tool itself.
    Value(Arc<dyn Tool>, Place),
    /// The name of a tool in the application's catalogue.
    Named(String, Place),
}

impl fmt::Debug for ListedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(tool, _) => f.write_str(&tool.spec().name),
            Self::Named(name, _) => write!(f, "{name:?}"),
        }
    }
}

impl Agent {
    /// An agent of this name: kebab-case, at most 64 bytes, unique in the application.
    #[must_use]
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            place: Place::here(),
            model: None,
            instructions: None,
            tools: vec![],
            budget: None,
            limits: Limits::default(),
            max_output_tokens: ModelRequest::MAX_OUTPUT_TOKENS_DEFAULT,
            max_result_size: None,
            approvals_expire_after: None,
            after_answer: AfterAnswer::End,
        }
    }

    /// The model it asks, `<provider>/<model>`.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// What it is told before the conversation.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<Arc<str>>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds a tool.
    #[must_use]
    #[track_caller]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.tools
            .push(ListedTool::Value(Arc::new(tool), Place::here()));
        self
    }

    /// Adds a tool of the application's catalogue by its exact name, for agents that are made at run time.
    #[must_use]
    #[track_caller]
    pub fn tool_named(mut self, name: impl Into<String>) -> Self {
        self.tools
            .push(ListedTool::Named(name.into(), Place::here()));
        self
    }

    /// The most money: `usd(1.50).per_execution()`. Without one nothing bounds the money, and calls of unknown price are made.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// The most tool calls of one execution, 1 to 10,000; 20 unless set.
    #[must_use]
    pub const fn max_tool_calls(mut self, count: u32) -> Self {
        self.limits.tool_calls = count;
        self
    }

    /// The most model calls of one execution, 1 to 10,000; 12 unless set.
    #[must_use]
    pub const fn max_model_calls(mut self, count: u32) -> Self {
        self.limits.model_calls = count;
        self
    }

    /// How often the same failing call may be repeated in a row, 1 to 100; 3 unless set.
    #[must_use]
    pub const fn max_identical_failing_calls(mut self, count: u32) -> Self {
        self.limits.identical_failing_calls = count;
        self
    }

    /// The most calls of one turn that run at the same time, 1 to 256; 8 unless set.
    #[must_use]
    pub const fn max_parallel_calls(mut self, count: u32) -> Self {
        self.limits.parallel_calls = count;
        self
    }

    /// The most attempts of one model call, 1 to 10; 4 unless set.
    #[must_use]
    pub const fn max_model_attempts(mut self, count: u32) -> Self {
        self.limits.model_attempts = count;
        self
    }

    /// The longest answer's text, 1 byte to 4 MB; 256 KB unless set.
    #[must_use]
    pub const fn max_reply_size(mut self, size: Size) -> Self {
        self.limits.reply_bytes = size.as_bytes();
        self
    }

    /// The most tokens of one answer, reasoning included, 1 to 1,000,000; 4,096 unless set.
    #[must_use]
    pub const fn max_output_tokens(mut self, tokens: u32) -> Self {
        self.max_output_tokens = tokens;
        self
    }

    /// How much of a result the model reads, for tools that set no bound themselves.
    #[must_use]
    pub const fn max_result_size(mut self, size: Size) -> Self {
        self.max_result_size = Some(size);
        self
    }

    /// At a limit the model gets one last turn without tools.
    #[must_use]
    pub const fn soft_landing(mut self) -> Self {
        self.limits.soft_landing = true;
        self
    }

    /// How long an approval stays open, 1 s to 3,650 days; for ever unless set. The model reads that it expired.
    #[must_use]
    pub const fn approvals_expire_after(mut self, after: Duration) -> Self {
        self.approvals_expire_after = Some(after);
        self
    }

    /// An answer without calls does not end the execution: it waits for what the person says next.
    #[must_use]
    pub const fn converses(mut self) -> Self {
        self.after_answer = AfterAnswer::AwaitMessage;
        self
    }
}
