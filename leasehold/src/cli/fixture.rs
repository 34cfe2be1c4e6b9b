//! Journals with fixed ids and times, for tests of what is shown.

use std::sync::Arc;

use leasehold_execution::machine::Machine;
use leasehold_execution::record::{
    AnsweredCall, AnswererWire, CallBinding, CallFinished, CallIntended, CallPlan, CallUncertain,
    ClaimCause, Claimed, Ended, FinishKind, IntentCause, ModelAnswered, ModelIntended, Outcome,
    PauseOpened, PauseResolved, PauseSent, PauseSubject, Place, Resolution, SendOutcome, Started,
};
use leasehold_execution::spill::spill;
use leasehold_execution::{AfterAnswer, Entry, Limits, Plan, Record, write_entries};
use leasehold_journal::{AppendOutcome, Blobs, Frame, MemoryStore, Tail, Writer, append};
use leasehold_types::{
    BootId, CallId, Digest, Effect, ExecutionId, InstanceId, Money, Owner, PauseId, PriceSource,
    Principal, PrincipalKind, Random, SpendEntry, Tenant, Timestamp, TokenUsage, TreeId,
};

/// 2026-12-01 03:21:55 UTC.
pub(super) const START: Timestamp = Timestamp::from_millis(1_796_095_315_000);

#[derive(Debug)]
pub(super) struct Fixed;
impl Random for Fixed {
    fn next_u64(&self) -> u64 {
        7
    }
}

pub(super) fn person(name: &str) -> Principal {
    Principal::new(name, PrincipalKind::LocalUser)
}

pub(super) fn usd(micros: u64) -> Money {
    Money::from_micros(micros)
}

/// One tree that is being written.
pub(super) struct Tree {
    store: Arc<MemoryStore>,
    machine: Machine,
    writer: Writer,
    last: Option<Frame>,
    tail: Tail,
    pub(super) now: Timestamp,
    pub(super) execution: ExecutionId,
}

impl Tree {
    /// A tree that was started `after_s` seconds after [`START`].
    pub(super) async fn start(
        store: &Arc<MemoryStore>,
        number: u128,
        after_s: u64,
        input: &str,
    ) -> Self {
        let now = START.plus(std::time::Duration::from_secs(after_s));
        let millis = u128::from(now.as_millis().unsigned_abs());
        let tree = TreeId::from_u128((millis << 80) | (number * 0x1_2345_6789_abcd));
        let plan = Plan {
            workflow: "support".to_owned(),
            agent: "support".to_owned(),
            config_hash: Digest::of(b"configuration"),
            model: "anthropic/claude-sonnet-5".to_owned(),
            price: None,
            max_output_tokens: 0,
            fixed_bytes: 0,
            tools: [].into(),
            limits: Limits::default(),
            budget: None,
            after_answer: AfterAnswer::End,
            approval_expires_after: None,
        };
        let absent = Tail::at(tree, 0);
        let mut made = Self {
            store: Arc::clone(store),
            machine: Machine::new(tree, Arc::new(plan)),
            writer: Writer::starting(tree, Tenant::default(), absent, &Fixed),
            last: None,
            tail: absent,
            now,
            execution: ExecutionId::root(tree),
        };
        let started = Started {
            workflow: "support".to_owned(),
            agent: "support".to_owned(),
            input: input.to_owned(),
            config_hash: Digest::of(b"configuration"),
            owner: Owner::new("dana"),
            thread: None,
            continues: None,
            started_by: person("dana"),
            budget: Some(usd(1_500_000)),
            idempotency_key: None,
            parent: None,
            trace: None,
        };
        made.frame(0, vec![Record::Started(Box::new(started))])
            .await;
        made
    }

    /// A frame with these records, `after_ms` later.
    pub(super) async fn frame(&mut self, after_ms: u64, records: Vec<Record>) {
        self.now = self.now.plus(std::time::Duration::from_millis(after_ms));
        let at = self.now;
        let entries: Vec<Entry> = records
            .into_iter()
            .map(|record| Entry {
                execution: 0,
                at,
                record,
            })
            .collect();
        for entry in &entries {
            self.machine.apply(entry).unwrap();
        }
        let body = write_entries(&entries).unwrap();
        self.raw_frame(&body).await;
    }

