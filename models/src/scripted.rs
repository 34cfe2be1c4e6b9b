//! The scripted model: answers from a list, for demonstrations and tests. No network, no key, no state.
//!
//! - SCRIPT-1: the answer depends on the request alone, never on how often the model was asked: it is the same after a restart.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_types::{BoxFuture, Clock, Permit, Signal};

use crate::abort::unless_aborted;
use crate::script::{Outcome, Turn};
use crate::{Model, ModelAnswer, ModelError, ModelRequest, Price};

/// A model that answers from a script. A clone shares it.
///
/// The turn is the number of answers in the request's history. Costs nothing unless given a price.
///
/// ```
/// use leasehold_models::{Scripted, Turn};
/// let model = Scripted::new([
///     Turn::call("refund-policy-tool", &serde_json::json!({})),
///     Turn::say("Refunds take five days."),
/// ]);
/// ```
#[derive(Clone)]
pub struct Scripted {
    name: Arc<str>,
    price: Option<Price>,
    script: Script,
    delay: Option<(Arc<dyn Clock>, Duration)>,
}

type Answers = dyn Fn(&ModelRequest) -> Turn + Send + Sync;

#[derive(Clone)]
enum Script {
    Turns(Arc<[Turn]>),
    Answers(Arc<Answers>),
}

impl Scripted {
    /// The name it has unless given another.
    pub const NAME: &str = "scripted/script";

    /// Answers turn by turn; asked beyond the last one, it fails with [`ModelError::ScriptEnded`].
    #[must_use]
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::with(Script::Turns(turns.into_iter().collect()))
    }

    /// Answers what `answer` makes of the request. For SCRIPT-1 it must keep no state.
    #[must_use]
    pub fn from_fn(answer: impl Fn(&ModelRequest) -> Turn + Send + Sync + 'static) -> Self {
        Self::with(Script::Answers(Arc::new(answer)))
    }

    fn with(script: Script) -> Self {
        Self {
            name: Self::NAME.into(),
            price: Some(Price::FREE),
            script,
            delay: None,
        }
    }

    /// The same under another name: that of the model it stands in for.
    #[must_use]
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = name.into();
        self
    }

    /// The same with a price, or without a known one.
    #[must_use]
    pub const fn priced(mut self, price: Option<Price>) -> Self {
        self.price = price;
        self
    }

    /// The same, answering only after `delay` on `clock`.
    #[must_use]
    pub fn delayed(mut self, clock: Arc<dyn Clock>, delay: Duration) -> Self {
        self.delay = Some((clock, delay));
        self
    }

    fn answer(&self, request: &ModelRequest) -> Turn {
        match &self.script {
            Script::Answers(answer) => answer(request),
            Script::Turns(turns) => {
                let asked = request.turn();
                turns.get(asked).cloned().unwrap_or_else(|| {
                    Turn::fail(ModelError::ScriptEnded {
                        turns: turns.len(),
                        asked,
                    })
                })
            }
        }
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn chat<'a>(
        &'a self,
        _permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            if let Some(reason) = signal.reason() {
                return Err(ModelError::Aborted(reason));
            }
            request.check_history()?;
            if let Some((clock, delay)) = &self.delay {
                unless_aborted(signal, clock.sleep(*delay)).await?;
            }
            match self.answer(request).into_outcome() {
                Outcome::Answer(answer) => Ok(answer),
                Outcome::Fails(error) => Err(error),
                Outcome::Hangs => Err(ModelError::Aborted(signal.aborted().await)),
            }
        })
    }
}

