//! What a run booked, held against what the outside billed.
//!
//! - OR7: settled ≤ billed ≤ settled and possible together, and each attempt that was billed and told nothing is possible in full.

use std::collections::BTreeMap;

use leasehold_execution::Record;

use crate::outside::Outside;
use crate::story::Story;

/// The model calls of one turn.
#[derive(Debug, Default)]
struct Turn {
    billed: u64,
    intended: u64,
    answered: u64,
    /// What each attempt reserved; the same for all, since the conversation is.
    reserved: u64,
}

/// OR7, and no model call without its intent.
#[track_caller]
pub(crate) fn check(story: &Story, outside: &Outside, run: &str, name: &str) {
    let ended = story.machine.ended().unwrap();
    let (settled, possible) = (ended.settled.micros(), ended.possible.micros());
    let billed = billed(story, outside, run);
    assert!(
        settled <= billed,
        "OR7: {name}: settled {settled}, billed {billed}"
    );
    let booked = settled + possible;
    assert!(
        billed <= booked,
        "OR7: {name}: billed {billed}, settled {settled}, possible {possible}"
    );
    let mut silent = 0;
    for (turn, calls) in turns(story, outside, run) {
        assert!(
            calls.billed <= calls.intended,
            "D12: {name}: turn {turn}: {calls:?}"
        );
        silent += (calls.billed - calls.answered) * calls.reserved;
    }
    assert!(
        possible >= silent,
        "OR7: {name}: {possible} is possible, {silent} was billed in silence"
    );
}

/// Everything the outside billed for one run: by the model's provider and by its tools.
fn billed(story: &Story, outside: &Outside, run: &str) -> u64 {
    let prefix = story.tree.to_string();
    let effects = outside.effects().into_iter();
    let paid = effects
        .filter(|effect| effect.key.starts_with(&prefix))
        .map(|effect| effect.micros);
    let bills = outside.bills().into_iter().filter(|bill| bill.run == run);
    paid.chain(bills.map(|bill| bill.micros)).sum()
}

fn turns(story: &Story, outside: &Outside, run: &str) -> BTreeMap<u32, Turn> {
    let mut turns: BTreeMap<u32, Turn> = BTreeMap::new();
    for record in story.records() {
        match record {
            Record::ModelIntended(body) => {
                let turn = turns.entry(body.turn).or_default();
                turn.intended += 1;
                turn.reserved = body.reserved.micros();
            }
            Record::ModelAnswered(body) => turns.entry(body.turn).or_default().answered += 1,
            _ => {}
        }
    }
    for bill in outside.bills().into_iter().filter(|bill| bill.run == run) {
        turns.entry(bill.turn).or_default().billed += 1;
    }
    turns
}
