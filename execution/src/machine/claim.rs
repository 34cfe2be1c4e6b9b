//! Taking a tree: the claim, what was cut off under the owner before, and quarantine.
//!
//! - POISON-1: a tree is quarantined after [`DEATHS_MAX`] epochs in a row without anything, the last of them claimed alone.

use leasehold_types::{BootId, Epoch, InstanceId, Timestamp};

use super::state::ModelState;
use super::{Context, Deciding, Machine, Output};
use crate::record::{ClaimCause, Claimed, Quarantined, Record, Released};

/// Deaths in a row from which on a tree is a suspect: an instance runs one suspect at a time.
pub const SUSPECT_DEATHS: u32 = 2;

/// Deaths in a row that quarantine a tree.
pub const DEATHS_MAX: u32 = 3;

/// Who takes a tree, and why.
#[derive(Debug, Clone)]
pub struct ClaimFacts {
    /// The epoch: that of the writer.
    pub epoch: Epoch,
    /// The instance.
    pub instance: InstanceId,
    /// Its start.
    pub boot: BootId,
    /// Why.
    pub cause: ClaimCause,
    /// The lease key's create revision.
    pub lease_revision: Option<u64>,
    /// Whether it runs no other suspect.
    pub alone: bool,
}

impl Machine {
    /// Claims the tree; nothing where it has ended. Letters are read after it and before [`Machine::resume`].
    pub fn claim(&mut self, context: Context<'_>, facts: ClaimFacts) -> Output {
        let mut deciding = self.decide(context);
        if deciding.state().ended.is_some() {
            return deciding.output;
        }
        deciding.record(Record::Claimed(Claimed {
            epoch: facts.epoch,
            instance: facts.instance,
            boot: facts.boot,
            cause: facts.cause,
            lease_revision: facts.lease_revision,
            alone: facts.alone,
        }));
        deciding.quarantine();
        deciding.output
    }

    /// Goes on after a claim: what was cut off runs again where its class allows, and what is due begins.
    pub fn resume(&mut self, context: Context<'_>) -> Output {
        let mut deciding = self.decide(context);
        deciding.resume();
        deciding.output
    }

    /// Rests: the checkpoint after which nobody owns the tree. The caller has asked [`Machine::standing`].
    pub fn rest(&mut self, context: Context<'_>) -> Output {
        let mut deciding = self.decide(context);
        if deciding.state().ended.is_none() {
            let checkpoint = deciding.machine.checkpoint();
            deciding.record(Record::Rested(Box::new(checkpoint)));
        }
        deciding.output
    }

    /// Gives the tree back while steps are left: its instance drains. What runs is cut off, as by a crash.
    pub fn release(&mut self, context: Context<'_>, reason: String) -> Output {
        let mut deciding = self.decide(context);
        if deciding.state().ended.is_none() {
            deciding.record(Record::Released(Released { reason }));
        }
        deciding.output
    }

    /// Epochs in a row that ended without anything: from [`SUSPECT_DEATHS`] on the tree is a suspect.
    #[must_use]
    pub fn deaths(&self) -> u32 {
        let claim = &self.state.claim;
        let died = claim.boot.is_some() && !claim.progress && self.state.ended.is_none();
        claim.deaths + u32::from(died)
    }

    /// Whether anything came of the current epoch: if its worker dies from now on, that is no death of this tree's.
    #[must_use]
    pub const fn is_proven(&self) -> bool {
        self.state.claim.progress
    }
}

impl Deciding<'_> {
    fn quarantine(&mut self) {
        let claim = &self.state().claim;
        if claim.deaths < DEATHS_MAX || !claim.died_alone || self.state().quarantined.is_some() {
            return;
        }
        let deaths = claim.deaths;
        let cause = format!(
            "its worker died {deaths} times in a row while {}",
            self.doing()
        );
        self.record(Record::Quarantined(Quarantined { cause, deaths }));
    }

    /// What the tree was doing when its worker died, for people.
    fn doing(&self) -> String {
        let cut_off: Vec<String> = self
            .state()
            .calls
            .iter()
            .filter(|call| call.state == super::CallState::Interrupted)
            .map(|call| format!("{} ran as call {}", call.tool, call.call_id))
            .collect();
        match (cut_off.is_empty(), &self.state().model) {
            (false, _) => cut_off.join(" and "),
            (true, ModelState::Interrupted { .. }) => {
                format!("{} was asked", self.machine.plan.model)
            }
            (true, _) => "it was replayed".to_owned(),
        }
    }

    pub(super) fn resume(&mut self) {
        let state = self.state();
        let goes_on = state.ended.is_none() && state.quarantined.is_none() && state.stop.is_none();
        if let (true, ModelState::Interrupted { attempt }) = (goes_on, &state.model) {
            self.ask_again(*attempt);
        }
        self.advance();
    }
}

/// When something that is due at `at` is to be looked at.
pub(super) fn is_due(at: Option<Timestamp>, now: Timestamp) -> bool {
    at.is_none_or(|at| at <= now)
}
