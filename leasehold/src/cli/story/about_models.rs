//! Lines about model calls: what was asked, what was answered, what each call of an answer leads to.

use leasehold_execution::record::{
    AnsweredCall, CallPlan, ModelAnswered, ModelFailed, ModelIntended,
};
use leasehold_types::{Money, PriceSource, SpendEntry};

use super::{ARGUMENT_CHARS, Asking, Story, TEXT_CHARS, ToldCall};
use crate::cli::counted;
use crate::cli::view::EventView;
use crate::cli::when::When;
use crate::escape::{clip, grouped};

impl Story {
    pub(super) fn model_intended(&mut self, event: EventView, body: &ModelIntended) -> EventView {
        self.place = Some(body.place.clone());
        self.counts.model_calls += 1;
        self.asking = Some(Asking {
            model: body.model.clone(),
            turn: body.turn,
        });
        let mut text = format!("asks {}, turn {}", clip(&body.model, 64), body.turn);
        if body.attempt > 1 {
            text += &format!(", attempt {}", body.attempt);
        }
        if body.tools_off {
            text += ", the last one, without tools";
        }
        if body.reserved > Money::ZERO {
            text += &format!(" (reserves {})", body.reserved);
        }
        EventView {
            text,
            attempt: Some(body.attempt),
            ..event
        }
    }

    pub(super) fn model_answered(&mut self, event: EventView, body: &ModelAnswered) -> EventView {
        self.asking = None;
        self.model_error = None;
        self.model_said.clone_from(&body.text);
        let said = clip(&body.text, TEXT_CHARS);
        let text = match (body.calls.len(), said.is_empty()) {
            (0, true) => "answers nothing".to_owned(),
            (0, false) => format!("answers: {said}"),
            (calls, _) => format!("answers with {}", counted(calls, "call")),
        };
        let mut details = Vec::new();
        if !body.calls.is_empty() && !said.is_empty() {
            details.push(format!("says: {said}"));
        }
        for call in &body.calls {
            details.extend(self.admitted(call));
        }
        if let Some(repair) = &body.repair {
            details.push(format!("unusable, told so: {}", clip(repair, TEXT_CHARS)));
        }
        details.push(used(&body.spend, &body.stop));
        EventView {
            text,
            details,
            attempt: Some(body.attempt),
            ..event
        }
    }

    /// Takes note of a call that the model asked for, and tells what is done with it.
    fn admitted(&mut self, call: &AnsweredCall) -> Vec<String> {
        self.counts.tool_calls += 1;
        let is_refused = matches!(call.plan, CallPlan::Refuse { .. });
        let is_intended = self.is_intended(call);
        let key = self.key_of(&call.call_id).filter(|_| !is_refused);
        let told = ToldCall {
            tool: call.tool.clone(),
            effect: call.bound.as_ref().map(|bound| bound.effect),
            key: key.clone(),
            epochs: if is_intended {
                vec![self.epoch]
            } else {
                vec![]
            },
            is_over: is_refused,
            doubt: None,
        };
        self.calls.insert(call.call_id.clone(), told);
        let then = match &call.plan {
            CallPlan::Run => "runs now".to_owned(),
            CallPlan::Queue => "waits for its turn".to_owned(),
            CallPlan::Ask => "needs a decision".to_owned(),
            CallPlan::Refuse { message, .. } => {
                format!("refused: {}", clip(message, TEXT_CHARS))
            }
        };
        let effect = call
            .bound
            .as_ref()
            .map(|bound| format!(" ({})", bound.effect));
        let first = format!(
            "{}{} {}",
            clip(&call.tool, 64),
            effect.unwrap_or_default(),
            clip(&call.arguments, ARGUMENT_CHARS)
        );
        let second = format!("    call {}: {then}", call.call_id);
        let key = key.map(|key| format!("    key  {key}"));
        [first, second].into_iter().chain(key).collect()
    }

    /// Whether the answer's frame is the intent of this call.
    fn is_intended(&self, call: &AnsweredCall) -> bool {
        let is_write = call
            .bound
            .as_ref()
            .is_some_and(|bound| bound.effect == leasehold_types::Effect::Write);
        match call.plan {
            CallPlan::Run => true,
            CallPlan::Queue => !is_write,
            CallPlan::Ask | CallPlan::Refuse { .. } => false,
        }
    }

    pub(super) fn model_failed(&mut self, event: EventView, body: &ModelFailed) -> EventView {
        self.asking = None;
        self.model_error = Some(body.error.clone());
        let error = clip(&body.error, TEXT_CHARS);
        let then = match body.retry_at {
            Some(at) => format!("tried again at {}", When(at).clock()),
            None => "not tried again".to_owned(),
        };
        let billed = if body.may_be_billed {
            "; it may have been billed"
        } else {
            ""
        };
        EventView {
            text: format!("turn {} failed: {error}", body.turn),
            details: vec![format!("attempt {}, {then}{billed}", body.attempt)],
            attempt: Some(body.attempt),
            ..event
        }
    }
}

/// Tokens, why the model stopped, and where a price came from that is no ordinary one.
fn used(spend: &SpendEntry, stop: &str) -> String {
    let tokens = spend.tokens;
    let cached = match tokens.cached {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    let source = match spend.source {
        PriceSource::Provider | PriceSource::PriceBook | PriceSource::Declared => "",
        PriceSource::Estimate => ", spend estimated: the provider told none",
        PriceSource::Unpriced => ", no price known",
    };
    format!(
        "{} tokens in{cached}, {} out, stop {}{source}",
        grouped(tokens.input),
        grouped(tokens.output),
        clip(stop, 32)
    )
}
