//! The plan the tables run under: one tool of each kind, and what people and services are called.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use leasehold_execution::{
    AfterAnswer, Limits, Plan, PlannedApproval, PlannedTool, Review, Reviewed,
};
use leasehold_models::Price;
use leasehold_types::{
    Answerer, Digest, Effect, Money, PriceSource, Principal, PrincipalKind, Random, SpendEntry,
    TokenUsage,
};

/// Takes objects only, puts keys in order, and asks where `n` is over 50 or missing.
#[derive(Debug)]
struct Objects;

impl Review for Objects {
    fn review(&self, raw: &str) -> Result<Reviewed, String> {
        let object: BTreeMap<String, serde_json::Value> =
            serde_json::from_str(raw).map_err(|_| "invalid input: $: not an object".to_owned())?;
        let canonical = serde_json::to_string(&object).unwrap();
        let digest = Digest::of(canonical.as_bytes());
        Ok(Reviewed { canonical, digest })
    }

    fn asks(&self, reviewed: &Reviewed) -> bool {
        let value: serde_json::Value = serde_json::from_str(&reviewed.canonical).unwrap();
        value["n"].as_u64().is_none_or(|n| n > 50)
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Random for Counter {
    fn next_u64(&self) -> u64 {
        self.0
            .fetch_add(1, Ordering::Relaxed)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

fn tool(name: &str, effect: Effect) -> PlannedTool {
    PlannedTool {
        definition: Digest::of(name.as_bytes()),
        effect,
        exclusive: false,
        reserve: Money::ZERO,
        attempts_max: 3,
        approval: None,
        review: Arc::new(Objects),
    }
}

/// `read`, `pure`, `idem` (an hour), `write`; `alone` is exclusive, `paid` and `charge` reserve 10, `refund` asks its role, `own` the owner.
pub(crate) fn plan() -> Plan {
    let hour = Effect::idempotent(Duration::from_secs(3_600));
    let asks = |answerer| {
        let role = "boss-channel".to_owned();
        Some(PlannedApproval { role, answerer })
    };
    let ten = Money::from_micros(10);
    let tools = [
        ("read-tool", tool("read", Effect::Read)),
        ("pure-tool", tool("pure", Effect::Pure)),
        ("idem-tool", tool("idem", hour)),
        ("write-tool", tool("write", Effect::Write)),
        (
            "alone-tool",
            PlannedTool {
                exclusive: true,
                ..tool("alone", Effect::Read)
            },
        ),
        (
            "paid-tool",
            PlannedTool {
                reserve: ten,
                ..tool("paid", Effect::Read)
            },
        ),
        (
            "charge-tool",
            PlannedTool {
                reserve: ten,
                ..tool("charge", hour)
            },
        ),
        (
            "refund-tool",
            PlannedTool {
                approval: asks(Answerer::Channel),
                ..tool("refund", Effect::Write)
            },
        ),
        (
            "own-tool",
            PlannedTool {
                approval: asks(Answerer::ThreadOwner),
                ..tool("own", Effect::Read)
            },
        ),
    ];
    Plan {
        workflow: "support".to_owned(),
        agent: "support".to_owned(),
        config_hash: Digest::of(b"config"),
        model: "scripted/script".to_owned(),
        price: Some(Price::FREE),
        max_output_tokens: 100,
        fixed_bytes: 10,
        tools: tools.map(|(name, tool)| (name.to_owned(), tool)).into(),
        limits: Limits::default(),
        budget: None,
        after_answer: AfterAnswer::End,
        approval_expires_after: None,
    }
}

pub(crate) fn person(id: &str) -> Principal {
    Principal::new(id, PrincipalKind::Person)
}

pub(crate) fn spend(micros: u64) -> SpendEntry {
    SpendEntry {
        caller: "tool:t".to_owned(),
        service: "service".to_owned(),
        tokens: TokenUsage::default(),
        money: Money::from_micros(micros),
        source: PriceSource::Declared,
    }
}
