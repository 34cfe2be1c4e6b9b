//! A tool that kills its process: its execution is stopped with the cause, and the others come to their end.

use leasehold_execution::Record;
use leasehold_execution::record::{Outcome, Quarantined};

use crate::check::check;
use crate::job::Person;
use crate::points::expected;
use crate::site::{End, Site};
use crate::story::read;

/// The first epoch got the model's answer, the next three got nothing: the fifth process stops the execution.
const ABORTS: u32 = 4;

fn quarantined(record: &Record) -> Option<&Quarantined> {
    match record {
        Record::Quarantined(body) => Some(body),
        _ => None,
    }
}

// CONTRACT R6
// CASE 46
// RELIABILITY C5
#[test]
fn a_tool_that_kills_its_process_is_stopped_with_the_cause_and_its_neighbour_ends() {
    let mut site = Site::new(&["poison-0", "reference-0"]);
    site.person = Person::LeavesBlocked;
    while site.run(None) == End::Aborted {
        assert!(site.crashes <= ABORTS, "it is not stopped");
    }
    assert_eq!(site.crashes, ABORTS);
    let met = check(&site, &expected(), "beside a poisonous one");
    assert!(
        !met.contains("a tree was quarantined"),
        "the neighbour is not blamed"
    );
    let poison = read(site.path()).remove("poison-0").unwrap();
    let causes: Vec<&Quarantined> = poison.records().filter_map(quarantined).collect();
    assert_eq!(causes.len(), 1);
    assert_eq!(causes[0].deaths, 3);
    assert!(
        causes[0].cause.contains("abort-tool ran as call"),
        "{}",
        causes[0].cause
    );
    let aborts = site
        .outside()
        .effects()
        .into_iter()
        .filter(|effect| effect.tool == "abort-tool");
    assert_eq!(aborts.count(), ABORTS as usize);
    // Nothing of it runs again by itself; once the tool is mended, an operator lets it go on.
    assert_eq!(site.run(None), End::Done);
    site.outside().put("mended");
    site.person = Person::Answers;
    assert_eq!(site.run(None), End::Done);
    let poison = read(site.path()).remove("poison-0").unwrap();
    let answer = "Survived.".to_owned();
    assert_eq!(
        poison.machine.ended().unwrap().outcome,
        Outcome::Completed { answer }
    );
}
