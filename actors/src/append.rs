//! Appending, and finding out what became of an append: what was refused or is unknown is read back until it is clear.
//!
//! It decides nothing about the tree: `Writer::classify` says what a read-back means.
//!
//! - APPEND-1: no outcome is guessed. Once an attempt's outcome was unknown, a later attempt that failed says nothing of the first.

use std::time::Duration;

use leasehold_execution::spill::Spilled;
use leasehold_journal::{
    AppendOutcome, JournalError, ReadBack, SealedFrame, Tail, UnknownReason, Writer,
};
use leasehold_types::{FrameIndex, Signal, TreeSummary};

use crate::deps::Deps;
use crate::node::Closed;

/// The first wait before an append of unknown outcome is read back again; doubled up to [`READ_BACK_MAX`].
const READ_BACK_FIRST: Duration = Duration::from_millis(2);
/// The longest wait between two read-backs.
const READ_BACK_MAX: Duration = Duration::from_secs(1);

/// Appends a claim's frame and waits for its outcome: nothing may be done before.
pub(crate) async fn append_and_settle(
    deps: &Deps,
    writer: &mut Writer,
    summary: TreeSummary,
    spilled: Spilled,
    signal: &Signal,
) -> Result<FrameIndex, Closed> {
    let tree = writer.token().tree;
    for blob in spilled.blobs {
        deps.store.put_blob(tree, blob).await.map_err(unavailable)?;
    }
    let sealed = writer
        .seal(summary, &spilled.body)
        .map_err(|error| Closed::Corrupt {
            why: error.to_string(),
        })?;
    let outcome = append_once(deps, writer.tail(), sealed).await;
    let tail = match outcome {
        AppendOutcome::Acked(tail) => tail,
        unclear @ (AppendOutcome::Refused
        | AppendOutcome::Unknown(_)
        | AppendOutcome::Failed(_)) => settle_append(deps, writer, unclear, signal)
            .await
            .map_err(refused_claim)?,
    };
    Ok(writer.acked(tail))
}

pub(crate) async fn append_once(deps: &Deps, tail: Tail, sealed: SealedFrame) -> AppendOutcome {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let done = move |outcome| {
        let _dropped = sender.send(outcome);
    };
    deps.store.append(tail, sealed, Box::new(done));
    receiver
        .await
        .unwrap_or(AppendOutcome::Unknown(UnknownReason::Disconnected))
}

/// Whoever appends between a claim's look and its append, be it another claimant of the same epoch or the last write of the
/// owner before, has the claim refused: its plan is thrown away, and the tree is looked at anew.
fn refused_claim(how: Closed) -> Closed {
    match how {
        Closed::Corrupt { why } => Closed::Unavailable { why },
        Closed::Ended
        | Closed::Resting { .. }
        | Closed::Released
        | Closed::Blocked
        | Closed::Fenced { .. }
        | Closed::HeldElsewhere
        | Closed::Unavailable { .. }
        | Closed::WaitingForVersion { .. }
        | Closed::Missing
        | Closed::Suspect => how,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "fits map_err")]
pub(crate) fn unavailable(error: JournalError) -> Closed {
    Closed::Unavailable {
        why: error.to_string(),
    }
}

/// Finds out what became of an append that was refused or whose outcome is unknown. Nothing is guessed: it is read back
/// until it is clear, as long as the tree is ours.
pub(crate) async fn settle_append(
    deps: &Deps,
    writer: &mut Writer,
    outcome: AppendOutcome,
    signal: &Signal,
) -> Result<Tail, Closed> {
    let tree = writer.token().tree;
    let (mut outcome, mut wait) = (outcome, READ_BACK_FIRST);
    let mut was_unclear = false;
    loop {
        match outcome {
            AppendOutcome::Acked(tail) => return Ok(tail),
            AppendOutcome::Failed(error) if !was_unclear => return Err(unavailable(error)),
            // APPEND-1: an earlier attempt may still land.
            AppendOutcome::Failed(_) => {}
            AppendOutcome::Refused | AppendOutcome::Unknown(_) => was_unclear = true,
        }
        let read = deps.store.tail(tree).await;
        match read.map(|read| writer.classify(&read)) {
            Ok(ReadBack::Landed(tail)) => return Ok(tail),
            Ok(ReadBack::Fenced { by }) => return Err(Closed::Fenced { by }),
            Ok(ReadBack::Corrupt(why)) => return Err(Closed::Corrupt { why }),
            Ok(ReadBack::NotYet) | Err(_) => {}
        }
        tokio::select! {
            biased;
            reason = signal.aborted() => {
                return Err(Closed::Unavailable { why: reason.to_string() });
            }
            () = deps.clock.sleep(wait) => wait = (wait * 2).min(READ_BACK_MAX),
        }
        let Some(sealed) = writer.in_flight().cloned() else {
            return Err(Closed::Corrupt {
                why: "WRITE-2: nothing is in flight".to_owned(),
            });
        };
        // The same frame on the same tail: compare-and-set makes a second landing impossible.
        outcome = append_once(deps, writer.tail(), sealed).await;
    }
}
