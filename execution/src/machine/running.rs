//! What a shell needs besides views: the reservation of the model call under way, and a stop from outside.

use leasehold_models::Reservation;

use super::{Context, Machine, Output};
use crate::record::{Quarantined, Record};

impl Machine {
    /// The most that the next model call, or the one under way, may use.
    #[must_use]
    pub fn reservation(&self) -> Reservation {
        let (plan, history) = (&self.plan, &self.state.history);
        let items = history.len() + plan.tools.len() as u64;
        let bytes = plan.fixed_bytes.saturating_add(history.bytes());
        Reservation::counted(items, bytes, plan.max_output_tokens, plan.price)
    }

    /// Stops the tree because its actors failed too often. An operator lets it go on.
    pub fn quarantine(&mut self, context: Context<'_>, cause: String) -> Output {
        let mut deciding = self.decide(context);
        if deciding.state().ended.is_none() && deciding.state().quarantined.is_none() {
            let deaths = deciding.state().claim.deaths;
            deciding.record(Record::Quarantined(Quarantined { cause, deaths }));
        }
        deciding.output
    }

    /// Whether its last record is a rest.
    #[must_use]
    pub const fn is_resting(&self) -> bool {
        self.state.resting
    }
}
