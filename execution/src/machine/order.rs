//! In which order the calls of one turn start.
//!
//! - ORDER-1: an exclusive call runs alone, and no later call of the turn starts before one that waits for its turn.

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
