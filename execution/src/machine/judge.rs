//! Whether a decision counts, asked before anything is changed: the look before a tree is claimed for it, and the check before it is applied.

use leasehold_types::{Answerer, Principal, Timestamp};
use serde_json::Value;

use super::Machine;
use super::decision::{Decision, DecisionReply, PauseKey, Verdict};
use super::state::{Pause, PauseState};
use crate::record::{PauseResolved, Resolution, Started};

impl Machine {
    /// What a decision would be told, without applying it: a look before the tree is claimed for it.
    ///
    /// # Errors
    /// The reply of a decision that does not count. One that passes may still be [`DecisionReply::Invalid`] or
    /// [`DecisionReply::Mismatch`] once it is applied: only then its arguments are reviewed.
    pub fn judge(&self, now: Timestamp, decision: &Decision) -> Result<(), DecisionReply> {
        let started = self.state.started.as_ref().ok_or(DecisionReply::Unknown)?;
        let pause = self.find(&decision.pause).ok_or(DecisionReply::Unknown)?;
        may_answer(started, pause, &decision.by)?;
        if let PauseState::Resolved { resolved, at } = &pause.state {
            return Err(already(resolved, *at, decision, self.state.ended.is_some()));
        }
        if self.state.stop.is_some() {
            return Err(DecisionReply::Closed);
        }
        let opened = &pause.opened;
        if opened
            .expires_at
            .is_some_and(|expires_at| expires_at <= now)
        {
            return Err(DecisionReply::Expired);
        }
        if decision.shown.is_some_and(|shown| shown != opened.digest) {
            return Err(DecisionReply::Mismatch);
        }
        Ok(())
    }

    pub(super) fn find(&self, key: &PauseKey) -> Option<&Pause> {
        match key {
            PauseKey::Number(number) => self.state.pauses.get(number),
            PauseKey::Secret(secret) => self
                .state
                .pauses
                .values()
                .find(|pause| pause.opened.pause_id == *secret),
        }
    }
}

/// DECIDE-2. For another tenant a pause does not exist.
fn may_answer(started: &Started, pause: &Pause, by: &Principal) -> Result<(), DecisionReply> {
    if by.tenant != started.started_by.tenant {
        return Err(DecisionReply::Unknown);
    }
    match Answerer::from(pause.opened.answerer) {
        Answerer::ThreadOwner if started.owner.as_str() != by.id => Err(DecisionReply::NotAllowed),
        Answerer::ThreadOwner | Answerer::Channel => Ok(()),
    }
}

/// What is told about a pause that has its decision.
fn already(
    resolved: &PauseResolved,
    at: Timestamp,
    decision: &Decision,
    ended: bool,
) -> DecisionReply {
    let same_letter = decision.letter.is_some() && resolved.letter == decision.letter;
    if same_letter || is_same(&resolved.resolution, &decision.verdict) {
        return DecisionReply::CountedBefore;
    }
    match &resolved.resolution {
        Resolution::Expired => DecisionReply::Expired,
        Resolution::Cancelled if ended => DecisionReply::Closed,
        other @ (Resolution::Approved { .. }
        | Resolution::Rejected { .. }
        | Resolution::Answered { .. }
        | Resolution::Cancelled) => DecisionReply::AlreadyDecided {
            by: resolved.answered_by.as_ref().map(|by| by.id.clone()),
            at,
            what: word(other).to_owned(),
        },
    }
}

/// Whether both say the same. Reasons of a rejection may differ: it is the same decision.
fn is_same(resolution: &Resolution, verdict: &Verdict) -> bool {
    match (resolution, verdict) {
        (
            Resolution::Approved {
                override_arguments, ..
            },
            Verdict::Approve {
                override_arguments: now,
            },
        ) => is_same_json(override_arguments.as_deref(), now.as_deref()),
        (Resolution::Rejected { .. }, Verdict::Reject { .. }) => true,
        (Resolution::Answered { answer }, Verdict::Message { text }) => {
            answer.as_str() == Some(text)
        }
        (
            Resolution::Approved { .. }
            | Resolution::Rejected { .. }
            | Resolution::Answered { .. }
            | Resolution::Expired
            | Resolution::Cancelled,
            Verdict::Approve { .. } | Verdict::Reject { .. } | Verdict::Message { .. },
        ) => false,
    }
}

/// Whether two texts are the same JSON, however they are written.
fn is_same_json(one: Option<&str>, other: Option<&str>) -> bool {
    let (Some(one), Some(other)) = (one, other) else {
        return one == other;
    };
    let read = |text| serde_json::from_str::<Value>(text).ok();
    one == other || read(one).is_some_and(|value| read(other) == Some(value))
}

const fn word(resolution: &Resolution) -> &'static str {
    match resolution {
        Resolution::Approved {
            override_arguments: Some(_),
            ..
        } => "approved with other arguments",
        Resolution::Approved { .. } => "approved",
        Resolution::Rejected { .. } => "rejected",
        Resolution::Answered { .. } => "answered",
        Resolution::Expired => "expired",
        Resolution::Cancelled => "cancelled",
    }
}
