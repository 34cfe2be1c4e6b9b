//! One execution: where it stands and why, what it waits for, how it came there, its answer. Made to be read in a hurry.

use leasehold_types::Timestamp;

use super::approvals::{hint, question};
use super::{money, paint};
use crate::cli::out::{Paint, painted};
use crate::cli::view::{EventView, ExecutionView, SpendView, State};
use crate::cli::when::When;
use crate::escape::{block, clip, grouped, line};

/// Where the text of a timeline's line begins: after `03:21:55.123  epoch  `.
const INDENT: usize = 22;
/// Characters of the input in the header.
const INPUT_CHARS: usize = 400;

/// All of it.
pub(in crate::cli) fn show(view: &ExecutionView, now: Timestamp, colour: bool) -> Vec<String> {
    let mut lines = header(view, now, colour);
    if !view.pauses.is_empty() {
        lines.push(String::new());
        lines.push(painted("WAITS FOR", Paint::Bold, colour));
        for pause in &view.pauses {
            lines.extend(indented(&question(pause, now, colour)));
            lines.push(format!("    to answer: {}", hint(pause)));
        }
    }
    lines.push(String::new());
    lines.push(heading(colour));
    let mut day = String::new();
    for told in &view.timeline {
        lines.extend(new_day(told.at, &mut day, colour));
        lines.extend(event(told, colour));
    }
    lines.extend(outcome(view, colour));
    lines
}

fn header(view: &ExecutionView, now: Timestamp, colour: bool) -> Vec<String> {
    let state = painted(view.state.word(), paint(view.state), colour);
    let since = view
        .last_at
        .map(|at| format!(", last record {}", at.relative(now)));
    let started = view.started_at.map_or_else(
        || "not started".to_owned(),
        |at| {
            format!(
                "{} ({}) by {}",
                at.full(),
                at.relative(now),
                line(&view.started_by)
            )
        },
    );
    let mut rows = vec![
        ("execution", view.execution.to_string()),
        ("agent", agent(view)),
        ("state", format!("{state}{}", since.unwrap_or_default())),
        ("why", line(&view.why)),
        ("started", started),
        ("owner", owner(view)),
        ("asked", clip(&view.input, INPUT_CHARS)),
        ("spend", spend(&view.spend)),
        ("calls", calls(view)),
        ("journal", journal(view)),
    ];
    if view.why.is_empty() {
        rows.retain(|(name, _)| *name != "why");
    }
    if let Some(broken) = &view.broken {
        let broken = line(broken);
        rows.push(("BROKEN", painted(&broken, Paint::Red, colour)));
    }
    let named = |(name, text)| {
        format!(
            "{}  {text}",
            painted(&format!("{name:<9}"), Paint::Bold, colour)
        )
    };
    rows.into_iter().map(named).collect()
}

fn agent(view: &ExecutionView) -> String {
    let agent = line(&view.agent);
    if view.workflow == view.agent {
        return agent;
    }
    format!("{agent} of {}", line(&view.workflow))
}

fn owner(view: &ExecutionView) -> String {
    let thread = view
        .thread
        .as_ref()
        .map(|thread| format!(", thread {}", line(thread)));
    let tenant = match view.tenant.as_str() {
        "default" | "" => String::new(),
        tenant => format!(", tenant {}", line(tenant)),
    };
    format!(
        "{}{}{tenant}",
        line(&view.owner),
        thread.unwrap_or_default()
    )
}

fn spend(spend: &SpendView) -> String {
    let possible = match spend.possible_micros {
        0 => String::new(),
        possible => format!(", and {} that may have been spent", money(possible)),
    };
    let budget = spend
        .budget_micros
        .map(|budget| format!(", of a budget of {}", money(budget)));
    format!(
        "{} settled{possible}{}",
        money(spend.settled_micros),
        budget.unwrap_or_default()
    )
}

fn calls(view: &ExecutionView) -> String {
    let spend = &view.spend;
    let cached = match spend.cached_tokens {
        0 => String::new(),
        cached => format!(" ({} cached)", grouped(cached)),
    };
    format!(
        "{} of models, {} of tools; {} tokens in{cached}, {} out",
        view.model_calls,
        view.tool_calls,
        grouped(spend.input_tokens),
        grouped(spend.output_tokens)
    )
}

fn journal(view: &ExecutionView) -> String {
    let holder = match (&view.instance, view.epoch) {
        (Some(instance), epoch) => format!("epoch {epoch}, last claimed by {}", line(instance)),
        (None, _) => "never claimed".to_owned(),
    };
    let config = view.config_hash.get(..8).unwrap_or(&view.config_hash);
    format!("{holder}; {} frames, configuration {config}", view.frames)
}

/// The heading of a timeline.
fn heading(colour: bool) -> String {
    painted("TIME (UTC)    EPOCH  WHAT", Paint::Bold, colour)
}

/// A line of its own where the day changes.
fn new_day(at: Option<When>, day: &mut String, colour: bool) -> Option<String> {
    let now = at?.day();
    if now == *day {
        return None;
    }
    day.clone_from(&now);
    Some(painted(&now, Paint::Dim, colour))
}

/// One thing that happened, with what belongs to it.
pub(in crate::cli) fn event(view: &EventView, colour: bool) -> Vec<String> {
    let clock = view.at.map_or_else(|| "-".to_owned(), When::clock);
    let epoch = match view.epoch {
        0 => "-".to_owned(),
        epoch => epoch.to_string(),
    };
    let child = match view.number {
        0 => String::new(),
        number => format!("[execution {number}] "),
    };
    let spent = spent(view);
    let text = format!("{child}{}", line(&view.text));
    let text = painted(&text, paint_of(view), colour);
    let mut lines = vec![format!("{clock:<12}  {epoch:>5}  {text}{spent}")];
    let indent = " ".repeat(INDENT);
    for detail in &view.details {
        let detail = painted(&line(detail), Paint::Dim, colour);
        lines.push(format!("{indent}  {detail}"));
    }
    lines
}

fn spent(view: &EventView) -> String {
    match (view.settled_micros, view.possible_micros) {
        (0, 0) => String::new(),
        (settled, 0) => format!("  [{}]", money(settled)),
        (0, possible) => format!("  [{} possible]", money(possible)),
        (settled, possible) => format!("  [{}, {} possible]", money(settled), money(possible)),
    }
}

fn paint_of(view: &EventView) -> Paint {
    match view.kind.as_str() {
        "pause_opened" | "call_uncertain" => Paint::Yellow,
        "quarantined" | "model_failed" | "unknown" => Paint::Red,
        "ended" if view.text == "completed" => Paint::Green,
        "ended" => Paint::Red,
        _ => Paint::Plain,
    }
}

/// The answer, or the error, where there is one.
pub(in crate::cli) fn outcome(view: &ExecutionView, colour: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let mut part = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            lines.push(String::new());
            lines.push(painted(name, Paint::Bold, colour));
            lines.extend(block(text));
        }
    };
    let name = if view.state == State::Completed {
        "ANSWER"
    } else {
        "ANSWER SO FAR"
    };
    part("ERROR", &view.error);
    part(name, &view.answer);
    lines
}

fn indented(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .map(|text| format!("  {text}").trim_end().to_owned())
        .collect()
}
