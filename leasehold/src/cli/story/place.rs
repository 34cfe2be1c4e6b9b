//! Where the story has come to: the execution's state, why it stands there, its open questions, its end.

use leasehold_execution::Machine;
use leasehold_execution::machine::{CallState, QuestionView};
use leasehold_execution::record::{Outcome, PauseSubject};
use leasehold_types::{Money, TokenUsage, TreeState};

use super::Story;
use crate::cli::view::{About, EventView, ExecutionView, PauseView, SpendView, State};
use crate::cli::when::When;
use crate::escape::clip;

/// The longest input that is shown whole; `journal dump` has it in any case.
const INPUT_CHARS: usize = 4_000;
/// Characters of what a model said beside a question.
const SAID_CHARS: usize = 400;
/// Open pauses that are named in a reason; the rest is counted.
const NAMED_PAUSES_MAX: usize = 3;

impl Story {
    /// What the execution is doing.
    pub(in crate::cli) fn state(&self) -> State {
        if let Some(ended) = self.machine.as_ref().and_then(Machine::ended) {
            return state_of(&ended.outcome);
        }
        if self.broken.is_some() || self.machine.is_none() {
            return State::Unreadable;
        }
        match self.summary.as_ref().map(|summary| summary.state) {
            Some(TreeState::Blocked) => State::Blocked,
            Some(TreeState::Resting) => State::Waiting,
            Some(TreeState::Ended) | None => State::Unreadable,
            Some(TreeState::Live) if self.epoch == 0 => State::Starting,
            Some(TreeState::Live) => State::Running,
        }
    }

    /// Why it stands there, in one line.
    pub(in crate::cli) fn why(&self) -> String {
        match self.state() {
            State::Starting => "no instance has taken it yet".to_owned(),
            State::Running => self.why_running(),
            State::Waiting => self.why_waiting(),
            State::Blocked => self.why_blocked(),
            State::Unreadable => {
                let why = self.broken.as_deref().unwrap_or("there is no start");
                format!("its journal cannot be read to the end: {}", clip(why, 200))
            }
            State::Completed => String::new(),
            State::Failed | State::Cancelled | State::LimitExceeded | State::BudgetExceeded => {
                self.why_ended()
            }
        }
    }

    fn why_running(&self) -> String {
        if let Some(reason) = &self.released {
            let reason = clip(reason, 80);
            return format!("no instance has it ({reason}): it goes on when one runs");
        }
        let holder = self.claim.as_ref().map_or_else(
            || "nobody".to_owned(),
            |claim| clip(claim.instance.as_str(), 64),
        );
        let mut doing: Vec<String> = self
            .asking
            .iter()
            .map(|asking| format!("asks {}, turn {}", clip(&asking.model, 64), asking.turn))
            .collect();
        let calls = self.machine.iter().flat_map(Machine::calls);
        let running = calls.filter(|(_, _, state)| matches!(state, CallState::Running));
        doing.extend(running.map(|(_, tool, _)| format!("runs {}", clip(tool, 64))));
        if doing.is_empty() {
            return format!("{holder} has it");
        }
        format!("{holder} {}", doing.join(" and "))
    }

