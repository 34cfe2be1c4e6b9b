//! What the shells read of the state: what to ask the model, what to run, what to show. Nothing here changes anything.

use std::sync::Arc;

use leasehold_models::Message;
use leasehold_types::{
    Answerer, CallId, Digest, Effect, Epoch, ExecutionId, IdempotencyKey, Money, PauseId, PauseRef,
    Principal, Timestamp, TokenUsage,
};

use super::Machine;
use super::state::{CallState, Pause, PauseState, SendState};
use crate::ledger::Ledger;
use crate::record::{Ended, PauseSubject, Place, Resolution, Started};

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
        let mut asked = self.state.pauses.values().filter(|pause| {
            matches!(&pause.opened.subject, PauseSubject::Approval { .. })
                && pause.call() == Some(call_id)
        });
        asked.find_map(|pause| {
            let PauseState::Resolved { resolved, at } = &pause.state else {
                return None;
            };
            let Resolution::Approved {
                override_arguments, ..
            } = &resolved.resolution
            else {
                return None;
            };
            let by = resolved.answered_by.clone()?;
            Some((by, *at, override_arguments.is_some()))
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

    fn view(&self, pause: &Pause) -> QuestionView {
        let call = pause.call().and_then(|call_id| self.state.call(call_id));
        let call = call.map(|call| (call.tool.clone(), call.arguments.clone()));
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

    /// Money and tokens used so far: certain, possible, tokens.
    #[must_use]
    pub const fn spent(&self) -> (Money, Money, TokenUsage) {
        let ledger = &self.state.ledger;
        (ledger.settled(), ledger.possible(), ledger.tokens())
    }
}
