//! The lease machine under random histories: late answers, answers out of order, ended sessions, silence, gaps.
//!
//! The oracle knows only what was confirmed and when it was sent; it shares no arithmetic with the machine.

use std::collections::{BTreeMap, BTreeSet};

use leasehold_lease::{
    Action, Deadline, Event, Expiry, LeaseConfig, LeaseMachine, LeaseStoreError, LeaseTimes,
    Renewal, Revision,
};
use leasehold_types::{TreeId, Uptime, milliseconds, seconds};
use proptest::prelude::*;

/// One thing that happens, `after` the one before.
#[derive(Debug, Clone)]
struct Step {
    after_ms: u64,
    what: What,
}

#[derive(Debug, Clone)]
enum What {
    /// Waits for the machine's own time instead, and a little.
    TickWhenDue {
        late_ms: u64,
    },
    Tick,
    /// Answers the attempt so many before the latest, as sent so long before or after it was asked for.
    Confirm {
        back: u64,
        sent_off_ms: i64,
    },
    Fail {
        back: u64,
    },
    Gone,
    Want(u128),
    Win(u128),
    Release(u128),
    Fence(u128),
    SeenGone(u128),
    Sweep,
    Close,
}

fn what() -> impl Strategy<Value = What> {
    let tree = 0_u128..4;
    prop_oneof![
        12 => (0_u64..900).prop_map(|late_ms| What::TickWhenDue { late_ms }),
        2 => Just(What::Tick),
        8 => (0_u64..4, -2_000_i64..4_000)
            .prop_map(|(back, sent_off_ms)| What::Confirm { back, sent_off_ms }),
        3 => (0_u64..2).prop_map(|back| What::Fail { back }),
        1 => Just(What::Gone),
        3 => tree.clone().prop_map(What::Want),
        3 => tree.clone().prop_map(What::Win),
        1 => tree.clone().prop_map(What::Release),
        1 => tree.clone().prop_map(What::Fence),
        1 => tree.prop_map(What::SeenGone),
        1 => Just(What::Sweep),
        1 => Just(What::Close),
    ]
}

fn history() -> impl Strategy<Value = Vec<Step>> {
    let after = prop_oneof![6 => 0_u64..800, 2 => 0_u64..6_000, 1 => 0_u64..40_000];
    let step = (after, what()).prop_map(|(after_ms, what)| Step { after_ms, what });
    prop::collection::vec(step, 1..120)
}

/// The world around a machine, and what must hold of it.
struct World {
    machine: LeaseMachine,
    times: LeaseTimes,
    now: Uptime,
    /// When each attempt was asked for; place 0 is the opening.
    asked: Vec<Uptime>,
    /// The latest send time of a confirmation that was believable when it came.
    confirmed: Uptime,
    gate_closed_at: Option<Uptime>,
    gate_deadline: Uptime,
    owned: BTreeSet<TreeId>,
    over: bool,
    revision: u64,
}

impl World {
    fn new() -> Self {
        let times = LeaseConfig::with_ttl(seconds(15)).check().unwrap();
        let start = Uptime::from_micros(1_000_000_000);
        Self {
            machine: LeaseMachine::opened(times, Expiry::ByTtl, start),
            times,
            now: start,
            asked: vec![start],
            confirmed: start,
            gate_closed_at: None,
            gate_deadline: start.plus(seconds(14)),
            owned: BTreeSet::new(),
            over: false,
            revision: 1,
        }
    }

    fn step(&mut self, step: &Step) {
        self.now = self.now.plus(milliseconds(step.after_ms));
        if let What::TickWhenDue { late_ms } = step.what {
            let due = self.machine.next_deadline().unwrap_or(self.now);
            self.now = self.now.max(due.plus(milliseconds(late_ms)));
        }
        let event = self.event(&step.what);
        let was_due = self.machine.next_deadline();
        let actions = self.machine.on_event(self.now, &event);
        if let Some(due) = was_due.filter(|_| !self.over) {
            self.gap_closes_first(due, &actions);
        }
        for action in &actions {
            self.carry_out(action);
        }
        self.holds_after();
    }

    fn event(&mut self, what: &What) -> Event {
        let tree = TreeId::from_u128;
        self.revision += 1;
        let at = Revision::new(self.revision);
        match *what {
            What::TickWhenDue { .. } | What::Tick => Event::Tick,
            What::Confirm { back, sent_off_ms } => self.confirmation(back, sent_off_ms),
            What::Fail { back } => Event::Renewal {
                attempt: self.latest().saturating_sub(back),
                outcome: Renewal::NotConfirmed(LeaseStoreError::Silent("stalled".into())),
            },
            What::Gone => Event::Renewal {
                attempt: self.latest(),
                outcome: Renewal::Gone,
            },
            What::Want(number) => Event::Wanted { tree: tree(number) },
            What::Win(number) => Event::ClaimEnded {
                tree: tree(number),
                won: Some(at),
            },
            What::Release(number) => Event::Released { tree: tree(number) },
            What::Fence(number) => Event::Fenced { tree: tree(number) },
            What::SeenGone(number) => Event::Seen {
                tree: tree(number),
                at,
                revision: None,
            },
            What::Sweep => Event::Swept {
                at,
                owned: BTreeMap::from([(tree(9), at)]),
            },
            What::Close => Event::Close,
        }
    }

