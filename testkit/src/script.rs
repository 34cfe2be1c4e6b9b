//! Scripts: what an agent's model answers, turn by turn, in a test's own words.
//!
//! A script holds no state: which turn is due follows from the conversation, so a model that is asked again after a crash
//! answers the same.

use leasehold_models::{ModelError, Scripted, Turn};
use leasehold_tools::Tool;
use serde::Serialize;

use crate::fail::fail;

/// Calls a tool with arguments of its own input type.
///
/// # Panics
/// The input cannot be written as JSON.
#[must_use]
#[track_caller]
pub fn call(tool: impl Tool, input: &impl Serialize) -> Turn {
    match serde_json::to_value(input) {
        Ok(arguments) => Turn::call(tool.spec().name.as_ref(), &arguments),
        Err(error) => fail(format_args!(
            "the input of {} cannot be written: {error}",
            tool.spec().name
        )),
    }
}

/// Calls whatever `name` names with arguments that need not be JSON, as models do.
#[must_use]
pub fn call_raw(name: &str, arguments: &str) -> Turn {
    Turn::call_raw(name, arguments)
}

/// Says something and ends.
#[must_use]
pub fn say(text: &str) -> Turn {
    Turn::say(text)
}

/// Several calls in one answer.
#[must_use]
pub fn together(turns: impl IntoIterator<Item = Turn>) -> Turn {
    Turn::together(turns)
}

/// The provider fails; what may be tried again is.
#[must_use]
pub const fn fails(error: ModelError) -> Turn {
    Turn::fail(error)
}

/// The model never answers.
#[must_use]
pub const fn hangs() -> Turn {
    Turn::hang()
}

/// The answers of one agent's model.
#[derive(Debug, Clone)]
pub struct Script(Scripted);

impl Script {
    pub(crate) fn into_model(self) -> Scripted {
        self.0
    }
}

impl<const TURNS: usize> From<[Turn; TURNS]> for Script {
    fn from(turns: [Turn; TURNS]) -> Self {
        Self(Scripted::new(turns))
    }
}

impl From<Vec<Turn>> for Script {
    fn from(turns: Vec<Turn>) -> Self {
        Self(Scripted::new(turns))
    }
}

/// A script that looks at the request, or that has a price.
impl From<Scripted> for Script {
    fn from(model: Scripted) -> Self {
        Self(model)
    }
}
