//! Open questions of an execution under test, and the decisions that a test makes in somebody's name.

use std::fmt;

use leasehold_actors::{DecideError, PauseTarget};
use leasehold_execution::machine::{DecisionReply, QuestionView, Verdict};
use leasehold_tools::ApprovalRole;
use leasehold_types::{PauseRef, Principal, Timestamp};
use serde::Deserialize as _;

use crate::execution::{DECISION_WAIT, Execution};
use crate::fail::Asked;
use crate::reading::Reading;

/// A call that waits for the approval of the role `R`.
pub struct Pause<R: ApprovalRole> {
    question: Question,
    arguments: R::Input,
}

impl<R: ApprovalRole> Pause<R> {
    pub(crate) fn new(execution: Execution, view: QuestionView, asked: Asked) -> Self {
        let text = view.call.as_ref().map(|(_, arguments)| arguments.as_str());
        let value: Result<serde_json::Value, _> = serde_json::from_str(text.unwrap_or("null"));
        let arguments = match value.and_then(R::Input::deserialize) {
            Ok(arguments) => arguments,
            Err(error) => asked.fail(format_args!(
                "the arguments of {} are none of the role's: {error}",
                view.reference
            )),
        };
        let question = Question { execution, view };
        Self {
            question,
            arguments,
        }
    }

    /// The arguments the call would run with.
    #[must_use]
    pub const fn arguments(&self) -> &R::Input {
        &self.arguments
    }

    /// The tool that would run.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.question.tool()
    }

    /// The public reference.
    #[must_use]
    pub const fn reference(&self) -> PauseRef {
        self.question.view.reference
    }

    /// When the question expires.
    #[must_use]
    pub const fn expires_at(&self) -> Option<Timestamp> {
        self.question.view.expires_at
    }

    /// Lets the call run as it is.
    ///
    /// # Panics
    /// The decision does not count.
    #[track_caller]
    pub fn approve(&self, by: &Principal) -> impl Future<Output = ()> {
        self.question.counts(by, approval(None), Asked::here())
    }

    /// Lets the call run with other arguments.
    ///
    /// # Panics
    /// The decision does not count.
    #[track_caller]
    pub fn approve_with(&self, by: &Principal, arguments: &R::Input) -> impl Future<Output = ()> {
        let asked = Asked::here();
        let text = match serde_json::to_string(arguments) {
            Ok(text) => text,
            Err(error) => asked.fail(error),
        };
        self.question.counts(by, approval(Some(text)), asked)
    }

    /// Does not let the call run; the model reads the reason.
    ///
    /// # Panics
    /// The decision does not count.
    #[track_caller]
    pub fn reject(&self, by: &Principal, reason: &str) -> impl Future<Output = ()> {
        self.question.counts(by, rejection(reason), Asked::here())
    }

    /// Decides, and tells what whoever decides is told: for decisions that may not count.
    ///
    /// # Panics
    /// The store refuses.
    #[track_caller]
    pub fn decide(&self, by: &Principal, verdict: Verdict) -> impl Future<Output = DecisionReply> {
        self.question.decide(by.clone(), verdict, Asked::here())
    }
}

impl<R: ApprovalRole> fmt::Debug for Pause<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.question.fmt(f)
    }
}

/// A call of which nobody knows what it did.
pub struct Doubt(Question);

impl Doubt {
    pub(crate) fn new(execution: Execution, view: QuestionView, _: Asked) -> Self {
        Self(Question { execution, view })
    }

    /// The tool that was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.0.tool()
    }

    /// The canonical arguments it was called with.
    #[must_use]
    pub fn arguments(&self) -> &str {
        let call = self.0.view.call.as_ref();
        call.map_or("", |(_, arguments)| arguments)
    }

    /// Decides that it took no effect: the call runs again under the same key.
    ///
    /// # Panics
    /// The decision does not count.
    #[track_caller]
    pub fn run_again(&self, by: &Principal) -> impl Future<Output = ()> {
        self.0.counts(by, approval(None), Asked::here())
    }

    /// Decides that it is not run again; the model reads why.
    ///
    /// # Panics
    /// The decision does not count.
    #[track_caller]
    pub fn leave(&self, by: &Principal, reason: &str) -> impl Future<Output = ()> {
        self.0.counts(by, rejection(reason), Asked::here())
    }
}

impl fmt::Debug for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Says something to an execution that waits for it.
pub(crate) async fn say_to(
    execution: Execution,
    view: QuestionView,
    by: &Principal,
    text: String,
    asked: Asked,
) {
    let question = Question { execution, view };
    question.counts(by, Verdict::Message { text }, asked).await;
}

struct Question {
    execution: Execution,
    view: QuestionView,
}

impl Question {
    fn tool(&self) -> &str {
        self.view.call.as_ref().map_or("", |(tool, _)| tool)
    }

    fn counts(&self, by: &Principal, verdict: Verdict, asked: Asked) -> impl Future<Output = ()> {
        let by = by.clone();
        async move {
            let reply = self.decide(by, verdict, asked).await;
            if reply != DecisionReply::Counted {
                let reference = self.view.reference;
                asked.fail(format_args!(
                    "[testkit.decision-not-counted] the decision about {reference} does not count: {reply:?}"
                ));
            }
        }
    }

    async fn decide(&self, by: Principal, verdict: Verdict, asked: Asked) -> DecisionReply {
        let node = self.execution.world().node().await;
        let target = PauseTarget::Reference(self.view.reference);
        let shown = Some(self.view.digest);
        let told = node.decide(target, by, verdict, shown, DECISION_WAIT).await;
        match told {
            Ok(reply) => reply,
            // The instance crashed on it. It is durable: the next one applies it.
            Err(DecideError::Pending { .. }) => {
                let number = self.view.reference.number;
                let closed = |reading: &Reading| {
                    let mut open = reading.machine().questions();
                    let is_open = open.any(|question| question.reference.number == number);
                    (!is_open).then_some(())
                };
                self.execution.until(asked, "the decision", closed).await;
                DecisionReply::Counted
            }
            Err(error) => asked.fail(error),
        }
    }
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("reference", &self.view.reference)
            .field("call", &self.view.call)
            .finish_non_exhaustive()
    }
}

const fn approval(override_arguments: Option<String>) -> Verdict {
    Verdict::Approve { override_arguments }
}

fn rejection(reason: &str) -> Verdict {
    Verdict::Reject {
        reason: reason.to_owned(),
    }
}
