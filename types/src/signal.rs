//! Signals: how a call, an execution or a tree learns that it must stop, and why.
//!
//! - SIG-1: a child's signal is aborted whenever its parent's is.
//! - SIG-2: the first reason stays; a later abort changes nothing.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use event_listener::{Event, EventListener};

use crate::ExecutionLeaseLostError;

/// Why a signal was aborted. Its text is what a tool call that was not started reports.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AbortReason {
    /// Somebody cancelled the execution.
    #[error("cancelled by {by}")]
    Cancelled {
        /// Who.
        by: String,
    },
    /// The call's own timer ran out.
    #[error("timed out after {}", written(*after))]
    TimedOut {
        /// The timer's length.
        after: Duration,
    },
    /// The instance lost the tree's lease.
    #[error(transparent)]
    LeaseLost(#[from] ExecutionLeaseLostError),
    /// A budget is exhausted and the siblings were stopped.
    #[error("[budget.exceeded] BudgetExceededError: {0}")]
    BudgetExceeded(String),
    /// The execution ended for another reason while the call ran.
    #[error("stopped: {0}")]
    Stopped(String),
}

/// A duration as the model reads it: whole seconds as `10 s`, else `250 ms`.
fn written(after: Duration) -> String {
    if after.subsec_nanos() == 0 {
        return format!("{} s", after.as_secs());
    }
    format!("{} ms", after.as_millis())
}

/// Tells many holders once, with a reason, that they must stop. Clones share one state.
#[derive(Clone, Default)]
pub struct Signal(Arc<Inner>);

#[derive(Default)]
struct Inner {
    reason: OnceLock<AbortReason>,
    event: Event,
    parent: Option<Signal>,
}

impl Signal {
    /// A signal that nothing above can abort.
    #[must_use]
    pub fn root() -> Self {
        Self::default()
    }

    /// A signal that is aborted with this one, or on its own.
    #[must_use]
    pub fn child(&self) -> Self {
        Self(Arc::new(Inner {
            parent: Some(self.clone()),
            ..Inner::default()
        }))
    }

    /// Aborts this signal and all below it. The first reason stays, that of a signal above too.
    pub fn abort(&self, reason: AbortReason) {
        if !self.is_aborted() && self.0.reason.set(reason).is_ok() {
            self.0.event.notify(usize::MAX);
        }
    }

    /// Why it was aborted, if it was: its own reason first, else the nearest above.
    #[must_use]
    pub fn reason(&self) -> Option<AbortReason> {
        let mut signal = Some(self);
        while let Some(current) = signal {
            if let Some(reason) = current.0.reason.get() {
                return Some(reason.clone());
            }
            signal = current.0.parent.as_ref();
        }
        None
    }

    /// Whether it was aborted.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        let mut signal = Some(self);
        while let Some(current) = signal {
            if current.0.reason.get().is_some() {
                return true;
            }
            signal = current.0.parent.as_ref();
        }
        false
    }

    /// Ends when the signal is aborted, with the reason. May be dropped and asked again at any time.
    pub async fn aborted(&self) -> AbortReason {
        loop {
            // Listen first, look second: an abort between the two wakes the listener.
            let listeners = self.listeners();
            if let Some(reason) = self.reason() {
                return reason;
            }
            FirstOf(listeners).await;
        }
    }

    fn listeners(&self) -> Vec<EventListener> {
        let mut listeners = Vec::with_capacity(4);
        let mut signal = Some(self);
        while let Some(current) = signal {
            listeners.push(current.0.event.listen());
            signal = current.0.parent.as_ref();
        }
        listeners
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal")
            .field("reason", &self.reason())
            .finish()
    }
}

/// Ends with the first listener that is notified.
struct FirstOf(Vec<EventListener>);

impl Future for FirstOf {
    type Output = ();
    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        for listener in &mut self.0 {
            if std::pin::Pin::new(listener).poll(context).is_ready() {
                return std::task::Poll::Ready(());
            }
        }
        std::task::Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn cancelled(by: &str) -> AbortReason {
        AbortReason::Cancelled { by: by.to_owned() }
    }

    // CASE 86
    #[test]
    fn aborting_a_parent_aborts_every_signal_below_it() {
        let tree = Signal::root();
        let call = tree.child().child();
        let mut waiting = pin!(call.aborted());
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        tree.abort(cancelled("dana"));
        assert_eq!(
            waiting.as_mut().poll(&mut context),
            Poll::Ready(cancelled("dana"))
        );
        assert!(call.child().is_aborted(), "SIG-1: made after the abort");
    }

    #[test]
    fn the_first_reason_stays_and_a_child_does_not_abort_its_parent() {
        let parent = Signal::root();
        let child = parent.child();
        child.abort(cancelled("a"));
        child.abort(cancelled("b"));
        parent.abort(cancelled("c"));
        assert_eq!(child.reason(), Some(cancelled("a")), "SIG-2");
        let later = parent.child();
        later.abort(cancelled("d"));
        assert_eq!(
            later.reason(),
            Some(cancelled("c")),
            "SIG-2: the reason above came first"
        );
        assert_eq!(parent.reason(), Some(cancelled("c")));
    }

    #[test]
    fn a_timeout_is_written_in_whole_seconds_or_in_milliseconds() {
        let text = |after| AbortReason::TimedOut { after }.to_string();
        assert_eq!(text(Duration::from_secs(10)), "timed out after 10 s");
        assert_eq!(text(Duration::from_millis(250)), "timed out after 250 ms");
    }
}
