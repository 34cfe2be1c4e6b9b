//! A blocking body that ends after its execution's actor was lost: its result is dropped and counted, never journaled.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use leasehold_actors::Fault;
use leasehold_execution::record::Outcome;
use leasehold_tools::Body;
use serde_json::json;
use tokio::sync::Notify;

use crate::local::{Local, Made};

/// A door that a blocking body waits at.
#[derive(Debug, Default)]
struct Door(Mutex<bool>, Condvar);

impl Door {
    fn wait(&self) {
        let closed = self.1.wait_while(self.0.lock().unwrap(), |open| !*open);
        drop(closed.unwrap());
    }

    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }
}

// One thread: when the body tells that it runs, its call has been polled and waits for it.
// RELIABILITY C8
// CASE 88
#[tokio::test]
async fn blocking_work_that_ends_after_its_execution_was_lost_is_dropped_and_counted() {
    let (door, running, runs) = (
        Arc::new(Door::default()),
        Arc::new(Notify::new()),
        Arc::new(AtomicU32::new(0)),
    );
    let (waits, told, counted) = (Arc::clone(&door), Arc::clone(&running), Arc::clone(&runs));
    let tool = Made::new(Body::Blocking, move |_| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        told.notify_one();
        if run == 1 {
            waits.wait();
        }
        Box::pin(std::future::ready(Ok(json!({"run": run}))))
    });
    let local = Local::with(tool).await;
    let execution = local.start().await;
    running.notified().await;
    local
        .instance
        .node()
        .fault(execution.tree(), Fault::Execution);
    let machine = local.end(execution).await;
    let answer = "Done.".to_owned();
    assert_eq!(
        machine.ended().unwrap().outcome,
        Outcome::Completed { answer }
    );
    let pool = Arc::clone(&local.instance.node().deps().pool);
    assert_eq!(pool.late_results(), 0, "the first body still runs");
    door.open();
    while pool.late_results() == 0 {
        tokio::task::yield_now().await;
    }
    let results = local.results(execution).await;
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    assert_eq!(
        texts,
        [r#"{"run":2}"#],
        "the first body's result is nowhere"
    );
    assert_eq!(pool.late_results(), 1);
}
