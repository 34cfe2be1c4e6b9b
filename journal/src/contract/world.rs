//! What the cases need: trees, writers, chance by a seed, and a way to run a future without a runtime.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use leasehold_types::{Digest, Random, Tenant, TreeId, TreeState, TreeSummary};

use crate::faulty::mix;
use crate::{AppendOutcome, Journal, ReadBack, Tail, UnknownReason, Writer, append};

/// Chance by a seed: the same numbers in each run.
#[derive(Debug)]
pub struct SeededRandom(AtomicU64);

impl SeededRandom {
    /// The numbers of `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }
}

impl Random for SeededRandom {
    fn next_u64(&self) -> u64 {
        mix(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The `number`-th tree of a case.
#[must_use]
pub fn tree(case: &str, number: u64) -> TreeId {
    let name = Digest::of(case.as_bytes());
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&name.as_bytes()[..8]);
    bytes[8..].copy_from_slice(&number.to_be_bytes());
    // The home is generation 0, stream 0: the one that every backend has.
    TreeId::from_u128(u128::from_be_bytes(bytes) & !(0xf_ffff << 60))
}

/// The summary of a tree that is doing something.
#[must_use]
pub fn summary() -> TreeSummary {
    TreeSummary {
        state: TreeState::Live,
        next_due: None,
        config_hash: Digest::of(b"config"),
        reader_version: 1,
        workflow: "contract".to_owned(),
        thread: "thread".to_owned(),
        pauses: Vec::new(),
    }
}

/// A writer whose tree has its first frame.
pub async fn started(journal: &dyn Journal, tree: TreeId, random: &SeededRandom) -> Writer {
    let seen = journal.tail(tree).await.unwrap().tail;
    let mut writer = Writer::starting(tree, Tenant::default(), seen, random);
    write(journal, &mut writer, b"started").await;
    writer
}

/// Seals a frame and appends it, which must be acked.
pub(super) async fn write(journal: &dyn Journal, writer: &mut Writer, body: &[u8]) -> Tail {
    let frame = writer.seal(summary(), body).unwrap();
    match append(journal, writer.tail(), frame).await {
        AppendOutcome::Acked(tail) => {
            writer.acked(tail);
            tail
        }
        outcome @ (AppendOutcome::Refused
        | AppendOutcome::Unknown(_)
        | AppendOutcome::Failed(_)) => panic!("not acked: {outcome:?}"),
    }
}

/// Appends the frame in flight until its fate is known, the way a tree's shell does: read back, and send the same frame
/// again while nothing new is there.
pub async fn settle(journal: &dyn Journal, writer: &mut Writer) -> ReadBack {
    for _ in 0..64 {
        let frame = writer.in_flight().unwrap().clone();
        match append(journal, writer.tail(), frame).await {
            AppendOutcome::Acked(tail) => {
                writer.acked(tail);
                return ReadBack::Landed(tail);
            }
            AppendOutcome::Unknown(UnknownReason::Undecided) | AppendOutcome::Failed(_) => {
                continue;
            }
            AppendOutcome::Refused | AppendOutcome::Unknown(_) => {}
        }
        match writer.classify(&journal.tail(writer.token().tree).await.unwrap()) {
            ReadBack::NotYet => {}
            ReadBack::Landed(tail) => {
                writer.acked(tail);
                return ReadBack::Landed(tail);
            }
            end @ (ReadBack::Fenced { .. } | ReadBack::Corrupt(_)) => return end,
        }
    }
    panic!("the append's fate is still unknown after 64 attempts")
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread. For backends that need no runtime.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