    /// A frame with this body, whatever it says.
    pub(super) async fn raw_frame(&mut self, body: &[u8]) {
        let spilled = spill(body.to_vec()).unwrap();
        for blob in spilled.blobs {
            self.store
                .put_blob(self.execution.tree(), blob)
                .await
                .unwrap();
        }
        let summary = self.machine.summary();
        let sealed = self.writer.seal(summary, &spilled.body).unwrap();
        let frame = Frame::read(&sealed.bytes).unwrap();
        let outcome = append(&*self.store, self.tail, sealed).await;
        let AppendOutcome::Acked(tail) = outcome else {
            panic!("{outcome:?}");
        };
        self.writer.acked(tail);
        (self.tail, self.last) = (tail, Some(frame));
    }

    /// Somebody claims it, and writes these records in the same frame.
    pub(super) async fn claim(
        &mut self,
        after_ms: u64,
        cause: ClaimCause,
        instance: &str,
        records: Vec<Record>,
    ) {
        self.writer = Writer::claiming(self.last.as_ref().unwrap(), self.tail, &Fixed);
        let epoch = self.writer.token().epoch;
        let claimed = Record::Claimed(Claimed {
            epoch,
            instance: InstanceId::new(instance),
            boot: BootId::from_u128(u128::from(epoch.get())),
            cause,
            lease_revision: None,
            alone: false,
        });
        let records = std::iter::once(claimed).chain(records).collect();
        self.frame(after_ms, records).await;
    }

    pub(super) async fn rest(&mut self, after_ms: u64) {
        let checkpoint = self.machine.checkpoint();
        self.frame(after_ms, vec![Record::Rested(Box::new(checkpoint))])
            .await;
    }

    pub(super) async fn end(&mut self, after_ms: u64, mut records: Vec<Record>, outcome: Outcome) {
        let mut ahead = self.machine.clone();
        for record in &records {
            let at = self.now;
            let record = record.clone();
            ahead
                .apply(&Entry {
                    execution: 0,
                    at,
                    record,
                })
                .unwrap();
        }
        let (settled, possible, tokens) = ahead.spent();
        records.push(Record::Ended(Box::new(Ended {
            outcome,
            settled,
            possible,
            tokens,
        })));
        self.frame(after_ms, records).await;
    }
}

pub(super) fn asks(turn: u32, attempt: u32) -> Record {
    Record::ModelIntended(ModelIntended {
        place: Place {
            node: "support".to_owned(),
            visit: 1,
            item: None,
        },
        turn,
        attempt,
        model: "anthropic/claude-sonnet-5".to_owned(),
        reserved: usd(12_000),
        tools_off: false,
    })
}

pub(super) fn answers(turn: u32, attempt: u32, text: &str, calls: Vec<AnsweredCall>) -> Record {
    Record::ModelAnswered(Box::new(ModelAnswered {
        turn,
        attempt,
        text: text.to_owned(),
        stop: if calls.is_empty() {
            "end_turn"
        } else {
            "tool_use"
        }
        .to_owned(),
        calls,
        spend: SpendEntry {
            caller: "agent:support".to_owned(),
            service: "anthropic/claude-sonnet-5".to_owned(),
            tokens: TokenUsage {
                input: 1_812,
                output: 40,
                cached: 1_024,
            },
            money: usd(3_400),
            source: PriceSource::PriceBook,
        },
        echo: None,
        repair: None,
    }))
}

pub(super) fn call(
    id: &str,
    tool: &str,
    arguments: &str,
    effect: Effect,
    plan: CallPlan,
) -> AnsweredCall {
    AnsweredCall {
        call_id: CallId::new(id),
        provider_id: None,
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
        plan,
        bound: Some(CallBinding {
            definition: Digest::of(tool.as_bytes()),
            arguments: Digest::of(arguments.as_bytes()),
            effect,
            reserved: usd(2_000),
        }),
    }
}

pub(super) fn refund(id: &str, plan: CallPlan) -> AnsweredCall {
    let arguments = r#"{"cents":2000,"order":"A-1042"}"#;
    let effect = Effect::Idempotent {
        retention_s: 604_800,
    };
    call(id, "refund-card-tool", arguments, effect, plan)
}

