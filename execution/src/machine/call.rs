//! The calls of one turn: which may start, which may run again after a crash, and how they are ended without running.
//!
//! - ORDER-1: an exclusive call runs alone, and no later call of the turn starts before it.

use leasehold_types::{AbortReason, CallId, Effect, PauseId, Timestamp};

use super::state::{Call, CallState};
use super::{Deciding, Step};
use crate::record::{
    AnswererWire, CallFinished, CallIntended, CallUncertain, FinishKind, IntentCause, PauseOpened,
    PauseSubject, Record,
};

/// What deciding who starts must know of a call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub(super) waits: bool,
    pub(super) runs: bool,
    pub(super) exclusive: bool,
}

/// The positions of the calls that may start now: ORDER-1, and never more than `parallel_max` at once.
pub(super) fn may_start(slots: &[Slot], parallel_max: u32) -> Vec<usize> {
    let parallel_max = usize::try_from(parallel_max.max(1)).unwrap_or(1);
    let mut running = slots.iter().filter(|slot| slot.runs).count();
    if slots.iter().any(|slot| slot.runs && slot.exclusive) {
        return vec![];
    }
    let mut starts = Vec::new();
    for (position, slot) in slots.iter().enumerate().filter(|(_, slot)| slot.waits) {
        let has_room = if slot.exclusive {
            running == 0
        } else {
            running < parallel_max
        };
        if has_room {
            running += 1;
            starts.push(position);
        }
        if slot.exclusive || !has_room {
            break;
        }
    }
    starts
}

/// Whether a call that was cut off may run again by itself.
fn may_repeat(call: &Call, now: Timestamp) -> bool {
    match call.binding.as_ref().map(|bound| bound.effect) {
        Some(Effect::Pure | Effect::Read) => true,
        Some(Effect::Idempotent { retention_s }) => call
            .first_intended
            .is_some_and(|first| now.since(first).as_secs() < retention_s),
        Some(Effect::Write) | None => false,
    }
}

impl Deciding<'_> {
    /// Gives the calls that an answer admitted at once their steps.
    pub(super) fn run_admitted(&mut self) {
        let running: Vec<CallId> = self
            .state()
            .calls
            .iter()
            .filter(|call| call.state == CallState::Running)
            .map(|call| call.call_id.clone())
            .collect();
        for call_id in running {
            self.step(Step::RunCall {
                call_id,
                attempt: 1,
                not_before: None,
            });
        }
    }

    /// Starts the calls whose turn has come.
    pub(super) fn dispatch(&mut self) {
        let now = self.context.now;
        let slots: Vec<Slot> = self
            .state()
            .calls
            .iter()
            .map(|call| self.slot(call, now))
            .collect();
        if !slots.iter().any(|slot| slot.waits) {
            return;
        }
        for position in may_start(&slots, self.machine.plan.limits.parallel_calls) {
            let call = &self.state().calls[position];
            let (call_id, before) = (call.call_id.clone(), call.attempt);
            let cause = match call.state {
                CallState::Queued(cause) => cause,
                _ => Some(IntentCause::Recovered),
            };
            let attempt = if cause.is_some() { before + 1 } else { before };
            if let Some(cause) = cause {
                self.record(Record::CallIntended(CallIntended {
                    call_id: call_id.clone(),
                    attempt,
                    cause,
                    not_before: None,
                    previous_error: None,
                    spend: vec![],
                }));
            } else {
                // The intent is durable since the answer; only this owner needs to know that it runs now.
                self.machine.state.calls[position].state = CallState::Running;
            }
            self.step(Step::RunCall {
                call_id,
                attempt,
                not_before: None,
            });
        }
    }

    fn slot(&self, call: &Call, now: Timestamp) -> Slot {
        let tool = self.machine.plan.tools.get(&call.tool);
        let waits = match call.state {
            CallState::Queued(_) => true,
            CallState::Interrupted => may_repeat(call, now),
            CallState::Running
            | CallState::Asking
            | CallState::Uncertain
            | CallState::Finished { .. } => false,
        };
        Slot {
            waits,
            runs: call.state == CallState::Running,
            exclusive: tool.is_some_and(|tool| tool.exclusive),
        }
    }

    /// Calls that were cut off and may not run again by themselves go to a person.
    pub(super) fn park_uncertain(&mut self) {
        let now = self.context.now;
        let uncertain: Vec<CallId> = self
            .state()
            .calls
            .iter()
            .filter(|call| call.state == CallState::Interrupted && !may_repeat(call, now))
            .map(|call| call.call_id.clone())
            .collect();
        for call_id in uncertain {
            self.uncertain(
                &call_id,
                "its owner was lost before the outcome was journaled",
            );
        }
    }

    pub(super) fn uncertain(&mut self, call_id: &CallId, why: &str) {
        let Some(bound) = self
            .state()
            .call(call_id)
            .and_then(|call| call.binding.clone())
        else {
            return;
        };
        let why = why.to_owned();
        self.record(Record::CallUncertain(CallUncertain {
            call_id: call_id.clone(),
            why,
        }));
        let opened = PauseOpened {
            number: self.next_pause(),
            pause_id: PauseId::new(self.context.random),
            subject: PauseSubject::Uncertain {
                call_id: call_id.clone(),
            },
            answerer: AnswererWire::Channel,
            digest: self.digest_of(&bound),
            expires_at: None,
        };
        self.record(Record::PauseOpened(Box::new(opened)));
    }

    /// Ends a call that does not run.
    pub(super) fn finish_unrun(&mut self, call_id: CallId, kind: FinishKind, message: &str) {
        self.record(Record::CallFinished(Box::new(CallFinished {
            call_id,
            attempt: 0,
            kind,
            text: format!("Tool error: {message}"),
            whole_bytes: None,
            whole: None,
            spend: vec![],
            fatal: false,
        })));
    }

    /// Ends every call that has no result, because the execution ends.
    pub(super) fn finish_all(&mut self, reason: &AbortReason) {
        let open: Vec<(CallId, bool)> = self
            .state()
            .calls
            .iter()
            .filter(|call| !call.is_finished())
            .map(|call| (call.call_id.clone(), left_in_doubt(call)))
            .collect();
        for (call_id, in_doubt) in open {
            let kind = match (in_doubt, reason) {
                (true, _) => FinishKind::Uncertain,
                (false, AbortReason::Cancelled { .. }) => FinishKind::Cancelled,
                (false, _) => FinishKind::Stopped,
            };
            self.finish_unrun(call_id, kind, &reason.to_string());
        }
    }
}

