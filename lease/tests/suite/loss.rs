//! What the machine's losses do to a tree's guard and signal, as a shell carries them out.

use leasehold_lease::{Action, Event, Expiry, LeaseConfig, LeaseMachine};
use leasehold_types::{
    AbortReason, Epoch, FencingToken, FrameIndex, LeaseLostReason, OwnershipGuard, Signal, TreeId,
    Uptime, seconds,
};

struct Tree {
    guard: OwnershipGuard,
    signal: Signal,
}

/// Two trees owned by one session that was opened at 0.
fn owning_two() -> (LeaseMachine, [Tree; 2]) {
    let start = Uptime::default();
    let mut machine = LeaseMachine::opened(
        LeaseConfig::default().check().unwrap(),
        Expiry::ByTtl,
        start,
    );
    let trees = [1, 2].map(|number| {
        let tree = TreeId::from_u128(number);
        let won = Some(leasehold_lease::Revision::new(5));
        machine.on_event(start, &Event::Wanted { tree });
        machine.on_event(start, &Event::ClaimEnded { tree, won });
        let epoch = Epoch::new(1);
        let signal = Signal::root();
        let token = FencingToken { tree, epoch };
        let deadline = machine.deadline().unwrap().for_guard();
        let guard = OwnershipGuard::claimed(token, FrameIndex::FIRST, deadline, signal.clone());
        Tree { guard, signal }
    });
    (machine, trees)
}

fn carry_out(actions: &[Action], trees: &[Tree]) {
    for action in actions {
        if let Action::Lose { tree, reason } = action {
            let lost = trees.iter().filter(|t| t.guard.token().tree == *tree);
            lost.for_each(|t| t.guard.lose(*reason));
        }
    }
}

// CASE 63
#[test]
fn a_cancelled_tree_stays_cancelled_when_its_lease_is_lost_and_its_neighbour_is_lost() {
    let (mut machine, trees) = owning_two();
    let by = "dana".to_owned();
    let cancelled = AbortReason::Cancelled { by };
    trees[0].signal.abort(cancelled.clone());
    let after = Uptime::default().plus(seconds(14));
    carry_out(&machine.on_event(after, &Event::Tick), &trees);
    assert_eq!(trees[0].signal.reason(), Some(cancelled));
    let Some(AbortReason::LeaseLost(lost)) = trees[1].signal.reason() else {
        panic!("the second tree was lost");
    };
    assert_eq!(lost.reason, LeaseLostReason::StoreSilent);
    assert_eq!(lost.tree, trees[1].guard.token().tree);
}
