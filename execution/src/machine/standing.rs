//! Where an execution stands: what its owner has to do, when it is due, its summary and its checkpoint. Nothing here changes anything.

use std::time::Duration;

use leasehold_types::{Digest, Owner, PauseSummary, ThreadId, Timestamp, TreeState, TreeSummary};

use super::Machine;
use super::state::{ModelState, Pause, SendState};
use crate::record::{Checkpoint, OpenPause, PauseSubject};
use crate::wire::READER_VERSION;

/// A tree whose next timer is nearer than this stays awake: giving the lease back and taking it again costs two appends.
const REST_MIN: Duration = Duration::from_secs(2);

/// What the owner of a tree has to do with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Something runs: wait for it.
    Busy,
    /// Nothing runs; a timer is near: wait for it.
    Waiting {
        /// When it ends.
        until: Timestamp,
    },
    /// Nothing is left to do before somebody answers or a timer ends: rest.
    AtRest {
        /// When the first timer ends.
        due: Option<Timestamp>,
    },
    /// An operator must let it go on.
    Blocked,
    /// It is over.
    Ended,
}

impl Machine {
    /// What the owner has to do now.
    #[must_use]
    pub fn standing(&self, now: Timestamp) -> Standing {
        let state = &self.state;
        if state.ended.is_some() {
            return Standing::Ended;
        }
        if state.quarantined.is_some() {
            return Standing::Blocked;
        }
        if state.is_busy() {
            return Standing::Busy;
        }
        match self.next_due() {
            Some(until) if until.since(now) < REST_MIN => Standing::Waiting { until },
            due => Standing::AtRest { due },
        }
    }

    /// When it next has something to do by itself.
    #[must_use]
    pub fn next_due(&self) -> Option<Timestamp> {
        let retry = match self.state.model {
            ModelState::Waiting { retry_at, .. } => Some(retry_at),
            ModelState::Idle
            | ModelState::InFlight { .. }
            | ModelState::Interrupted { .. }
            | ModelState::Failed { .. } => None,
        };
        let sends = self
            .state
            .open_pauses()
            .filter_map(|pause| match pause.send {
                SendState::Due { not_before, .. } => not_before,
                SendState::NotNeeded
                | SendState::InFlight { .. }
                | SendState::Sent
                | SendState::Undeliverable => None,
            });
        let expiries = self
            .state
            .open_pauses()
            .filter_map(|pause| pause.opened.expires_at);
        retry.into_iter().chain(sends).chain(expiries).min()
    }

    /// The tree in a few words, for each frame's header.
    #[must_use]
    pub fn summary(&self) -> TreeSummary {
        let state = if self.state.ended.is_some() {
            TreeState::Ended
        } else if self.state.quarantined.is_some() {
            TreeState::Blocked
        } else if self.state.resting {
            TreeState::Resting
        } else {
            TreeState::Live
        };
        let started = self.state.started.as_ref();
        let thread = started.and_then(|started| started.thread.as_ref());
        TreeSummary {
            state,
            next_due: self.next_due(),
            config_hash: started.map_or(self.plan.config_hash, |started| started.config_hash),
            reader_version: READER_VERSION,
            workflow: self.plan.workflow.clone(),
            thread: thread.map(ThreadId::as_str).unwrap_or_default().to_owned(),
            pauses: self.pause_summaries(),
        }
    }

    fn pause_summaries(&self) -> Vec<PauseSummary> {
        let summary = |pause: &Pause| PauseSummary {
            execution: 0,
            number: pause.opened.number,
            role: role_word(&pause.opened.subject).to_owned(),
            answerer: pause.opened.answerer.into(),
        };
        self.state
            .open_pauses()
            .take(TreeSummary::PAUSES_MAX)
            .map(summary)
            .collect()
    }

    /// Where the execution stands, without its history.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        let (state, ledger) = (&self.state, &self.state.ledger);
        let open = |pause: &Pause| OpenPause {
            number: pause.opened.number,
            secret: Digest::of(pause.opened.pause_id.reveal().as_bytes()),
            role: role_word(&pause.opened.subject).to_owned(),
            answerer: pause.opened.answerer,
            digest: pause.opened.digest,
            expires_at: pause.opened.expires_at,
        };
        Checkpoint {
            turn: state.turn,
            model_calls: state.counts.model_calls,
            tool_calls: state.counts.tool_calls,
            settled: ledger.settled(),
            possible: ledger.possible(),
            tokens: ledger.tokens(),
            pauses: state.open_pauses().map(open).collect(),
            owner: state
                .started
                .as_ref()
                .map_or_else(|| Owner::new(""), |s| s.owner.clone()),
            next_due: self.next_due(),
        }
    }
}

fn role_word(subject: &PauseSubject) -> &str {
    match subject {
        PauseSubject::Approval { role, .. } => role,
        PauseSubject::Uncertain { .. } => "uncertain",
        PauseSubject::Input => "input",
    }
}