impl fmt::Debug for Scripted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = match &self.script {
            Script::Turns(turns) => format!("{} turns", turns.len()),
            Script::Answers(_) => "a function".to_owned(),
        };
        f.debug_struct("Scripted")
            .field("name", &self.name)
            .field("script", &script)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use leasehold_types::{
        AbortReason, Epoch, FencingToken, FrameIndex, Money, OwnershipGuard, StepIntent, TreeId,
        Uptime,
    };
    use serde_json::json;

    use super::*;
    use crate::{Message, PastCall, StopReason};

    fn permit() -> Permit {
        let token = FencingToken {
            tree: TreeId::from_u128(1),
            epoch: Epoch::new(1),
        };
        let step = StepIntent {
            frame: FrameIndex::FIRST,
            needs: Duration::ZERO,
        };
        OwnershipGuard::claimed(token, FrameIndex::FIRST, None, Signal::root())
            .permit(Uptime::default(), step)
            .unwrap()
    }

    fn ask(model: &Scripted, messages: Vec<Message>) -> Result<ModelAnswer, ModelError> {
        let request = ModelRequest::new("", messages);
        model
            .chat(permit(), &request, &Signal::root())
            .now_or_never()
            .unwrap()
    }

    fn after_one_call() -> Vec<Message> {
        let call = PastCall {
            call_id: "0".into(),
            provider_id: None,
            name: "a-tool".into(),
            arguments: "{}".into(),
        };
        let result = Message::ToolResult {
            call_id: "0".into(),
            name: "a-tool".into(),
            text: "fine".into(),
            is_error: false,
        };
        let calls = Message::Assistant {
            text: "".into(),
            calls: [call].into(),
            echo: None,
        };
        vec![Message::user("go"), calls, result]
    }

    #[test]
    fn the_turn_is_chosen_by_the_history_and_not_by_how_often_the_model_was_asked() {
        let model = Scripted::new([Turn::call("a-tool", &json!({"b": 1})), Turn::say("Done.")]);
        for _again in 0..2 {
            let first = ask(&model, vec![Message::user("go")]).unwrap();
            assert_eq!(&*first.calls[0].arguments, r#"{"b":1}"#, "SCRIPT-1");
            let second = ask(&model, after_one_call()).unwrap();
            assert_eq!(&*second.text, "Done.");
        }
        let mut beyond = after_one_call();
        beyond.push(Message::assistant("Done."));
        let error = ask(&model, beyond).unwrap_err();
        assert_eq!(error, ModelError::ScriptEnded { turns: 2, asked: 2 });
    }

    // CASE 99
    #[test]
    fn ids_and_arguments_are_given_as_the_script_writes_them() {
        let turn = Turn::together([
            Turn::call_raw("a-tool", r#"{"a":1,"a":2"#),
            Turn::call("b-tool", &json!({})),
            Turn::call("c-tool", &json!({})),
        ]);
        let turn = turn.ids(["call_0", "call_0"]).stop(StopReason::Length);
        let answer = ask(&Scripted::new([turn]), vec![Message::user("go")]).unwrap();
        let ids: Vec<_> = answer
            .calls
            .iter()
            .map(|call| call.provider_id.as_deref())
            .collect();
        assert_eq!(ids, [Some("call_0"), Some("call_0"), None]);
        assert_eq!(&*answer.calls[0].arguments, r#"{"a":1,"a":2"#);
        assert_eq!(answer.stop, StopReason::Length);
    }

    // CASE 86
    #[test]
    fn an_aborted_signal_ends_a_call_that_hangs_and_starts_none() {
        let model = Scripted::new([Turn::hang()]);
        let request = ModelRequest::new("", vec![Message::user("go")]);
        let signal = Signal::root();
        let mut call = model.chat(permit(), &request, &signal);
        assert!(call.as_mut().now_or_never().is_none(), "it hangs");
        let reason = AbortReason::Stopped("drain".to_owned());
        signal.abort(reason.clone());
        let aborted = Some(Err(ModelError::Aborted(reason)));
        assert_eq!(call.now_or_never(), aborted);
        let says = Scripted::new([Turn::say("hi")]);
        assert_eq!(
            says.chat(permit(), &request, &signal).now_or_never(),
            aborted
        );
    }

    // CONTRACT A5
    #[test]
    fn a_request_whose_calls_have_no_results_is_refused_like_a_provider_would() {
        let mut messages = after_one_call();
        messages.pop();
        let error = ask(&Scripted::new([Turn::say("hi")]), messages).unwrap_err();
        assert!(matches!(error, ModelError::HistoryInvalid(_)), "{error}");
    }

    #[test]
    fn a_function_sees_the_request_and_can_fail_with_any_error() {
        let model = Scripted::from_fn(|request| match request.turn() {
            0 => Turn::fail(ModelError::Server { status: 500 }),
            _ => Turn::say("late").cost(Money::from_micros(7)),
        });
        let error = ask(&model, vec![Message::user("go")]).unwrap_err();
        assert_eq!(error, ModelError::Server { status: 500 });
        let answer = ask(&model, after_one_call()).unwrap();
        assert_eq!(answer.cost, Some(Money::from_micros(7)));
    }
}
