//! What happens in one run of the world: tools, the model's turns, the people, and the plan they run under.

use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::{
    AfterAnswer, Limits, Plan, PlannedApproval, PlannedTool, Review, Reviewed,
};
use leasehold_models::Price;
use leasehold_types::{Answerer, CallId, Digest, Effect, Money};

/// How long an approval stays open, where it does not stay for ever: longer than all else that a run does.
const APPROVAL_EXPIRES_AFTER: Duration = Duration::from_secs(3_600);

/// What one tool does.
#[derive(Debug, Clone)]
pub(crate) struct ToolSpec {
    pub(crate) effect: Effect,
    pub(crate) approval: bool,
    pub(crate) exclusive: bool,
    /// How often each call fails retryably before it works.
    pub(crate) hiccups: u32,
    /// Whether it answers with an error in the end.
    pub(crate) fails: bool,
}

/// One call that the model asks for.
#[derive(Debug, Clone)]
pub(crate) struct CallSpec {
    pub(crate) tool: usize,
    pub(crate) argument: u8,
    pub(crate) provider_id: Option<String>,
    /// Whether the arguments are cut in the middle.
    pub(crate) malformed: bool,
}

/// What a person does about an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Approve,
    /// Approves with other arguments.
    Edit,
    Reject,
    /// Never answers: the approval expires.
    Ignore,
}

/// A whole scenario.
#[derive(Debug, Clone)]
pub(crate) struct Scenario {
    pub(crate) tools: Vec<ToolSpec>,
    pub(crate) turns: Vec<Vec<CallSpec>>,
    /// How often the model call of each turn fails before it answers.
    pub(crate) model_hiccups: u32,
    /// What is answered, by the call's id; approved where empty.
    pub(crate) answers: Vec<Answer>,
    /// What a person says after each answer, where the answer is not the end; then they cancel.
    pub(crate) messages: Option<usize>,
    /// In which order steps and people act.
    pub(crate) order: Vec<u8>,
}

impl Scenario {
    /// What a person does about a call: the same in every run, whatever happened before.
    pub(crate) fn answer(&self, call_id: &CallId) -> Answer {
        let sum: usize = call_id.as_str().bytes().map(usize::from).sum();
        let answer = self.answers.get(sum % self.answers.len().max(1));
        answer.copied().unwrap_or(Answer::Approve)
    }
}

pub(crate) fn tool_name(index: usize) -> String {
    format!("t{index}-tool")
}

#[derive(Debug)]
struct AnyJson {
    approval: bool,
}

impl Review for AnyJson {
    fn review(&self, raw: &str) -> Result<Reviewed, String> {
        let value: serde_json::Value =
            serde_json::from_str(raw).map_err(|error| format!("invalid input: {error}"))?;
        let canonical = value.to_string();
        let digest = Digest::of(canonical.as_bytes());
        Ok(Reviewed { canonical, digest })
    }

    fn asks(&self, _: &Reviewed) -> bool {
        self.approval
    }
}

fn planned((index, spec): (usize, &ToolSpec)) -> (String, PlannedTool) {
    let approval = spec.approval.then(|| PlannedApproval {
        role: "boss-channel".to_owned(),
        answerer: Answerer::Channel,
    });
    let planned = PlannedTool {
        definition: Digest::of(tool_name(index).as_bytes()),
        effect: spec.effect,
        exclusive: spec.exclusive,
        reserve: Money::from_micros(10),
        attempts_max: 3,
        approval,
        review: Arc::new(AnyJson {
            approval: spec.approval,
        }),
    };
    (tool_name(index), planned)
}

pub(crate) fn plan(scenario: &Scenario) -> Plan {
    let expires = scenario.answers.contains(&Answer::Ignore);
    let after_answer = match scenario.messages {
        Some(_) => AfterAnswer::AwaitMessage,
        None => AfterAnswer::End,
    };
    Plan {
        workflow: "agent".to_owned(),
        agent: "agent".to_owned(),
        config_hash: Digest::of(b"config"),
        model: "scripted/script".to_owned(),
        price: Some(Price::per_million(1_000_000, 1_000_000, 1_000_000)),
        max_output_tokens: 100,
        fixed_bytes: 10,
        tools: scenario.tools.iter().enumerate().map(planned).collect(),
        limits: Limits {
            tool_calls: 100,
            model_calls: 50,
            identical_failing_calls: 50,
            ..Limits::default()
        },
        budget: Some(Money::from_micros(u64::MAX / 4)),
        after_answer,
        approval_expires_after: expires.then_some(APPROVAL_EXPIRES_AFTER),
    }
}
