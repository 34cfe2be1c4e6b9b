//! What the store says of an execution: its journal, folded by the runtime's own machine.

use std::sync::Arc;

use leasehold_actors::{Agents, LoadError, Loaded, load};
use leasehold_execution::machine::{CallState, QuestionView};
use leasehold_execution::record::{CallIntended, Ended, PauseSubject};
use leasehold_execution::{Machine, Record};
use leasehold_journal::{LetterSeq, Store};
use leasehold_types::{CallId, Timestamp, TreeId, TreeState};

use crate::timeline::Timeline;

/// One execution as it was read.
#[derive(Debug)]
pub(crate) struct Reading {
    loaded: Loaded,
    machine: Machine,
    /// Whether somebody has said something that has not been applied.
    has_letters: bool,
}

/// Where an execution stands, for whoever waits for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stands {
    /// Something will happen by itself.
    Moving,
    /// Nothing happens before somebody decides.
    Rests,
    /// Nothing happens before an operator lets it go on.
    Blocked,
    /// It is over.
    Over,
}

/// When a call of the turn works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Works {
    Now,
    /// When calls before it are over.
    InItsTurn,
    /// It failed and waits for its next attempt.
    Later,
    NotNow,
}

impl Reading {
    /// Reads a tree; nothing where it has not begun.
    ///
    /// # Errors
    /// The journal is not what was written, or the application has no such agent.
    pub(crate) async fn of(
        store: &dyn Store,
        agents: &dyn Agents,
        tree: TreeId,
    ) -> Result<Option<Self>, String> {
        // Letters first: a letter that is gone by now is in the journal that is read next.
        let letters = store.letters(tree, LetterSeq::default()).await;
        let letters = letters.map_err(|error| error.to_string())?;
        let loaded = load(store, tree).await;
        let loaded = loaded.map_err(|error: LoadError| error.to_string())?;
        let Some(Record::Started(started)) = loaded.entries().next().map(|entry| &entry.record)
        else {
            return Ok(None);
        };
        let agent = agents.agent(&started.workflow, &started.agent);
        let agent = agent.ok_or_else(|| format!("there is no agent {}", started.agent))?;
        let mut machine = Machine::new(tree, Arc::clone(&agent.plan));
        for frame in &loaded.frames {
            let replayed = machine.replay(&frame.entries);
            replayed.map_err(|error| error.to_string())?;
        }
        Ok(Some(Self {
            loaded,
            machine,
            has_letters: !letters.is_empty(),
        }))
    }

    pub(crate) fn stands(&self) -> Stands {
        let summary = self.loaded.frames.last().map(|frame| &frame.header.summary);
        let Some(summary) = summary.filter(|_| !self.has_letters) else {
            return Stands::Moving;
        };
        match (summary.state, summary.next_due) {
            (TreeState::Live, _) | (TreeState::Resting, Some(_)) => Stands::Moving,
            (TreeState::Resting, None) => Stands::Rests,
            (TreeState::Blocked, _) => Stands::Blocked,
            (TreeState::Ended, _) => Stands::Over,
        }
    }

    /// Whether it is at rest, perhaps with a timer.
    pub(crate) fn is_resting(&self) -> bool {
        let last = self.loaded.frames.last();
        let state = last.map(|frame| frame.header.summary.state);
        state == Some(TreeState::Resting) && !self.has_letters
    }

    pub(crate) fn ended(&self) -> Option<&Ended> {
        self.machine.ended()
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The open pauses of a role, in order.
    pub(crate) fn asked_of(&self, role: &str) -> Vec<QuestionView> {
        let of_role = |question: &QuestionView| match &question.subject {
            PauseSubject::Approval { role: asked, .. } => asked == role,
            PauseSubject::Uncertain { .. } | PauseSubject::Input => false,
        };
        self.machine.questions().filter(of_role).collect()
    }

    /// The open pauses about calls of which nobody knows what they did.
    pub(crate) fn uncertain(&self) -> Vec<QuestionView> {
        let about = |question: &QuestionView| match &question.subject {
            PauseSubject::Uncertain { .. } => true,
            PauseSubject::Approval { .. } | PauseSubject::Input => false,
        };
        self.machine.questions().filter(about).collect()
    }

    /// The open pause for what the person says next.
    pub(crate) fn awaits_message(&self) -> Option<QuestionView> {
        let mut questions = self.machine.questions();
        questions.find(|question| question.subject == PauseSubject::Input)
    }

    /// Whether a model or a tool works for it at `now`: its intent is in the journal and its outcome is not.
    ///
    /// A call that waits for its turn may have begun without a record of that; `has_bodies` says whether any body runs.
    pub(crate) fn is_worked_for(&self, now: Timestamp, has_bodies: bool) -> bool {
        if self.machine.ended().is_some() {
            return false;
        }
        let calls: Vec<Works> = self
            .machine
            .calls()
            .map(|(call_id, _, state)| self.works(call_id, state, now))
            .collect();
        let may_have_begun = has_bodies || !calls.contains(&Works::Later);
        self.is_model_asked()
            || calls.contains(&Works::Now)
            || (calls.contains(&Works::InItsTurn) && may_have_begun)
    }

    fn works(&self, call_id: &CallId, state: &CallState, now: Timestamp) -> Works {
        match state {
            CallState::Running if self.begins_at(call_id) > Some(now) => Works::Later,
            CallState::Running | CallState::Interrupted => Works::Now,
            CallState::Queued(_) => Works::InItsTurn,
            CallState::Asking | CallState::Uncertain | CallState::Finished { .. } => Works::NotNow,
        }
    }

    /// Whether a model was asked and has not answered.
    pub(crate) fn is_model_asked(&self) -> bool {
        let mut asked = false;
        for entry in self.loaded.entries() {
            match &entry.record {
                Record::ModelIntended(_) => asked = true,
                Record::ModelAnswered(_) | Record::ModelFailed(_) | Record::Ended(_) => {
                    asked = false;
                }
                Record::Started(_)
                | Record::Claimed(_)
                | Record::CallIntended(_)
                | Record::CallFinished(_)
                | Record::CallUncertain(_)
                | Record::PauseOpened(_)
                | Record::PauseSent(_)
                | Record::PauseResolved(_)
                | Record::CancelRequested(_)
                | Record::MessageReceived(_)
                | Record::LateOutcome(_)
                | Record::Rested(_)
                | Record::Released(_)
                | Record::Quarantined(_)
                | Record::Retried(_) => {}
            }
        }
        asked
    }

    /// Not before when the call's last attempt begins, where it waits for that.
    fn begins_at(&self, call_id: &CallId) -> Option<Timestamp> {
        let mut waits = None;
        for entry in self.loaded.entries() {
            if let Record::CallIntended(CallIntended {
                call_id: intended,
                not_before,
                ..
            }) = &entry.record
                && intended == call_id
            {
                waits = *not_before;
            }
        }
        waits
    }

    pub(crate) fn timeline(&self) -> Timeline {
        Timeline::of(self.machine.execution(), &self.loaded)
    }
}
