//! Tools that block: beside the runtime, given up and never waited for.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use leasehold_macros::tool;
use leasehold_tools::{BlockingPool, PlainText, ToolResult};
use leasehold_types::seconds;

use crate::support::{Running, bound, text_of};

type Work = Box<dyn FnOnce() + Send>;

/// Keeps the work until a test runs or drops it, and counts results that nobody wanted any more.
#[derive(Clone, Default)]
struct HeldPool(Arc<Mutex<Vec<Work>>>, Arc<AtomicU32>);

impl HeldPool {
    fn late(&self) -> u32 {
        self.1.load(Ordering::SeqCst)
    }

    fn take(&self) -> Vec<Work> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn run_all(&self) {
        for work in self.take() {
            work();
        }
    }
}

impl fmt::Debug for HeldPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HeldPool")
    }
}

impl BlockingPool for HeldPool {
    fn run(&self, work: Work) {
        self.0.lock().unwrap().push(work);
    }

    fn ended_late(&self) {
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

/// Adds up.
#[tool(effect = pure, timeout = seconds(1))]
fn add() -> ToolResult<PlainText> {
    Ok("3".into())
}

/// Fails to add up.
#[tool(effect = pure)]
fn fail() -> ToolResult<PlainText> {
    panic!("overflow")
}

#[test]
fn a_blocking_body_runs_on_the_pool_and_its_result_comes_back() {
    let (tool, pool) = (bound(add), HeldPool::default());
    let mut call = Running::framed(&tool, "{}", |frame| frame.with_pool(Arc::new(pool.clone())));
    call.is_pending();
    assert_eq!(call.wakes(), 0);
    pool.run_all();
    assert_eq!(call.wakes(), 1, "the result wakes the call");
    assert_eq!(call.ended().end.text(), r#"{"text":"3"}"#);
    assert_eq!(pool.late(), 0);
    assert_eq!(
        text_of(&tool, "{}"),
        r#"{"text":"3"}"#,
        "without a pool it runs where it is polled"
    );
}

// CASE 88
#[test]
fn a_blocking_body_is_given_up_at_its_timeout_and_its_result_goes_nowhere() {
    let (tool, pool) = (bound(add), HeldPool::default());
    let mut call = Running::framed(&tool, "{}", |frame| frame.with_pool(Arc::new(pool.clone())));
    call.is_pending();
    call.clock.advance(seconds(1));
    assert_eq!(call.ended().end.text(), "Tool error: timed out after 1 s");
    assert_eq!(pool.late(), 0);
    pool.run_all();
    assert_eq!(pool.late(), 1, "it is counted");
}

// CASE 88
#[test]
fn a_result_that_came_and_was_not_fetched_before_the_call_was_dropped_is_counted_too() {
    let (tool, pool) = (bound(add), HeldPool::default());
    let mut call = Running::framed(&tool, "{}", |frame| frame.with_pool(Arc::new(pool.clone())));
    call.is_pending();
    pool.run_all();
    drop(call);
    assert_eq!(pool.late(), 1);
}

#[test]
fn a_panic_on_the_pool_and_a_dropped_body_are_errors() {
    let (tool, pool) = (bound(fail), HeldPool::default());
    let mut call = Running::framed(&tool, "{}", |frame| frame.with_pool(Arc::new(pool.clone())));
    call.is_pending();
    pool.run_all();
    assert_eq!(call.ended().end.text(), "Tool error: the tool panicked");
    let mut call = Running::framed(&tool, "{}", |frame| frame.with_pool(Arc::new(pool.clone())));
    call.is_pending();
    drop(pool.take());
    assert_eq!(
        call.ended().end.text(),
        "Tool error: the blocking pool dropped the call"
    );
}
