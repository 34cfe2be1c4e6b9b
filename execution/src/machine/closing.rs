//! How things end that nobody answers or waits for any more: pauses by time, calls by a stop, the execution itself.

use std::time::Duration;

use leasehold_types::AbortReason;

use super::Deciding;
use super::state::Stop;
use crate::record::{Ended, FinishKind, Outcome, PauseResolved, PauseSubject, Record, Resolution};
use crate::texts;

impl Deciding<'_> {
    /// Pauses whose time is over end, and so do the calls that wait for them.
    pub(super) fn expire(&mut self) {
        let now = self.context.now;
        let over: Vec<(u32, PauseSubject, Duration)> = self
            .state()
            .open_pauses()
            .filter_map(|pause| {
                let expires_at = pause.opened.expires_at.filter(|at| *at <= now)?;
                let open_for = expires_at.since(pause.opened_at);
                Some((pause.opened.number, pause.opened.subject.clone(), open_for))
            })
            .collect();
        for (number, subject, open_for) in over {
            self.close_pause(number, Resolution::Expired);
            if let PauseSubject::Approval { call_id, .. } = subject {
                self.finish_unrun(call_id, FinishKind::Expired, &texts::expired(open_for));
            }
        }
    }

    fn close_pause(&mut self, number: u32, resolution: Resolution) {
        self.record(Record::PauseResolved(Box::new(PauseResolved {
            number,
            resolution,
            answered_by: None,
            letter: None,
        })));
    }

    /// Ends a stopped execution once nothing of it runs any more.
    pub(super) fn wind_down(&mut self, stop: &Stop) {
        if self.state().is_busy() {
            return;
        }
        match stop {
            Stop::Cancel { by, reason } => {
                self.finish_all(&AbortReason::Cancelled { by: by.id.clone() });
                self.end(Outcome::Cancelled {
                    by: by.id.clone(),
                    reason: reason.clone(),
                });
            }
            Stop::Fatal { error } => {
                self.finish_all(&AbortReason::Stopped(
                    "a tool ended the execution".to_owned(),
                ));
                self.end(Outcome::Failed {
                    error: error.clone(),
                });
            }
        }
    }

    /// The end: open pauses close with it.
    pub(super) fn end(&mut self, outcome: Outcome) {
        let open: Vec<u32> = self
            .state()
            .open_pauses()
            .map(|pause| pause.opened.number)
            .collect();
        for number in open {
            self.close_pause(number, Resolution::Cancelled);
        }
        let ledger = &self.state().ledger;
        let (settled, possible, tokens) = (ledger.settled(), ledger.possible(), ledger.tokens());
        self.record(Record::Ended(Box::new(Ended {
            outcome,
            settled,
            possible,
            tokens,
        })));
    }
}
