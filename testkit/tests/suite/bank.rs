//! An application for tests: a bank that notes what reaches it, and an agent with a tool of each kind.

use std::future::pending;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use leasehold::prelude::*;
use leasehold_types::Signal;

/// What reached the bank: whatever it knows a key of takes effect once.
#[derive(Debug, Default)]
pub(crate) struct Bank {
    requests: Mutex<Vec<(String, u32)>>,
}

impl Bank {
    fn request(&self, key: &str, cents: u32) {
        self.requests.lock().unwrap().push((key.to_owned(), cents));
    }

    /// The amounts of all requests, repeats included, in order.
    pub(crate) fn requests(&self) -> Vec<u32> {
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|(_, cents)| *cents).collect()
    }

    /// The different keys that were sent, in order.
    pub(crate) fn keys(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let mut keys = Vec::new();
        for (key, _) in requests.iter() {
            if !keys.contains(key) {
                keys.push(key.clone());
            }
        }
        keys
    }
}

/// Fails as often as it is told, then no more.
#[derive(Debug, Default)]
pub(crate) struct Luck(pub(crate) AtomicU32);

/// Whether a future of a tool was dropped, and the signal that its call was given.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) dropped: AtomicU32,
    pub(crate) signal: Mutex<Option<Signal>>,
}

/// Open, unless a test holds it closed.
#[derive(Debug, Default)]
pub(crate) struct Gate(Mutex<Option<Receiver<()>>>);

impl Gate {
    /// Closes it for one that comes.
    pub(crate) fn closed(&self) -> Closed {
        let (sender, receiver) = channel();
        *self.0.lock().unwrap() = Some(receiver);
        Closed(sender)
    }

    fn pass(&self) {
        let closed = self.0.lock().unwrap().take();
        if let Some(closed) = closed {
            // A test that ended opens it too.
            let _opened = closed.recv();
        }
    }
}

/// A closed gate, opened when dropped.
#[derive(Debug)]
pub(crate) struct Closed(Sender<()>);

impl Closed {
    pub(crate) fn open(self) {
        drop(self.0);
    }
}

/// An amount.
#[dto]
pub(crate) struct Payment {
    /// Cents.
    #[dto(range = 1..=1_000)]
    pub(crate) cents: u32,
}

/// Approves payments.
#[role(approves = Payment, answered_by = channel)]
pub(crate) struct PaymentApproval;

/// Pays, once for each key, if somebody approves.
#[tool(effect = idempotent(days(7)), approval = PaymentApproval)]
pub(crate) async fn pay(
    Input(payment): Input<Payment>,
    bank: Dep<Bank>,
    luck: Dep<Luck>,
    call: CallContext,
) -> ToolResult<PlainText> {
    bank.request(call.idempotency_key().as_str(), payment.cents);
    let left = luck.0.load(Ordering::SeqCst);
    if left > 0 {
        luck.0.store(left - 1, Ordering::SeqCst);
        return Err(ToolError::new("the bank is busy").retryable());
    }
    Ok(format!("paid {}", payment.cents).into())
}

/// Pays, once for each key.
#[tool(effect = idempotent(days(7)))]
pub(crate) async fn settle(
    Input(payment): Input<Payment>,
    bank: Dep<Bank>,
    luck: Dep<Luck>,
    call: CallContext,
) -> ToolResult<PlainText> {
    pay::call(Input(payment), bank, luck, call).await
}

/// Wires money, each time it is called.
#[tool(effect = write)]
pub(crate) async fn wire(
    Input(payment): Input<Payment>,
    bank: Dep<Bank>,
    call: CallContext,
) -> ToolResult<PlainText> {
    bank.request(call.idempotency_key().as_str(), payment.cents);
    Ok(format!("wired {}", payment.cents).into())
}

/// Wires money from a thread of its own.
#[tool(effect = idempotent(days(7)))]
pub(crate) fn wire_slowly(
    Input(payment): Input<Payment>,
    bank: Dep<Bank>,
    call: CallContext,
) -> ToolResult<PlainText> {
    bank.request(call.idempotency_key().as_str(), payment.cents);
    Ok(format!("wired {}", payment.cents).into())
}

/// Notes that the future it is in was dropped.
struct Dropped(Dep<Seen>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// Never ends.
#[tool(effect = read, timeout = seconds(10))]
pub(crate) async fn hang(seen: Dep<Seen>, call: CallContext) -> ToolResult<PlainText> {
    *seen.signal.lock().unwrap() = Some(call.signal().clone());
    let _dropped = Dropped(seen);
    pending().await
}

/// Blocks its thread until the gate opens.
#[tool(effect = read, timeout = seconds(10))]
pub(crate) fn block(gate: Dep<Gate>, seen: Dep<Seen>) -> ToolResult<PlainText> {
    gate.pass();
    drop(Dropped(seen));
    Ok("open".into())
}

/// Panics.
#[tool(effect = read)]
pub(crate) async fn break_down() -> ToolResult<PlainText> {
    panic!("secret of the house")
}

pub(crate) fn teller() -> Agent {
    Agent::new("teller")
        .model("anthropic/claude-sonnet-5")
        .instructions("Move money.")
        .tool(pay)
        .tool(settle)
        .tool(wire)
        .tool(wire_slowly)
        .tool(hang)
        .tool(block)
        .tool(break_down)
}

pub(crate) fn app() -> App {
    app_of(teller())
}

pub(crate) fn app_of(agent: Agent) -> App {
    App::new("bank")
        .provide(Bank::default())
        .provide(Luck::default())
        .provide(Seen::default())
        .provide(Gate::default())
        .channel::<PaymentApproval>(AutoReject)
        .agent(agent)
}

pub(crate) fn cents(cents: u32) -> Payment {
    Payment { cents }
}
