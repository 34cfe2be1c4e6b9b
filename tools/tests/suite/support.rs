//! A clock that a test moves, a frame of a real call, and a future polled by hand.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use leasehold_tools::{
    Arguments, BoundTool, CallFacts, CallFrame, CallOutcome, Services, Tool, bind, invoke,
};
use leasehold_types::{
    BoxFuture, CallId, Clock, ComponentName, Epoch, ExecutionId, FencingToken, FrameIndex,
    IdempotencyKey, Owner, OwnershipGuard, Permit, Signal, StepIntent, Tenant, ThreadId, Timestamp,
    TreeId, Uptime,
};

/// A clock that stands still until a test moves it.
#[derive(Debug, Clone, Default)]
pub(crate) struct HandClock(Arc<Mutex<u64>>);

impl HandClock {
    pub(crate) fn advance(&self, by: Duration) {
        *self.0.lock().unwrap() += u64::try_from(by.as_micros()).unwrap();
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(0).plus(self.uptime().since(Uptime::from_micros(0)))
    }

    fn uptime(&self) -> Uptime {
        Uptime::from_micros(*self.0.lock().unwrap())
    }

    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        let (clock, until) = (self.clone(), self.uptime().plus(after));
        // Tests poll by hand, so nobody has to be woken.
        Box::pin(std::future::poll_fn(move |_| {
            match clock.uptime() >= until {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        }))
    }
}

pub(crate) fn facts() -> CallFacts {
    let execution_id = ExecutionId::root(TreeId::from_u128(7));
    let call_id = CallId::new("call-1");
    CallFacts {
        execution_id,
        thread_id: ThreadId::new("thread-1"),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        workflow: ComponentName::new("shop").unwrap(),
        agent: ComponentName::new("support").unwrap(),
        idempotency_key: IdempotencyKey::new(execution_id, "support", 1, None, &call_id),
        call_id,
        attempt: 1,
    }
}

pub(crate) fn permit() -> Permit {
    let token = FencingToken {
        tree: TreeId::from_u128(7),
        epoch: Epoch::new(1),
    };
    let guard = OwnershipGuard::claimed(token, FrameIndex::FIRST, None, Signal::root());
    let step = StepIntent {
        frame: FrameIndex::FIRST,
        needs: Duration::ZERO,
    };
    guard.permit(Uptime::from_micros(0), step).unwrap()
}

#[track_caller]
pub(crate) fn bound(tool: impl Tool) -> BoundTool {
    bind(Arc::new(tool), &Services::new()).unwrap()
}

/// Counts how often a call asked to be polled.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A call under way, with what a test needs to disturb it.
pub(crate) struct Running<'a> {
    pub(crate) clock: HandClock,
    pub(crate) signal: Signal,
    wakes: Arc<Wakes>,
    future: BoxFuture<'a, CallOutcome>,
}

impl<'a> Running<'a> {
    /// Makes the call; nothing is polled yet.
    pub(crate) fn new(tool: &'a BoundTool, arguments: impl Into<Arguments<'a>>) -> Self {
        Self::framed(tool, arguments, |frame| frame)
    }

    pub(crate) fn framed(
        tool: &'a BoundTool,
        arguments: impl Into<Arguments<'a>>,
        change: impl FnOnce(CallFrame) -> CallFrame,
    ) -> Self {
        let (clock, signal) = (HandClock::default(), Signal::root());
        let frame = CallFrame::new(facts(), &signal, Arc::new(clock.clone()));
        let future = invoke(permit(), tool, arguments, change(frame));
        Self {
            clock,
            signal,
            wakes: Arc::default(),
            future,
        }
    }

    pub(crate) fn poll(&mut self) -> Poll<CallOutcome> {
        let waker = Waker::from(self.wakes.clone());
        let mut context = Context::from_waker(&waker);
        Pin::new(&mut self.future).poll(&mut context)
    }

    /// How often the call asked to be polled again.
    pub(crate) fn wakes(&self) -> usize {
        self.wakes.0.load(Ordering::Relaxed)
    }

    #[track_caller]
    pub(crate) fn is_pending(&mut self) {
        assert!(self.poll().is_pending(), "the call is not over");
    }

    #[track_caller]
    pub(crate) fn ended(&mut self) -> CallOutcome {
        match self.poll() {
            Poll::Ready(outcome) => outcome,
            Poll::Pending => panic!("the call is not over"),
        }
    }
}

/// The text a model reads of a call that ends at once.
#[track_caller]
pub(crate) fn text_of(tool: &BoundTool, arguments: &str) -> String {
    Running::new(tool, arguments).ended().end.text()
}
