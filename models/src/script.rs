//! Scripts: what a scripted model answers, turn by turn. Values only; nothing here runs.

use std::sync::Arc;

use leasehold_types::{Money, TokenUsage};
use serde_json::Value;

use crate::{ModelAnswer, ModelCall, ModelError, StopReason};

/// One answer of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn(Outcome);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answer(ModelAnswer),
    Fails(ModelError),
    Hangs,
}

impl Turn {
    /// Says something and ends.
    #[must_use]
    pub fn say(text: impl Into<Arc<str>>) -> Self {
        Self::stopped(text.into(), vec![], StopReason::Finished)
    }

    /// Calls a tool.
    #[must_use]
    pub fn call(name: impl Into<Arc<str>>, arguments: &Value) -> Self {
        Self::call_raw(name, arguments.to_string())
    }

    /// Calls a tool with arguments that need not be JSON.
    #[must_use]
    pub fn call_raw(name: impl Into<Arc<str>>, arguments: impl Into<Arc<str>>) -> Self {
        let call = ModelCall {
            provider_id: None,
            name: name.into(),
            arguments: arguments.into(),
        };
        Self::stopped(Arc::default(), vec![call], StopReason::ToolCalls)
    }

    /// Fails.
    #[must_use]
    pub const fn fail(error: ModelError) -> Self {
        Self(Outcome::Fails(error))
    }

    /// Never answers: ends when its signal is aborted, or when nobody waits any more.
    #[must_use]
    pub const fn hang() -> Self {
        Self(Outcome::Hangs)
    }

    /// Several calls in one answer: the calls of all `turns`, the texts joined by line breaks.
    #[must_use]
    pub fn together(turns: impl IntoIterator<Item = Self>) -> Self {
        let (mut texts, mut calls) = (Vec::new(), Vec::new());
        for turn in turns {
            match turn.0 {
                Outcome::Answer(answer) => {
                    texts.extend((!answer.text.is_empty()).then_some(answer.text));
                    calls.extend(answer.calls);
                }
                Outcome::Fails(_) | Outcome::Hangs => return turn,
            }
        }
        let stop = if calls.is_empty() {
            StopReason::Finished
        } else {
            StopReason::ToolCalls
        };
        Self::stopped(texts.join("\n").into(), calls, stop)
    }

    /// The same with a text beside the calls.
    #[must_use]
    pub fn saying(self, text: impl Into<Arc<str>>) -> Self {
        self.changed(|answer| answer.text = text.into())
    }

    /// The same with the provider's ids for its calls, in order; calls beyond the list have none.
    #[must_use]
    pub fn ids<'a>(self, ids: impl IntoIterator<Item = &'a str>) -> Self {
        self.changed(|answer| {
            let mut ids = ids.into_iter();
            for call in &mut answer.calls {
                call.provider_id = ids.next().map(Arc::from);
            }
        })
    }

    /// The same, stopped for another reason: `Length` for an answer that was cut.
    #[must_use]
    pub fn stop(self, stop: StopReason) -> Self {
        self.changed(|answer| answer.stop = stop)
    }

    /// The same with these tokens; `None` for a provider that tells none.
    #[must_use]
    pub fn usage(self, usage: Option<TokenUsage>) -> Self {
        self.changed(|answer| answer.usage = usage)
    }

    /// The same with the provider's own figure of its cost.
    #[must_use]
    pub fn cost(self, cost: Money) -> Self {
        self.changed(|answer| answer.cost = Some(cost))
    }

    pub(crate) fn into_outcome(self) -> Outcome {
        self.0
    }

    fn stopped(text: Arc<str>, calls: Vec<ModelCall>, stop: StopReason) -> Self {
        Self(Outcome::Answer(ModelAnswer {
            text,
            calls,
            echo: None,
            stop,
            usage: Some(TokenUsage::default()),
            cost: None,
        }))
    }

    fn changed(mut self, change: impl FnOnce(&mut ModelAnswer)) -> Self {
        if let Outcome::Answer(answer) = &mut self.0 {
            change(answer);
        }
        self
    }
}