pub(super) fn opens(number: u32, id: &str) -> Record {
    Record::PauseOpened(Box::new(PauseOpened {
        number,
        pause_id: PauseId::from_u128(0x5ec4e7),
        subject: PauseSubject::Approval {
            call_id: CallId::new(id),
            role: "refund-approval-channel".to_owned(),
        },
        answerer: AnswererWire::Channel,
        digest: Digest::of(b"what is asked"),
        expires_at: None,
    }))
}

pub(super) fn sent(number: u32) -> Record {
    Record::PauseSent(PauseSent {
        number,
        attempt: 1,
        outcome: SendOutcome::Sent,
    })
}

pub(super) fn approved(number: u32, by: &str) -> Record {
    Record::PauseResolved(Box::new(PauseResolved {
        number,
        resolution: Resolution::Approved {
            override_arguments: None,
            arguments_digest: Digest::of(b"arguments"),
        },
        answered_by: Some(person(by)),
        letter: None,
    }))
}

pub(super) fn intends(id: &str, attempt: u32, cause: IntentCause) -> Record {
    Record::CallIntended(CallIntended {
        call_id: CallId::new(id),
        attempt,
        cause,
        not_before: None,
        previous_error: None,
        previous_kind: None,
        spend: vec![],
    })
}

pub(super) fn finishes(id: &str, attempt: u32, kind: FinishKind, text: &str, paid: u64) -> Record {
    let spend = SpendEntry {
        caller: "tool:refund-card-tool".to_owned(),
        service: "card-network".to_owned(),
        tokens: TokenUsage::default(),
        money: usd(paid),
        source: PriceSource::Declared,
    };
    Record::CallFinished(Box::new(CallFinished {
        call_id: CallId::new(id),
        attempt,
        kind,
        text: text.to_owned(),
        whole_bytes: None,
        whole: None,
        spend: if paid == 0 { vec![] } else { vec![spend] },
        fatal: false,
    }))
}

/// A refund that waited for its approval, whose owner then died in the middle of the call, and that was paid once.
pub(super) async fn refunded(store: &Arc<MemoryStore>) -> ExecutionId {
    let mut tree = waiting_at(store, 1, 0).await;
    let decided = vec![
        approved(1, "omar"),
        intends("toolu_01", 1, IntentCause::Approved),
    ];
    tree.claim(134_000, ClaimCause::Wake, "shop-2", decided)
        .await;
    let again = vec![intends("toolu_01", 2, IntentCause::Recovered)];
    tree.claim(21_400, ClaimCause::Takeover, "shop-1", again)
        .await;
    let receipt = "Refunded 20.00 USD to the card ending in 4242, receipt R-77.";
    tree.frame(
        812,
        vec![
            finishes("toolu_01", 2, FinishKind::Ok, receipt, 2_000),
            asks(2, 1),
        ],
    )
    .await;
    let answer = "Your refund of 20.00 USD for order A-1042 is on its way.\n\nReceipt: R-77";
    let outcome = Outcome::Completed {
        answer: answer.to_owned(),
    };
    tree.end(1_650, vec![answers(2, 1, answer, vec![])], outcome)
        .await;
    tree.execution
}

async fn waiting_at(store: &Arc<MemoryStore>, number: u128, after_s: u64) -> Tree {
    let mut tree = Tree::start(store, number, after_s, "Refund A-1042, $20.").await;
    tree.claim(4, ClaimCause::Start, "shop-1", vec![asks(1, 1)])
        .await;
    let said = "The policy allows this refund.";
    let policy = call(
        "toolu_00",
        "refund-policy-tool",
        "{}",
        Effect::Read,
        CallPlan::Run,
    );
    let calls = vec![policy, refund("toolu_01", CallPlan::Ask)];
    tree.frame(
        2_700,
        vec![answers(1, 1, said, calls), opens(1, "toolu_01")],
    )
    .await;
    tree.frame(
        90,
        vec![finishes(
            "toolu_00",
            1,
            FinishKind::Ok,
            "Refunds within 30 days.",
            0,
        )],
    )
    .await;
    tree.frame(16, vec![sent(1)]).await;
    tree.rest(2).await;
    tree
}