    fn why_waiting(&self) -> String {
        let pauses = self.pauses();
        if pauses.is_empty() {
            return self.why_timer();
        }
        let named: Vec<String> = pauses
            .iter()
            .take(NAMED_PAUSES_MAX)
            .map(waits_for)
            .collect();
        let more = match pauses.len().saturating_sub(NAMED_PAUSES_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("waits for {}{more}", named.join(", "))
    }

    fn why_timer(&self) -> String {
        let due = self.summary.as_ref().and_then(|summary| summary.next_due);
        let due = due.map_or_else(|| "somebody acts".to_owned(), |due| When(due).full());
        match &self.model_error {
            Some(error) => format!("asks the model again at {due}, after: {}", clip(error, 120)),
            None => format!("rests until {due}"),
        }
    }

    fn why_blocked(&self) -> String {
        let cause = self
            .machine
            .as_ref()
            .and_then(Machine::quarantined)
            .unwrap_or("no cause told");
        format!(
            "quarantined: {}; `executions retry` lets it go on",
            clip(cause, 160)
        )
    }

    fn why_ended(&self) -> String {
        let ended = self.machine.as_ref().and_then(Machine::ended);
        match ended.map(|ended| &ended.outcome) {
            Some(
                Outcome::Failed { error }
                | Outcome::LimitExceeded { error, .. }
                | Outcome::BudgetExceeded { error },
            ) => clip(error, 200),
            Some(Outcome::Cancelled { by, reason }) if reason.is_empty() => {
                format!("cancelled by {}", clip(by, 64))
            }
            Some(Outcome::Cancelled { by, reason }) => {
                format!("cancelled by {}: {}", clip(by, 64), clip(reason, 160))
            }
            Some(Outcome::Completed { .. }) | None => String::new(),
        }
    }

    /// Its open pauses, each with all that is needed to decide it.
    pub(in crate::cli) fn pauses(&self) -> Vec<PauseView> {
        if self.state().is_over() {
            return vec![];
        }
        let questions = self.machine.iter().flat_map(Machine::questions);
        questions.map(|question| self.pause(&question)).collect()
    }

    fn pause(&self, question: &QuestionView) -> PauseView {
        let (about, role, call_id) = match &question.subject {
            PauseSubject::Approval { call_id, role } => {
                (About::Approval, Some(role.clone()), Some(call_id))
            }
            PauseSubject::Uncertain { call_id } => (About::Uncertain, None, Some(call_id)),
            PauseSubject::Input => (About::Input, None, None),
        };
        let call = call_id.and_then(|call_id| self.calls.get(call_id));
        let started = self.started.as_ref().map(|(started, _)| started);
        let said = clip(&self.model_said, SAID_CHARS);
        PauseView {
            pause: question.reference,
            about,
            role,
            answerer: question.answerer.into(),
            agent: started.map(|s| s.agent.clone()).unwrap_or_default(),
            owner: started
                .map(|s| s.owner.as_str().to_owned())
                .unwrap_or_default(),
            call_id: call_id.map(|call_id| call_id.as_str().to_owned()),
            idempotency_key: call
                .and_then(|call| call.key.as_ref())
                .map(|key| key.as_str().to_owned()),
            tool: question.call.as_ref().map(|(tool, _)| tool.clone()),
            effect: call
                .and_then(|call| call.effect)
                .map(|effect| effect.word().to_owned()),
            arguments: question
                .call
                .as_ref()
                .map(|(_, arguments)| arguments.clone()),
            why: call.and_then(|call| call.doubt.clone()),
            model_said: Some(said).filter(|said| !said.is_empty()),
            digest: question.digest.to_string(),
            asked_at: question.asked_at.into(),
            expires_at: question.expires_at.map(Into::into),
            undeliverable: question.undeliverable,
        }
    }

    /// Its spend.
    pub(in crate::cli) fn spend(&self) -> SpendView {
        let budget = self
            .started
            .as_ref()
            .and_then(|(started, _)| started.budget);
        let nothing = (Money::ZERO, Money::ZERO, TokenUsage::default());
        let (settled, possible, tokens) = self.machine.as_ref().map_or(nothing, Machine::spent);
        SpendView::new(settled, possible, budget, tokens)
    }

    /// The answer, or what there is of one, and the error.
    fn end(&self) -> (Option<String>, Option<String>) {
        let ended = self.machine.as_ref().and_then(Machine::ended);
        match ended.map(|ended| ended.outcome.clone()) {
            Some(Outcome::Completed { answer }) => (Some(answer), None),
            Some(Outcome::Failed { error } | Outcome::BudgetExceeded { error }) => {
                (None, Some(error))
            }
            Some(Outcome::LimitExceeded { error, partial }) => (partial, Some(error)),
            Some(Outcome::Cancelled { .. }) => (None, Some(self.why_ended())),
            None => (None, None),
        }
    }

    /// All of it, with the lines that were told.
    pub(in crate::cli) fn view(&self, timeline: Vec<EventView>) -> ExecutionView {
        let started = self.started.as_ref();
        let body = started.map(|(body, _)| body);
        let (answer, error) = self.end();
        let text = |of: fn(&leasehold_execution::record::Started) -> &str| {
            body.map(|body| of(body).to_owned()).unwrap_or_default()
        };
        ExecutionView {
            execution: self.execution,
            state: self.state(),
            why: self.why(),
            workflow: text(|body| &body.workflow),
            agent: text(|body| &body.agent),
            owner: text(|body| body.owner.as_str()),
            tenant: self.tenant.clone(),
            thread: body
                .and_then(|body| body.thread.as_ref())
                .map(|t| t.as_str().to_owned()),
            input: body
                .map(|body| clip(&body.input, INPUT_CHARS))
                .unwrap_or_default(),
            started_by: text(|body| &body.started_by.id),
            started_at: started.map(|(_, at)| (*at).into()),
            last_at: self.last_at.map(Into::into),
            config_hash: body
                .map(|body| body.config_hash.to_string())
                .unwrap_or_default(),
            epoch: self.epoch,
            instance: self
                .claim
                .as_ref()
                .map(|claim| claim.instance.as_str().to_owned()),
            frames: self.frames,
            next_due: self
                .summary
                .as_ref()
                .and_then(|s| s.next_due)
                .map(Into::into),
            spend: self.spend(),
            model_calls: self.counts.model_calls,
            tool_calls: self.counts.tool_calls,
            pauses: self.pauses(),
            timeline,
            answer,
            error,
            broken: self.broken.clone(),
        }
    }
}

/// The state of an execution that ended so.
pub(in crate::cli) const fn state_of(outcome: &Outcome) -> State {
    match outcome {
        Outcome::Completed { .. } => State::Completed,
        Outcome::Failed { .. } => State::Failed,
        Outcome::Cancelled { .. } => State::Cancelled,
        Outcome::LimitExceeded { .. } => State::LimitExceeded,
        Outcome::BudgetExceeded { .. } => State::BudgetExceeded,
    }
}

fn waits_for(pause: &PauseView) -> String {
    let number = pause.pause.number;
    let tool = pause
        .tool
        .as_deref()
        .map(|tool| clip(tool, 64))
        .unwrap_or_default();
    let unsent = if pause.undeliverable {
        ", undeliverable"
    } else {
        ""
    };
    match (&pause.about, &pause.role) {
        (About::Approval, Some(role)) => {
            format!(
                "a decision about {tool} by {} (pause {number}{unsent})",
                clip(role, 64)
            )
        }
        (About::Approval, None) | (About::Uncertain, _) => {
            format!("a person to say what becomes of {tool} (pause {number})")
        }
        (About::Input, _) => format!("a message (pause {number})"),
    }
}
