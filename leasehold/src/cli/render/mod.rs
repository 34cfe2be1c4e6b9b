//! Views as people read them. Everything that others wrote is escaped here, and only here, on its way out.

mod approvals;
mod dump;
mod list;
mod show;

use leasehold_types::Money;

pub(super) use approvals::{approvals, question};
pub(super) use dump::frame;
pub(super) use list::executions;
pub(super) use show::{event, outcome, show};

use super::out::Paint;
use super::view::{DecidedView, State};

/// The colour of a state.
pub(super) const fn paint(state: State) -> Paint {
    match state {
        State::Completed => Paint::Green,
        State::Waiting | State::Starting | State::Running => Paint::Yellow,
        State::Blocked
        | State::Failed
        | State::LimitExceeded
        | State::BudgetExceeded
        | State::Unreadable => Paint::Red,
        State::Cancelled => Paint::Dim,
    }
}

/// An amount as people read it: `0.0123 USD`.
fn money(micros: u64) -> String {
    Money::from_micros(micros).to_string()
}

/// What became of a decision, in one line or two.
pub(super) fn decided(view: &DecidedView, is_followed: bool) -> Vec<String> {
    let what = match view.pause {
        Some(pause) => pause.to_string(),
        None => view.execution.to_string(),
    };
    let before = if view.changed {
        ""
    } else {
        " (the same had counted before: nothing changed)"
    };
    let by = crate::escape::line(&view.by);
    let mut lines = vec![format!("{what} {} by {by}{before}", view.did)];
    let then = match view.state {
        State::Running | State::Starting if view.goes_on || is_followed => "it goes on".to_owned(),
        State::Running | State::Starting => {
            "it goes on as soon as an instance runs (`dev`, or this command with --follow)"
                .to_owned()
        }
        State::Waiting => "it still waits: see `executions show`".to_owned(),
        State::Blocked => "it is blocked: see `executions show`".to_owned(),
        over @ (State::Completed
        | State::Failed
        | State::Cancelled
        | State::LimitExceeded
        | State::BudgetExceeded
        | State::Unreadable) => format!("it is {}", over.word()),
    };
    lines.push(then);
    lines
}
