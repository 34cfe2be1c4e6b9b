//! One answer from any thread to one waiting future, without an async runtime.
//!
//! - REPLY-1: a waiter always ends: with the answer, or with `None` once nobody can give one any more.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::{AppendOutcome, Journal, SealedFrame, Tail, UnknownReason, unpoisoned};

/// Appends a frame and waits for what became of it. Dropping the future changes nothing: the append goes on.
pub async fn append(journal: &dyn Journal, expected: Tail, frame: SealedFrame) -> AppendOutcome {
    let (sender, reply) = channel();
    journal.append(
        expected,
        frame,
        Box::new(move |outcome| sender.send(outcome)),
    );
    reply
        .await
        .unwrap_or(AppendOutcome::Unknown(UnknownReason::Disconnected))
}

struct Cell<T> {
    value: Option<T>,
    waker: Option<Waker>,
    is_open: bool,
}

/// The side that answers, once.
pub(crate) struct Sender<T>(Arc<Mutex<Cell<T>>>);

/// The side that waits. `None`: the other side is gone without an answer.
pub(crate) struct Reply<T>(Arc<Mutex<Cell<T>>>);

/// Makes a pair.
pub(crate) fn channel<T>() -> (Sender<T>, Reply<T>) {
    let cell = Arc::new(Mutex::new(Cell {
        value: None,
        waker: None,
        is_open: true,
    }));
    (Sender(Arc::clone(&cell)), Reply(cell))
}

impl<T> Sender<T> {
    /// Gives the answer.
    pub(crate) fn send(self, value: T) {
        unpoisoned(&self.0).value = Some(value);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let waker = {
            let mut cell = unpoisoned(&self.0);
            cell.is_open = false;
            cell.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Future for Reply<T> {
    type Output = Option<T>;
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut cell = unpoisoned(&self.0);
        if let Some(value) = cell.value.take() {
            return Poll::Ready(Some(value));
        }
        if !cell.is_open {
            return Poll::Ready(None);
        }
        cell.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;

    #[test]
    fn a_waiter_ends_with_the_answer_or_when_nobody_can_give_one() {
        let mut context = Context::from_waker(Waker::noop());
        let (sender, reply) = channel();
        let mut reply = pin!(reply);
        assert!(reply.as_mut().poll(&mut context).is_pending());
        sender.send(7);
        assert_eq!(reply.poll(&mut context), Poll::Ready(Some(7)));
        let (sender, reply) = channel::<u8>();
        drop(sender);
        assert_eq!(pin!(reply).poll(&mut context), Poll::Ready(None), "REPLY-1");
    }
}