/// A refund that waits for its approval.
pub(super) async fn waiting(store: &Arc<MemoryStore>) -> ExecutionId {
    waiting_at(store, 2, 600).await.execution
}

/// A call that was cut off and that nobody may repeat by himself.
pub(super) async fn uncertain(store: &Arc<MemoryStore>) -> ExecutionId {
    let mut tree = Tree::start(store, 3, 1_200, "Tell the customer.").await;
    tree.claim(4, ClaimCause::Start, "shop-1", vec![asks(1, 1)])
        .await;
    let mail = r#"{"text":"Hello","to":"dana@shop.example"}"#;
    let calls = vec![call(
        "toolu_07",
        "send-mail-tool",
        mail,
        Effect::Write,
        CallPlan::Run,
    )];
    tree.frame(1_000, vec![answers(1, 1, "", calls)]).await;
    let why = Record::CallUncertain(CallUncertain {
        call_id: CallId::new("toolu_07"),
        why: "its owner was lost before the outcome was journaled".to_owned(),
        spend: vec![],
    });
    let opened = Record::PauseOpened(Box::new(PauseOpened {
        number: 1,
        pause_id: PauseId::from_u128(0x5ec4e8),
        subject: PauseSubject::Uncertain {
            call_id: CallId::new("toolu_07"),
        },
        answerer: AnswererWire::Channel,
        digest: Digest::of(b"what is uncertain"),
        expires_at: None,
    }));
    tree.claim(16_000, ClaimCause::Takeover, "shop-2", vec![why, opened])
        .await;
    tree.rest(1).await;
    tree.execution
}

/// A model that failed for good.
pub(super) async fn failed(store: &Arc<MemoryStore>) -> ExecutionId {
    use leasehold_execution::record::ModelFailed;
    let mut tree = Tree::start(store, 4, 1_800, "Hello?").await;
    tree.claim(4, ClaimCause::Start, "shop-1", vec![asks(1, 1)])
        .await;
    let error = "[model.refused] 401: the key is not valid";
    let gave_up = Record::ModelFailed(ModelFailed {
        turn: 1,
        attempt: 1,
        error: error.to_owned(),
        may_be_billed: false,
        retry_at: None,
    });
    let outcome = Outcome::Failed {
        error: error.to_owned(),
    };
    tree.end(300, vec![gave_up], outcome).await;
    tree.execution
}

/// A model that runs.
pub(super) async fn running(store: &Arc<MemoryStore>) -> ExecutionId {
    let mut tree = Tree::start(store, 5, 2_400, "How are you?").await;
    tree.claim(4, ClaimCause::Start, "shop-1", vec![asks(1, 1)])
        .await;
    tree.execution
}

/// Texts that try to move the cursor, to hide, to forge lines.
pub(super) async fn hostile(store: &Arc<MemoryStore>) -> ExecutionId {
    let forged =
        "go\u{1b}[2J\u{1b}]52;c;cm0=\u{7}\r\n2026-12-01 approved by root\u{202e}\u{200b}\u{e0041}";
    let mut tree = Tree::start(store, 6, 3_000, forged).await;
    tree.claim(4, ClaimCause::Start, "shop-1", vec![asks(1, 1)])
        .await;
    let arguments = serde_json::json!({ forged: forged, "blank": "\n".repeat(5_000) }).to_string();
    let effect = Effect::Idempotent { retention_s: 1 };
    let calls = vec![call(
        "toolu_09",
        "refund-card-tool",
        &arguments,
        effect,
        CallPlan::Ask,
    )];
    tree.frame(1, vec![answers(1, 1, forged, calls), opens(1, "toolu_09")])
        .await;
    tree.frame(1, vec![sent(1)]).await;
    tree.rest(1).await;
    tree.execution
}

/// All of them.
pub(super) async fn all(store: &Arc<MemoryStore>) -> Vec<ExecutionId> {
    vec![
        refunded(store).await,
        waiting(store).await,
        uncertain(store).await,
        failed(store).await,
        running(store).await,
        hostile(store).await,
    ]
}
