//! Running a test: on a runtime of its own, and with a bound that turns a hang into a failure that shows what happened.
//!
//! - RUN-1: the bound measures nothing and no test waits for it; a test that passes never meets it.

use std::cell::RefCell;
use std::fmt::Write as _;
use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::runtime::Builder;

use crate::fail::fail;

/// How long a test may take. Generous: on a loaded machine a sound test never gets near it.
const BOUND: Duration = Duration::from_secs(60);
/// Threads that run a test's instance: two, so that what is not ordered shows.
const WORKERS: usize = 2;

/// Something that can say what happened so far.
type Told = Arc<dyn Fn() -> String + Send + Sync>;

/// What is told when a test hangs: one line of entries for each application it started.
#[derive(Clone, Default)]
struct Board(Arc<Mutex<Vec<Told>>>);

thread_local! {
    /// The board of the test that runs on this thread.
    static BOARD: RefCell<Option<Board>> = const { RefCell::new(None) };
}

/// Has `told` asked for what happened should the test on this thread hang.
pub(crate) fn report_by(told: Told) {
    BOARD.with_borrow(|board| {
        if let Some(Board(entries)) = board {
            let mut entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.push(told);
        }
    });
}

/// Runs a test: what `#[leasehold_testkit::test]` calls.
///
/// # Panics
/// The test panics, or has not ended after 60 s; then the timelines of its executions are in the message.
pub fn run<T, F>(test: fn() -> F) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + 'static,
{
    run_within(BOUND, test)
}

fn run_within<T, F>(bound: Duration, test: fn() -> F) -> T
where
    T: Send + 'static,
    F: Future<Output = T> + 'static,
{
    let board = Board::default();
    let shown = board.clone();
    let (sender, ended) = sync_channel(1);
    let name = thread::current().name().unwrap_or("test").to_owned();
    let body = move || {
        BOARD.set(Some(board));
        let result = drive(test);
        // The other side is gone only where the test was given up.
        let _given_up = sender.send(());
        result
    };
    let thread = match thread::Builder::new().name(name).spawn(body) {
        Ok(thread) => thread,
        Err(error) => fail(format_args!("no thread for the test: {error}")),
    };
    match ended.recv_timeout(bound) {
        Ok(()) | Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        },
        Err(RecvTimeoutError::Timeout) => fail(hung(bound, &shown)),
    }
}

fn drive<T, F: Future<Output = T>>(test: fn() -> F) -> T {
    let built = Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build();
    let runtime = match built {
        Ok(runtime) => runtime,
        Err(error) => fail(format_args!("no runtime for the test: {error}")),
    };
    let result = runtime.block_on(test());
    // A blocking body that was given up may never end: it is not waited for.
    runtime.shutdown_background();
    result
}

fn hung(bound: Duration, Board(entries): &Board) -> String {
    let mut text = format!(
        "[testkit.hangs] the test has not ended after {} s",
        bound.as_secs_f64()
    );
    let entries = entries.lock().unwrap_or_else(PoisonError::into_inner);
    for told in entries.iter() {
        // Writing to a text does not fail.
        let _written = write!(text, "\n{}", told());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::panic::catch_unwind;

    use super::*;

    fn panic_of(test: fn()) -> String {
        let panic = catch_unwind(test).unwrap_err();
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
            .unwrap()
    }

    #[test]
    fn a_test_gives_what_its_function_gives_or_panics_as_it_does() {
        assert_eq!(run(|| async { 7 }), 7);
        let said = panic_of(|| run(|| async { panic!("no refund") }));
        assert_eq!(said, "no refund");
    }

    #[test]
    fn a_test_that_hangs_fails_and_shows_what_happened() {
        let said = panic_of(|| {
            run_within(Duration::from_millis(50), || async {
                report_by(Arc::new(|| "started support".to_owned()));
                pending::<()>().await;
            });
        });
        let right = "[testkit.hangs] the test has not ended after 0.05 s\nstarted support";
        assert_eq!(said, right);
    }

    #[test]
    fn a_test_that_blocks_its_thread_fails_too() {
        let said = panic_of(|| {
            run_within(Duration::from_millis(50), || async {
                loop {
                    thread::park();
                }
            });
        });
        assert!(said.starts_with("[testkit.hangs]"), "{said}");
    }
}