/// Whether a call that is given up may have had an effect.
fn left_in_doubt(call: &Call) -> bool {
    let cut_off = matches!(call.state, CallState::Interrupted | CallState::Uncertain);
    let has_effect = match call.binding.as_ref().map(|bound| bound.effect) {
        Some(Effect::Pure | Effect::Read) | None => false,
        Some(Effect::Idempotent { .. } | Effect::Write) => true,
    };
    cut_off && has_effect
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAITS: Slot = Slot {
        waits: true,
        runs: false,
        exclusive: false,
    };
    const RUNS: Slot = Slot {
        waits: false,
        runs: true,
        exclusive: false,
    };
    const DONE: Slot = Slot {
        waits: false,
        runs: false,
        exclusive: false,
    };
    const ALONE: Slot = Slot {
        exclusive: true,
        ..WAITS
    };

    // CONTRACT A2
    // CASE 101
    #[test]
    fn an_exclusive_call_runs_alone_and_in_order() {
        let cases: [(&str, &[Slot], &[usize]); 8] = [
            ("all together", &[WAITS, WAITS, WAITS], &[0, 1, 2]),
            ("at most three", &[WAITS, WAITS, WAITS, WAITS], &[0, 1, 2]),
            ("one has room", &[RUNS, WAITS, RUNS, WAITS], &[1]),
            ("up to the exclusive one", &[WAITS, ALONE, WAITS], &[0]),
            ("the exclusive one waits", &[RUNS, ALONE, WAITS], &[]),
            ("its turn has come", &[DONE, ALONE, WAITS], &[1]),
            (
                "nothing beside it",
                &[
                    Slot {
                        exclusive: true,
                        ..RUNS
                    },
                    WAITS,
                ],
                &[],
            ),
            (
                "after it",
                &[
                    DONE,
                    Slot {
                        exclusive: true,
                        ..DONE
                    },
                    WAITS,
                ],
                &[2],
            ),
        ];
        for (name, slots, starts) in cases {
            assert_eq!(may_start(slots, 3), starts, "ORDER-1: {name}");
        }
    }
}
