//! The queue before the writer: bounded in count and bytes, filled from any thread, never waited for.
//!
//! - QUEUE-1: a request that was taken in is answered exactly once, whatever happens after.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;

use crate::{AppendDone, JournalError, SealedFrame, Tail, unpoisoned};

/// Rounds of looking before the writer sleeps, about 20 µs: waking a sleeping thread costs more than that, and after a
/// batch most callers come back sooner.
const SPIN_ROUNDS: u32 = 600;

/// One append on its way.
pub(super) struct Request {
    pub(super) expected: Tail,
    pub(super) frame: SealedFrame,
    pub(super) done: AppendDone,
}

#[derive(Default)]
struct Waiting {
    requests: Vec<Request>,
    is_closed: bool,
}

pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    has_waiting: AtomicBool,
    in_flight: AtomicUsize,
    bytes_in_flight: AtomicUsize,
    appends_max: usize,
    bytes_max: usize,
    is_asleep: AtomicBool,
    writer: OnceLock<Thread>,
}

impl Queue {
    pub(super) fn new(appends_max: usize, bytes_max: usize) -> Self {
        Self {
            waiting: Mutex::default(),
            has_waiting: AtomicBool::new(false),
            in_flight: AtomicUsize::new(0),
            bytes_in_flight: AtomicUsize::new(0),
            appends_max,
            bytes_max,
            is_asleep: AtomicBool::new(false),
            writer: OnceLock::new(),
        }
    }

    /// Appends that are queued or being written.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Takes a request in, or gives it back with the reason; `closed` where nothing is taken in any more.
    pub(super) fn push(
        &self,
        request: Request,
        closed: impl FnOnce() -> JournalError,
    ) -> Result<(), (AppendDone, JournalError)> {
        let bytes = request.frame.bytes.len();
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed);
        let bytes_before = self.bytes_in_flight.fetch_add(bytes, Ordering::Relaxed);
        if in_flight >= self.appends_max || bytes_before + bytes > self.bytes_max {
            self.finished(bytes);
            return Err((request.done, JournalError::Overloaded { in_flight }));
        }
        {
            let mut waiting = unpoisoned(&self.waiting);
            if waiting.is_closed {
                self.finished(bytes);
                return Err((request.done, closed()));
            }
            waiting.requests.push(request);
            self.has_waiting.store(true, Ordering::SeqCst);
        }
        self.wake();
        Ok(())
    }

    /// Notes that a request has been answered, or is about to be.
    pub(super) fn finished(&self, bytes: usize) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.bytes_in_flight.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn wake(&self) {
        if self.is_asleep.swap(false, Ordering::SeqCst)
            && let Some(writer) = self.writer.get()
        {
            writer.unpark();
        }
    }

    /// For the writer's thread: waits for requests and swaps them into `taken`, which is empty. False: closed, none left.
    pub(super) fn take(&self, taken: &mut Vec<Request>) -> bool {
        self.writer.get_or_init(std::thread::current);
        loop {
            self.wait();
            let mut waiting = unpoisoned(&self.waiting);
            self.has_waiting.store(false, Ordering::SeqCst);
            std::mem::swap(&mut waiting.requests, taken);
            if !taken.is_empty() {
                // What closed the queue may have been told together with these: it must be heard once they are done.
                if waiting.is_closed {
                    self.has_waiting.store(true, Ordering::SeqCst);
                }
                return true;
            }
            if waiting.is_closed {
                return false;
            }
        }
    }

    fn wait(&self) {
        for round in 1..=SPIN_ROUNDS {
            if self.has_waiting.load(Ordering::SeqCst) {
                return;
            }
            std::hint::spin_loop();
            if round % 50 == 0 {
                // Lets whoever is to come next have the processor, where there are few.
                std::thread::yield_now();
            }
        }
        while !self.has_waiting.load(Ordering::SeqCst) {
            self.is_asleep.store(true, Ordering::SeqCst);
            if self.has_waiting.load(Ordering::SeqCst) {
                self.is_asleep.store(false, Ordering::SeqCst);
                return;
            }
            std::thread::park();
        }
    }

    /// Takes in nothing more; the writer ends once it has done what is here.
    pub(super) fn close(&self) {
        unpoisoned(&self.waiting).is_closed = true;
        self.has_waiting.store(true, Ordering::SeqCst);
        self.wake();
    }

    /// Takes in nothing more, and gives out what is here.
    pub(super) fn drain(&self) -> Vec<Request> {
        let mut waiting = unpoisoned(&self.waiting);
        waiting.is_closed = true;
        std::mem::take(&mut waiting.requests)
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue")
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::tests::header;
    use leasehold_types::{Digest, TreeId};

    #[test]
    fn a_queue_that_is_closed_while_it_holds_requests_is_heard_to_be_closed_after_them() {
        let queue = Queue::new(8, 1_000_000);
        let frame = SealedFrame::seal(&header(0, 1, Digest::default()), b"a").unwrap();
        let request = Request {
            expected: Tail::at(TreeId::from_u128(7), 0),
            frame,
            done: Box::new(|_| ()),
        };
        assert!(queue.push(request, || JournalError::Closed).is_ok());
        queue.close();
        let mut taken = Vec::new();
        assert!(queue.take(&mut taken));
        assert_eq!(taken.drain(..).count(), 1);
        // Else the writer would sleep, and whoever closes the store wait for it, for ever.
        assert!(queue.has_waiting.load(Ordering::SeqCst));
        assert!(!queue.take(&mut taken));
    }
}
