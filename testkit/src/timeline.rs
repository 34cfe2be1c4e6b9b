//! The timeline: what an execution did, a line for each record, for the message of a test that fails.
//!
//! Arguments and texts of a test are no secrets: they are shown, cut where they are long.

use std::fmt;
use std::time::Duration;

use leasehold_actors::Loaded;
use leasehold_execution::record::{AnsweredCall, CallPlan, Outcome, Resolution, SendOutcome};
use leasehold_execution::{Entry, Record};
use leasehold_types::{Epoch, ExecutionId};

/// Characters of a text that are shown.
const TEXT_CHARS: usize = 120;

/// What an execution did until it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeline {
    execution: ExecutionId,
    lines: Vec<String>,
}

impl Timeline {
    pub(crate) fn of(execution: ExecutionId, loaded: &Loaded) -> Self {
        let start = loaded.entries().next().map(|entry| entry.at);
        let lines = loaded.frames.iter().flat_map(|frame| {
            let epoch = frame.header.epoch;
            frame.entries.iter().map(move |entry| {
                let after = start.map_or(Duration::ZERO, |start| entry.at.since(start));
                line(epoch, after, entry)
            })
        });
        let lines = lines.collect();
        Self { execution, lines }
    }

    /// One line a record: epoch, time since the start, what happened.
    #[must_use]
    pub fn lines(&self) -> &[String] {
        &self.lines
    }
}

impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "timeline of {}", self.execution)?;
        for line in &self.lines {
            write!(f, "\n  {line}")?;
        }
        Ok(())
    }
}

fn line(epoch: Epoch, after: Duration, entry: &Entry) -> String {
    let what = happened(&entry.record);
    format!("epoch {epoch} +{} ms  {what}", after.as_millis())
}

fn happened(record: &Record) -> String {
    match record {
        Record::Started(started) => format!("started {}: {}", started.agent, cut(&started.input)),
        Record::Claimed(claimed) => {
            format!("claimed by {} ({:?})", claimed.instance, claimed.cause)
        }
        Record::ModelIntended(intended) => {
            format!(
                "asks the model, turn {}.{}",
                intended.turn, intended.attempt
            )
        }
        Record::ModelAnswered(answered) => {
            let calls: Vec<String> = answered.calls.iter().map(called).collect();
            format!("model: {} [{}]", cut(&answered.text), calls.join("; "))
        }
        Record::ModelFailed(failed) => format!("model failed: {}", cut(&failed.error)),
        Record::CallIntended(intended) => format!(
            "{} may run, attempt {} ({:?})",
            intended.call_id, intended.attempt, intended.cause
        ),
        Record::CallFinished(finished) => format!(
            "{} finished ({:?}): {}",
            finished.call_id,
            finished.kind,
            cut(&finished.text)
        ),
        Record::CallUncertain(uncertain) => {
            format!("{} is uncertain: {}", uncertain.call_id, uncertain.why)
        }
        Record::PauseOpened(opened) => format!("pause {}: {:?}", opened.number, opened.subject),
        Record::PauseSent(sent) => format!("pause {} {}", sent.number, sending(&sent.outcome)),
        Record::PauseResolved(resolved) => {
            let by = resolved.answered_by.as_ref();
            let by = by.map_or("nobody", |by| by.id.as_str());
            let how = resolution(&resolved.resolution);
            format!("pause {} {how} by {by}", resolved.number)
        }
        Record::CancelRequested(cancel) => format!("cancel by {}: {}", cancel.by, cancel.reason),
        Record::MessageReceived(message) => format!("{} says: {}", message.by, cut(&message.text)),
        Record::LateOutcome(late) => format!("late outcome of {:?}: {:?}", late.call_id, late.kind),
        Record::Rested(_) => "rests".to_owned(),
        Record::Released(released) => format!("released: {}", released.reason),
        Record::Quarantined(quarantined) => format!("quarantined: {}", quarantined.cause),
        Record::Retried(retried) => format!("let go on by {}", retried.by),
        Record::Ended(ended) => format!("ended {}", outcome(&ended.outcome)),
    }
}

fn called(call: &AnsweredCall) -> String {
    let plan = match &call.plan {
        CallPlan::Run => "runs".to_owned(),
        CallPlan::Queue => "waits for its turn".to_owned(),
        CallPlan::Ask => "waits for a decision".to_owned(),
        CallPlan::Refuse { kind, message } => format!("refused ({kind:?}): {}", cut(message)),
    };
    let arguments = cut(&call.arguments);
    format!("{} {} {arguments} {plan}", call.call_id, call.tool)
}

fn sending(outcome: &SendOutcome) -> String {
    match outcome {
        SendOutcome::Sent => "sent".to_owned(),
        SendOutcome::Failed { error } => format!("not sent: {}", cut(error)),
        SendOutcome::Undeliverable { error } => format!("undeliverable: {}", cut(error)),
    }
}

fn resolution(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Approved {
            override_arguments: Some(arguments),
            ..
        } => format!("approved with {}", cut(arguments)),
        Resolution::Approved { .. } => "approved".to_owned(),
        Resolution::Rejected { reason } => format!("rejected ({})", cut(reason)),
        Resolution::Answered { answer } => format!("answered {}", cut(&answer.to_string())),
        Resolution::Expired => "expired".to_owned(),
        Resolution::Cancelled => "closed".to_owned(),
    }
}

/// How an execution ended, in a few words.
pub(crate) fn outcome(outcome: &Outcome) -> String {
    let word = outcome.word();
    match outcome {
        Outcome::Completed { answer } => format!("{word}: {}", cut(answer)),
        Outcome::Failed { error } | Outcome::BudgetExceeded { error } => format!("{word}: {error}"),
        Outcome::Cancelled { by, reason } => format!("{word} by {by}: {}", cut(reason)),
        Outcome::LimitExceeded { error, partial } => match partial {
            Some(partial) => format!("{word}: {error}, after: {}", cut(partial)),
            None => format!("{word}: {error}"),
        },
    }
}

/// A text in one line, the beginning of it where it is long.
fn cut(text: &str) -> String {
    let mut shown: String = text.chars().take(TEXT_CHARS).collect();
    shown = shown.escape_debug().to_string();
    if text.chars().nth(TEXT_CHARS).is_some() {
        shown.push('…');
    }
    format!("\"{shown}\"")
}