    fn latest(&self) -> u64 {
        self.asked.len() as u64 - 1
    }

    fn confirmation(&mut self, back: u64, off_ms: i64) -> Event {
        let attempt = self.latest().saturating_sub(back);
        let asked = self.asked[usize::try_from(attempt).unwrap()];
        let off = milliseconds(off_ms.unsigned_abs());
        let sent = if off_ms < 0 {
            Uptime::from_micros(asked.as_micros() - u64::try_from(off.as_micros()).unwrap())
        } else {
            asked.plus(off)
        };
        if attempt > 0 && sent <= self.now {
            self.confirmed = self.confirmed.max(sent);
        }
        let outcome = Renewal::Confirmed { sent };
        Event::Renewal { attempt, outcome }
    }

    /// LEASE-3, LEASE-4: what a late wake does first.
    fn gap_closes_first(&self, due: Uptime, actions: &[Action]) {
        if self.gate_deadline <= self.now {
            let first = actions.first();
            let loses = matches!(
                first,
                Some(Action::Lose { .. } | Action::SessionOver { .. })
            );
            assert!(loses, "LEASE-3: {actions:?}");
        } else if self.now.since(due) > self.times.gap() {
            assert_eq!(actions.first(), Some(&Action::Hold), "LEASE-4");
        }
    }

    fn carry_out(&mut self, action: &Action) {
        match action {
            Action::Extend { deadline } => {
                assert!(!self.over, "LEASE-2: extended after the loss");
                let most = self.confirmed.plus(seconds(14));
                assert!(*deadline <= most, "LEASE-1: {deadline:?} > {most:?}");
                if let Some(closed) = self.gate_closed_at.take() {
                    assert!(
                        self.confirmed >= closed,
                        "LEASE-4: opened by an older renewal"
                    );
                }
                self.gate_deadline = *deadline;
            }
            Action::Hold => self.gate_closed_at = Some(self.now),
            Action::Renew { attempt, .. } => {
                assert!(!self.over, "LEASE-2: renewed after the loss");
                assert_eq!(*attempt, self.asked.len() as u64, "numbers rise by one");
                self.asked.push(self.now);
            }
            Action::Claim { tree } => {
                assert!(!self.over, "LEASE-2: claimed after the loss");
                assert!(self.gate_closed_at.is_none(), "LEASE-4: claimed while held");
                self.owned.insert(*tree);
            }
            Action::SessionOver { .. } => self.over = true,
            Action::Sweep => assert!(!self.over, "LEASE-2: swept after the loss"),
            Action::Lose { tree, .. } => {
                assert!(self.owned.contains(tree), "only what was claimed is lost");
            }
            Action::RefuseClaim { .. } | Action::Release { .. } | Action::Revoke => {}
        }
    }

    fn holds_after(&self) {
        assert_eq!(
            self.machine.lost().is_some(),
            self.over,
            "a loss is announced"
        );
        if let Some(Deadline::At(deadline)) = self.machine.deadline() {
            assert!(deadline <= self.confirmed.plus(seconds(14)), "LEASE-1");
            assert!(deadline > self.now, "LEASE-3: live past the deadline");
            let due = self.machine.next_deadline().unwrap();
            assert!(due > self.now, "a tick that is due now was not carried out");
            assert!(due <= deadline, "the shell would sleep past the deadline");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    // RELIABILITY L16
    #[test]
    fn no_history_extends_past_what_was_confirmed_or_undoes_a_loss(steps in history()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step);
        }
    }

    #[test]
    fn a_store_that_answers_in_time_never_costs_the_lease(delays in prop::collection::vec(0_u64..2_400, 1..60)) {
        let mut world = World::new();
        for delay in delays {
            world.now = world.machine.next_deadline().unwrap();
            let actions = world.machine.on_event(world.now, &Event::Tick);
            for action in &actions {
                world.carry_out(action);
            }
            if actions.iter().any(|action| matches!(action, Action::Renew { .. })) {
                let sent = world.now;
                world.now = world.now.plus(milliseconds(delay));
                world.confirmed = sent;
                let attempt = world.latest();
                let answer = Event::Renewal { attempt, outcome: Renewal::Confirmed { sent } };
                for action in world.machine.on_event(world.now, &answer) {
                    world.carry_out(&action);
                }
            }
            prop_assert_eq!(world.machine.lost(), None);
            prop_assert!(!world.machine.is_held());
        }
    }
}
