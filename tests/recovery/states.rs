//! SIGKILL in each state an execution can be in, during replay again and again, and beside a second process at the same store.

use std::io::Write;
use std::process::{Child, Output, Stdio};

use leasehold_journal::embedded::FaultPoint;
use leasehold_types::TreeState;

use crate::check::{Met, check};
use crate::job::{Fault, Person};
use crate::points::{APPENDS_MIN, expected};
use crate::site::{End, Site, fork, wait_for_words};
use crate::story::{Story, read};
use crate::worker::NOT_OPENED;

/// The one execution of a site.
fn story(site: &Site) -> Story {
    read(site.path()).remove("reference-0").unwrap()
}

fn state(story: &Story) -> TreeState {
    story.frames.last().unwrap().header.summary.state
}

/// What the outside has seen: effects and bills.
fn seen(site: &Site) -> (usize, usize) {
    (site.outside().effects().len(), site.outside().bills().len())
}

/// A worker that has said `word` and waits for one.
#[track_caller]
fn waiting(site: &mut Site, word: &str) -> Child {
    site.person = Person::Waits;
    let mut command = site.command(None);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = fork(|| command.spawn()).unwrap();
    assert!(
        wait_for_words(&mut child, word, 1),
        "it ended before it said {word:?}"
    );
    child
}

fn kill(site: &mut Site, mut child: Child) {
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(site.ended(status), End::Killed);
    site.person = Person::Answers;
}

// CASE 48
// RELIABILITY C1
#[test]
fn an_execution_that_was_started_and_not_claimed_is_taken_by_the_next_process() {
    let mut site = Site::reference();
    assert_eq!(
        site.run(Some(Fault::Append(FaultPoint::AfterFsync, 1))),
        End::Killed
    );
    let started = story(&site);
    assert_eq!((started.frames.len(), started.claims()), (1, 0));
    site.finish();
    check(&site, &expected(), "started");
}

// CASE 48
// RELIABILITY C1
#[test]
fn an_execution_that_was_claimed_and_did_nothing_is_taken_by_the_next_process() {
    let mut site = Site::reference();
    assert_eq!(
        site.run(Some(Fault::Append(FaultPoint::AfterFsync, 2))),
        End::Killed
    );
    let claimed = story(&site);
    assert_eq!((claimed.frames.len(), claimed.claims()), (2, 1));
    assert_eq!(
        seen(&site),
        (0, 0),
        "nothing is done before the claim is acked"
    );
    site.finish();
    let met = check(&site, &expected(), "claimed");
    assert!(met.contains("a tree was taken over"), "{met:?}");
}

// CASE 48
// RELIABILITY C1
// CONTRACT R4
#[test]
fn an_execution_at_rest_is_left_alone_by_the_next_process_until_somebody_answers() {
    let mut site = Site::reference();
    let child = waiting(&mut site, "rests");
    kill(&mut site, child);
    let (first, before) = (story(&site), seen(&site));
    assert_eq!(state(&first), TreeState::Resting);
    let child = waiting(&mut site, "rests");
    kill(&mut site, child);
    let second = story(&site);
    assert_eq!(second.frames.len(), first.frames.len(), "nobody claimed it");
    assert_eq!(seen(&site), before);
    site.finish();
    check(&site, &expected(), "at rest");
}

// CASE 48
// RELIABILITY C1
#[test]
fn an_execution_that_has_ended_stays_as_it_is() {
    let mut site = Site::reference();
    assert_eq!(site.run(None), End::Done);
    let (first, before) = (story(&site), seen(&site));
    let child = waiting(&mut site, "ended");
    kill(&mut site, child);
    assert_eq!(site.run(None), End::Done);
    assert_eq!(story(&site).frames.len(), first.frames.len());
    assert_eq!(seen(&site), before);
    check(&site, &expected(), "ended");
}

// RELIABILITY C4
// CONTRACT R4
#[test]
fn ten_kills_in_a_row_during_replay_lose_nothing_and_call_nothing() {
    let expected = expected();
    for nth in [4, 7, 10, 13] {
        let mut site = Site::reference();
        assert_eq!(
            site.run(Some(Fault::Append(FaultPoint::AfterAck, nth))),
            End::Killed
        );
        let (first, before) = (story(&site).frames.len(), seen(&site));
        for round in 0..10 {
            // While its frames are read, or when it is folded and the claim is about to be written.
            let fault = match round % 2 {
                0 => Fault::AtRead(1),
                _ => Fault::Append(FaultPoint::BeforeWrite, 1),
            };
            assert_eq!(site.run(Some(fault)), End::Killed, "{nth}, round {round}");
        }
        assert_eq!(story(&site).frames.len(), first, "{nth}");
        assert_eq!(seen(&site), before, "{nth}");
        site.finish();
        let met = check(&site, &expected, "replay");
        assert!(
            !met.contains("a tree was quarantined"),
            "nothing was claimed in vain"
        );
    }
}

/// What a process says that finds the store open elsewhere.
fn refused(site: &mut Site) -> Output {
    let mut command = site.command(None);
    command.stderr(Stdio::piped());
    let child = fork(|| command.spawn()).unwrap();
    child.wait_with_output().unwrap()
}

// RELIABILITY C9
#[test]
fn a_second_process_at_the_same_store_is_refused_and_the_first_is_unharmed() {
    let mut site = Site::reference();
    let mut first = waiting(&mut site, "rests");
    let second = refused(&mut site);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(NOT_OPENED), "{said}");
    assert!(said.contains("[store.locked] StoreLockedError"), "{said}");
    let mut word = first.stdin.take().unwrap();
    word.write_all(b"go on\nand end\n").unwrap();
    let status = first.wait().unwrap();
    assert_eq!(site.ended(status), End::Done);
    let met = check(&site, &expected(), "two processes");
    assert_eq!(
        met,
        Met::from(["a call was retried"]),
        "nobody took it over"
    );
}

// RELIABILITY C9
#[test]
fn the_lock_of_a_killed_process_does_not_keep_the_next_one_out() {
    let mut site = Site::reference();
    let child = waiting(&mut site, "rests");
    assert_eq!(refused(&mut site).status.code(), Some(NOT_OPENED));
    kill(&mut site, child);
    assert_eq!(site.run(None), End::Done);
    check(&site, &expected(), "after a kill");
}

// RELIABILITY C5
// CONTRACT R11
#[test]
fn a_panic_of_an_actor_after_any_frame_is_like_a_crash_of_that_execution_alone() {
    let expected = expected();
    let mut met = Met::new();
    let mut panics = 0;
    loop {
        let mut site = Site::reference();
        let fault = Fault::ActorPanic(panics + 1);
        assert_eq!(
            site.run(Some(fault)),
            End::Done,
            "{fault}: the process lives on"
        );
        if !site.outside().has("panicked") {
            break;
        }
        panics += 1;
        site.crashes = 1;
        met.append(&mut check(&site, &expected, &fault.to_string()));
    }
    // Of the start no actor tells.
    assert!(panics + 1 >= APPENDS_MIN, "{panics} panics");
    assert!(met.contains("a write was in doubt"), "{met:?}");
}
