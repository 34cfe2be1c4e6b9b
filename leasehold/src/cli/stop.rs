//! Ctrl-C and SIGTERM: the first asks a command to come to an orderly end, the second ends it at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

/// Tells whether somebody wants the command to end. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Stop(watch::Receiver<u32>);

/// Counts the signals.
#[derive(Debug)]
pub(super) struct Signals(watch::Sender<u32>);

impl Stop {
    /// A stop, and what counts for it.
    pub(super) fn new() -> (Self, Signals) {
        let (sender, receiver) = watch::channel(0);
        (Self(receiver), Signals(sender))
    }

    /// Waits for the first signal.
    pub(super) async fn first(&self) {
        self.reached(1).await;
    }

    /// Waits for the second signal.
    pub(super) async fn second(&self) {
        self.reached(2).await;
    }

    async fn reached(&self, wanted: u32) {
        let mut count = self.0.clone();
        if count.wait_for(|seen| *seen >= wanted).await.is_err() {
            // Nobody counts any more: no signal comes.
            std::future::pending::<()>().await;
        }
    }
}

impl Signals {
    /// Counts one, as a test does.
    pub(super) fn count(&self) {
        self.0.send_modify(|seen| *seen = seen.saturating_add(1));
    }

    /// Counts the process's signals until it is dropped.
    pub(super) async fn listen(&self) {
        let (Ok(mut interrupt), Ok(mut terminate)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            // Without a handler the system's own holds: the process ends at the first signal.
            return std::future::pending().await;
        };
        loop {
            tokio::select! {
                Some(()) = interrupt.recv() => self.count(),
                Some(()) = terminate.recv() => self.count(),
                else => return std::future::pending().await,
            }
        }
    }
}
