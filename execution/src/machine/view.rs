//! What the shells read of the state: what to ask the model, what to run, what to show. Nothing here changes anything.

use std::sync::Arc;
use std::time::Duration;

use leasehold_models::Message;
use leasehold_types::{
    Answerer, CallId, Digest, Effect, Epoch, ExecutionId, IdempotencyKey, Money, Owner, PauseId,
    PauseRef, PauseSummary, Principal, ThreadId, Timestamp, TokenUsage, TreeState, TreeSummary,
};

use super::Machine;
use super::state::{CallState, ModelState, PauseState, SendState};
use crate::ledger::Ledger;
use crate::record::{Checkpoint, Ended, OpenPause, PauseSubject, Place, Started};
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

/// A call as it is to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallView {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// Canonical arguments.
    pub arguments: String,
    /// Their hash.
    pub arguments_digest: Digest,
    /// The hash of the tool's definition that they were checked against.
    pub definition: Digest,
    /// The class.
    pub effect: Effect,
    /// The key to act under.
    pub key: IdempotencyKey,
    /// The attempt.
    pub attempt: u32,
    /// Who approved it and when, where it was approved.
    pub approved: Option<(Principal, Timestamp, bool)>,
}

/// A question as it is to be sent or shown.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionView {
    /// The public reference.
    pub reference: PauseRef,
    /// The secret, for the channel alone.
    pub pause_id: PauseId,
    /// What it is about.
    pub subject: PauseSubject,
    /// Who may answer.
    pub answerer: Answerer,
    /// The tool and the canonical arguments, where it is about a call.
    pub call: Option<(String, String)>,
    /// What a decision is bound to.
    pub digest: Digest,
    /// When it was asked.
    pub asked_at: Timestamp,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// Whether its channel could not be reached.
    pub undeliverable: bool,
}

impl Machine {
    /// The execution.
    #[must_use]
    pub const fn execution(&self) -> ExecutionId {
        ExecutionId::root(self.tree)
    }

    /// How it was started, once it was.
    #[must_use]
    pub const fn started(&self) -> Option<&Started> {
        self.state.started.as_ref()
    }

    /// How it ended, once it has.
    #[must_use]
    pub const fn ended(&self) -> Option<&Ended> {
        self.state.ended.as_ref()
    }

    /// Why it is quarantined, if it is.
    #[must_use]
    pub fn quarantined(&self) -> Option<&str> {
        self.state.quarantined.as_deref()
    }

    /// The epoch of its last claim.
    #[must_use]
    pub const fn epoch(&self) -> Epoch {
        self.state.claim.epoch
    }

    /// The conversation so far, and whether the turn to come has tools.
    #[must_use]
    pub fn conversation(&self) -> (Arc<Vec<Message>>, bool) {
        (
            Arc::clone(self.state.history.messages()),
            !self.state.tools_off,
        )
    }

    /// The turn, and what is reserved for its model call.
    #[must_use]
    pub const fn turn(&self) -> u32 {
        self.state.turn
    }

    /// Spend and reservations.
    #[must_use]
    pub const fn ledger(&self) -> &Ledger {
        &self.state.ledger
    }

    /// A call of the turn, as it is to be run.
    #[must_use]
    pub fn call(&self, call_id: &CallId) -> Option<CallView> {
        let call = self.state.call(call_id)?;
        let bound = call.binding.as_ref()?;
        let Place { node, visit, item } = self.place();
        Some(CallView {
            call_id: call.call_id.clone(),
            tool: call.tool.clone(),
            arguments: call.arguments.clone(),
            arguments_digest: bound.arguments,
            definition: bound.definition,
            effect: bound.effect,
            key: IdempotencyKey::new(self.execution(), &node, visit, item, call_id),
            attempt: call.attempt,
            approved: self.approval_of(call_id),
        })
    }

    fn place(&self) -> Place {
        Place {
            node: self.plan.agent.clone(),
            visit: 1,
            item: None,
        }
    }

    fn approval_of(&self, call_id: &CallId) -> Option<(Principal, Timestamp, bool)> {
        use crate::record::Resolution;
        self.state
            .pauses
            .values()
            .find_map(|pause| match (&pause.opened.subject, &pause.state) {
                (
                    PauseSubject::Approval { call_id: asked, .. },
                    PauseState::Resolved { resolved, at },
                ) if asked == call_id => {
                    let Resolution::Approved {
                        override_arguments, ..
                    } = &resolved.resolution
                    else {
                        return None;
                    };
                    let by = resolved.answered_by.clone()?;
                    Some((by, *at, override_arguments.is_some()))
                }
                _ => None,
            })
    }

    /// The states of the turn's calls, in the model's order.
    pub fn calls(&self) -> impl Iterator<Item = (&CallId, &str, &CallState)> {
        self.state
            .calls
            .iter()
            .map(|call| (&call.call_id, call.tool.as_str(), &call.state))
    }

    /// The open pauses.
    pub fn questions(&self) -> impl Iterator<Item = QuestionView> + '_ {
        self.state.open_pauses().map(|pause| self.view(pause))
    }

    /// One pause, open or not.
    #[must_use]
    pub fn question(&self, number: u32) -> Option<QuestionView> {
        self.state.pauses.get(&number).map(|pause| self.view(pause))
    }

    fn view(&self, pause: &super::state::Pause) -> QuestionView {
        let call = match &pause.opened.subject {
            PauseSubject::Approval { call_id, .. } | PauseSubject::Uncertain { call_id } => self
                .state
                .call(call_id)
                .map(|call| (call.tool.clone(), call.arguments.clone())),
            PauseSubject::Input => None,
        };
        QuestionView {
            reference: PauseRef {
                execution: self.execution(),
                number: pause.opened.number,
            },
            pause_id: pause.opened.pause_id,
            subject: pause.opened.subject.clone(),
            answerer: pause.opened.answerer.into(),
            call,
            digest: pause.opened.digest,
            asked_at: pause.opened_at,
            expires_at: pause.opened.expires_at,
            undeliverable: pause.send == SendState::Undeliverable,
        }
    }

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
        let runs = matches!(state.model, ModelState::InFlight { .. })
            || state
                .calls
                .iter()
                .any(|call| call.state == CallState::Running)
            || state
                .open_pauses()
                .any(|pause| matches!(pause.send, SendState::InFlight { .. }));
        if runs {
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
                _ => None,
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
        let summary = |pause: &super::state::Pause| PauseSummary {
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
        let open = |pause: &super::state::Pause| OpenPause {
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

    /// Money and tokens used so far: certain, possible, tokens.
    #[must_use]
    pub const fn spent(&self) -> (Money, Money, TokenUsage) {
        let ledger = &self.state.ledger;
        (ledger.settled(), ledger.possible(), ledger.tokens())
    }
}

fn role_word(subject: &PauseSubject) -> &str {
    match subject {
        PauseSubject::Approval { role, .. } => role,
        PauseSubject::Uncertain { .. } => "uncertain",
        PauseSubject::Input => "input",
    }
}
