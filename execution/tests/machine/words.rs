//! Records and steps in a few words each, as the tables write them.

use leasehold_execution::record::{Resolution, SendOutcome};
use leasehold_execution::{Output, Record, Step};

/// The records of an output, then its steps with `>` before each.
pub(crate) fn of(output: &Output) -> String {
    let records = output.entries.iter().map(|entry| record(&entry.record));
    let steps = output.steps.iter().map(step);
    records.chain(steps).collect::<Vec<_>>().join(", ")
}

fn record(record: &Record) -> String {
    match record {
        Record::ModelIntended(body) if body.tools_off => {
            format!("model {}.{} without tools", body.turn, body.attempt)
        }
        Record::ModelIntended(body) => format!("model {}.{}", body.turn, body.attempt),
        Record::ModelAnswered(body) if body.repair.is_some() => {
            format!("unusable {}", body.turn)
        }
        Record::ModelAnswered(body) => format!("answered {}", body.turn),
        Record::ModelFailed(body) => format!("model failed {}.{}", body.turn, body.attempt),
        Record::CallIntended(body) => {
            let cause = word(&body.cause);
            format!("intended {}.{} {cause}", body.call_id, body.attempt)
        }
        Record::CallFinished(body) => format!("finished {} {}", body.call_id, word(&body.kind)),
        Record::CallUncertain(body) => format!("uncertain {}", body.call_id),
        Record::PauseOpened(body) => format!("pause {}", body.number),
        Record::PauseSent(body) => {
            let outcome = match body.outcome {
                SendOutcome::Sent => "sent",
                SendOutcome::Failed { .. } => "unsent",
                SendOutcome::Undeliverable { .. } => "undeliverable",
            };
            format!("{outcome} {}.{}", body.number, body.attempt)
        }
        Record::PauseResolved(body) => format!("{} {}", resolution(&body.resolution), body.number),
        Record::LateOutcome(body) => {
            let call_id = body.call_id.as_ref();
            format!(
                "late {}",
                call_id.map_or_else(|| "model".to_owned(), ToString::to_string)
            )
        }
        Record::Ended(body) => format!("ended {}", body.outcome.word()),
        other @ (Record::Started(_)
        | Record::Claimed(_)
        | Record::CancelRequested(_)
        | Record::MessageReceived(_)
        | Record::Rested(_)
        | Record::Released(_)
        | Record::Quarantined(_)
        | Record::Retried(_)) => other.kind().to_owned(),
    }
}

const fn resolution(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Approved {
            override_arguments: Some(_),
            ..
        } => "edited",
        Resolution::Approved { .. } => "approved",
        Resolution::Rejected { .. } => "rejected",
        Resolution::Answered { .. } => "heard",
        Resolution::Expired => "expired",
        Resolution::Cancelled => "closed",
    }
}

fn step(step: &Step) -> String {
    match step {
        Step::AskModel { turn, attempt } => format!("> ask {turn}.{attempt}"),
        Step::RunCall {
            call_id, attempt, ..
        } => format!("> run {call_id}.{attempt}"),
        Step::SendQuestion { number, attempt } => format!("> send {number}.{attempt}"),
        Step::Abort(_) => "> abort".to_owned(),
    }
}

/// An enum's variant without its fields, in lower case.
fn word(variant: &impl std::fmt::Debug) -> String {
    let text = format!("{variant:?}");
    text.split([' ', '(', '{'])
        .next()
        .unwrap_or_default()
        .to_lowercase()
}
