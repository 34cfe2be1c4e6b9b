//! Limits of agents and of the application: every one has a least and a most.

use std::time::Duration;

use leasehold_types::{Money, Size, days, kilobytes, seconds};

use super::error::{CheckError, Problems};
use crate::agent::Agent;
use crate::app::App;

/// The longest reply: an answer is journaled as one record, whose limit this stays well below.
const REPLY_MAX: Size = kilobytes(4 * 1_024);
/// The longest time an approval can stay open.
const APPROVAL_MAX: Duration = days(3_650);

pub(super) fn check_application(app: &App, problems: &mut Problems) {
    if app.max_result_size.is_some_and(|size| size.as_bytes() == 0) {
        problems.push(CheckError::ResultBound {
            whose: format!("application {}", app.name),
            place: app.place,
        });
    }
}

/// Checks an agent's limits, and gives its budget where it has a sound one.
pub(super) fn check_agent(agent: &Agent, problems: &mut Problems) -> Option<Money> {
    for (limit, value, max, most) in counts(agent) {
        if !(1..=max).contains(&value) {
            problems.push(out_of_range(agent, limit, value.to_string(), "1", most));
        }
    }
    let reply = Size::bytes(agent.limits.reply_bytes);
    if reply.as_bytes() == 0 || reply > REPLY_MAX {
        let limit = "max_reply_size";
        problems.push(out_of_range(
            agent,
            limit,
            reply.to_string(),
            "1 byte",
            "4096 KB",
        ));
    }
    if let Some(after) = agent.approvals_expire_after
        && !(seconds(1)..=APPROVAL_MAX).contains(&after)
    {
        let (limit, value) = ("approvals_expire_after", format!("{after:?}"));
        problems.push(out_of_range(agent, limit, value, "1 s", "3,650 days"));
    }
    if agent
        .max_result_size
        .is_some_and(|size| size.as_bytes() == 0)
    {
        problems.push(CheckError::ResultBound {
            whose: format!("agent {}", agent.name),
            place: agent.place,
        });
    }
    let budget = agent.budget.as_ref()?;
    let money = budget.limit.money().map_err(|error| CheckError::Budget {
        agent: agent.name.clone(),
        place: agent.place,
        error,
    });
    problems.take(money)
}

type Count = (&'static str, u32, u32, &'static str);

const fn counts(agent: &Agent) -> [Count; 6] {
    let limits = &agent.limits;
    [
        ("max_tool_calls", limits.tool_calls, 10_000, "10,000"),
        ("max_model_calls", limits.model_calls, 10_000, "10,000"),
        (
            "max_identical_failing_calls",
            limits.identical_failing_calls,
            100,
            "100",
        ),
        ("max_parallel_calls", limits.parallel_calls, 256, "256"),
        ("max_model_attempts", limits.model_attempts, 10, "10"),
        (
            "max_output_tokens",
            agent.max_output_tokens,
            1_000_000,
            "1,000,000",
        ),
    ]
}

fn out_of_range(
    agent: &Agent,
    limit: &'static str,
    value: String,
    min: &'static str,
    max: &'static str,
) -> CheckError {
    CheckError::Limit {
        agent: agent.name.clone(),
        place: agent.place,
        limit,
        value,
        min,
        max,
    }
}
