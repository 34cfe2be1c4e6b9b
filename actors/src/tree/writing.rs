//! The tree's one append in flight, and what follows from it.
//!
//! - WRITE-3: while one append is in flight or unclear, nothing else is sent for the tree.
//! - WRITE-4: what a commit asks for is done, and its letters are settled, once its frame is acknowledged and not before.

use leasehold_execution::record::Released;
use leasehold_execution::{Entry, Record, write_entries};
use leasehold_journal::{AppendOutcome, FRAME_BYTES_MAX, JournalError, SealedFrame, Tail};
use leasehold_types::{FrameIndex, LeaseLostReason};
use ractor::ActorRef;

use super::{Handled, Held, State, TreeMsg};
use crate::append::{append_once, settle_append, unavailable};
use crate::deps::Deps;
use crate::execution::{Commit, ExecutionMsg, Then};
use crate::hold::lost;
use crate::node::Closed;

/// The most bytes of records in one frame; the rest of [`FRAME_BYTES_MAX`] is the header's.
const BODY_BYTES_MAX: usize = FRAME_BYTES_MAX - 1_024;

impl State {
    /// Seals everything that waits, up to a frame's size, and hands it to the store.
    pub(super) async fn append_next(&mut self, myself: &ActorRef<TreeMsg>) -> Handled {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        if !held.in_flight.is_empty() {
            return Ok(());
        }
        let body = held.take_waiting();
        let Some(last) = held.in_flight.last() else {
            return Ok(());
        };
        if body.is_empty() {
            // Nothing to make durable: what was asked for rests on frames that are.
            let frame = held.last_frame();
            return self.done(myself, frame).await;
        }
        let summary = last.summary.clone();
        if let Err(error) = put_blobs(&self.deps, held).await {
            note_release(&self.deps, held, &error).await;
            return self.cannot_write(myself, unavailable(error)).await;
        }
        if let Some(reason) = lost(held.guard.signal()) {
            // Storing blobs takes its time.
            return self.lost(myself, reason).await;
        }
        let sealed = held.writer.seal(summary, &body)?;
        send(&self.deps, held.writer.tail(), sealed, myself);
        Ok(())
    }

    pub(super) async fn appended(
        &mut self,
        myself: &ActorRef<TreeMsg>,
        outcome: AppendOutcome,
    ) -> Handled {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        let signal = held.guard.signal().clone();
        let tail = match outcome {
            AppendOutcome::Acked(tail) => Ok(tail),
            unclear @ (AppendOutcome::Refused
            | AppendOutcome::Unknown(_)
            | AppendOutcome::Failed(_)) => {
                settle_append(&self.deps, &mut held.writer, unclear, &signal).await
            }
        };
        match tail {
            Ok(tail) => {
                let frame = held.writer.acked(tail);
                held.guard.acknowledged(frame);
                self.done(myself, frame).await?;
                self.append_next(myself).await
            }
            Err(how) => self.cannot_write(myself, how).await,
        }
    }

    /// What is not durable is dropped with the actors; the journal says where to go on.
    async fn cannot_write(&mut self, myself: &ActorRef<TreeMsg>, how: Closed) -> Handled {
        if let (Some(held), Closed::Fenced { .. }) = (&self.held, &how) {
            held.guard.lose(LeaseLostReason::Fenced);
        }
        self.shut(myself, how).await
    }

    /// The commits in flight are durable: their observers, senders and steps hear of it.
    async fn done(&mut self, myself: &ActorRef<TreeMsg>, frame: FrameIndex) -> Handled {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        let commits = std::mem::take(&mut held.in_flight);
        let count = commits.len();
        let proven = commits.iter().any(|commit| commit.proven);
        let (mut steps, mut settled, mut then) = (Vec::new(), Vec::new(), Then::Continue);
        for commit in commits {
            if !commit.entries.is_empty() {
                let observer = &self.deps.observer;
                observer.durable(self.tree, frame, &commit.entries);
            }
            steps.extend(commit.steps);
            settled.extend(commit.settled);
            then = commit.then;
        }
        if then == Then::Continue {
            held.execution.cast(ExecutionMsg::Durable {
                frame,
                commits: count,
                steps,
            })?;
        }
        if !settled.is_empty() {
            self.settle(settled).await;
        }
        if proven {
            self.tell_proven(myself)?;
        }
        match then {
            Then::Continue => Ok(()),
            Then::Rest(due) => self.shut(myself, Closed::Resting { due }).await,
            Then::End => self.shut(myself, Closed::Ended).await,
            Then::Block => self.shut(myself, Closed::Blocked).await,
            Then::Release => self.shut(myself, Closed::Released).await,
        }
    }
}

impl Held {
    /// Puts what waits in flight, in order, as far as it fits into one frame together; the records' bytes.
    fn take_waiting(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        while let Some(commit) = self.next_waiting(body.len()) {
            if body.is_empty() {
                body.reserve(commit.body.len());
            }
            body.extend_from_slice(&commit.body);
            self.in_flight.push(commit);
        }
        body
    }

    fn next_waiting(&mut self, taken: usize) -> Option<Commit> {
        let fits = |next: &mut Commit| taken == 0 || taken + next.body.len() <= BODY_BYTES_MAX;
        self.waiting.pop_front_if(fits)
    }

    fn last_frame(&self) -> FrameIndex {
        FrameIndex::new(self.writer.next_index().get().saturating_sub(1))
    }
}

/// Blobs are durable before the frame that names them.
async fn put_blobs(deps: &Deps, held: &mut Held) -> Result<(), JournalError> {
    let tree = held.writer.token().tree;
    for commit in &mut held.in_flight {
        for blob in commit.blobs.drain(..) {
            deps.store.put_blob(tree, blob).await?;
        }
    }
    Ok(())
}

/// A store that takes frames and no blobs: the epoch ends with a word, or it would count as a death of the tree's worker.
async fn note_release(deps: &Deps, held: &mut Held, error: &JournalError) {
    let read = deps.store.tail(held.writer.token().tree).await;
    let Ok(Ok(Some(last))) = read.map(|read| read.header()) else {
        return;
    };
    let reason = error.to_string();
    let entry = Entry {
        execution: 0,
        at: deps.clock.now(),
        record: Record::Released(Released { reason }),
    };
    let Ok(body) = write_entries(&[entry]) else {
        return;
    };
    if let Ok(sealed) = held.writer.seal(last.summary, &body) {
        let outcome = append_once(deps, held.writer.tail(), sealed).await;
        tracing::debug!(?outcome, "tree released for want of space");
    }
}

fn send(deps: &Deps, tail: Tail, sealed: SealedFrame, myself: &ActorRef<TreeMsg>) {
    let myself = myself.clone();
    let done = move |outcome| {
        // A tree that is gone needs no answer: its successor reads the journal.
        let _gone = myself.cast(TreeMsg::Appended(outcome));
    };
    deps.store.append(tail, sealed, Box::new(done));
}
