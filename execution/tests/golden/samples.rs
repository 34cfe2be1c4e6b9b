//! One record of each kind with every field set, and one more for each word that its enums have.

use leasehold_execution::record::{
    AnsweredCall, AnswererWire, CallBinding, CallFinished, CallIntended, CallPlan, CallUncertain,
    CancelRequested, Checkpoint, ClaimCause, Claimed, Ended, FinishKind, IntentCause, LateOutcome,
    MessageReceived, ModelAnswered, ModelFailed, ModelIntended, OpenPause, Outcome, Parent,
    PauseOpened, PauseResolved, PauseSent, PauseSubject, Place, Quarantined, Released, Resolution,
    Retried, SendOutcome, Started,
};
use leasehold_execution::{Entry, Record};
use leasehold_types::{
    BootId, CallId, Digest, Effect, Epoch, ExecutionId, InstanceId, Money, Owner, PauseId,
    PriceSource, Principal, PrincipalKind, SpendEntry, Tenant, ThreadId, Timestamp, TokenUsage,
    TreeId,
};

/// The samples of a kind, in the order of its file.
pub(crate) fn of(kind: &str) -> Vec<Entry> {
    let records = match kind {
        "started" => vec![started()],
        "claimed" => claimed(),
        "model_intended" => vec![model_intended()],
        "model_answered" => model_answered(),
        "model_failed" => vec![model_failed()],
        "call_intended" => call_intended(),
        "call_finished" => call_finished(),
        "call_uncertain" => vec![call_uncertain()],
        "pause_opened" => pause_opened(),
        "pause_sent" => pause_sent(),
        "pause_resolved" => pause_resolved(),
        "cancel_requested" => vec![Record::CancelRequested(CancelRequested {
            by: principal(),
            reason: "not needed any more".to_owned(),
        })],
        "message_received" => vec![Record::MessageReceived(MessageReceived {
            number: 3,
            text: "and the other order?".to_owned(),
            by: principal(),
        })],
        "late_outcome" => vec![Record::LateOutcome(LateOutcome {
            call_id: Some(call_id()),
            turn: 2,
            kind: FinishKind::Ok,
            spend: vec![spend()],
        })],
        "rested" => vec![rested()],
        "released" => {
            let reason = "the instance drains".to_owned();
            vec![Record::Released(Released { reason })]
        }
        "quarantined" => {
            let cause = "its worker died 3 times in a row".to_owned();
            vec![Record::Quarantined(Quarantined { cause, deaths: 3 })]
        }
        "retried" => vec![Record::Retried(Retried { by: principal() })],
        "ended" => ended(),
        other => panic!("record kind {other:?} has no sample: write one here"),
    };
    let entry = |record| Entry {
        execution: 0,
        at: Timestamp::from_micros(1_790_000_000_123_456),
        record,
    };
    records.into_iter().map(entry).collect()
}

fn call_id() -> CallId {
    CallId::new("toolu_01:0")
}

fn digest(of: &str) -> Digest {
    Digest::of(of.as_bytes())
}

fn principal() -> Principal {
    Principal {
        id: "dana".to_owned(),
        kind: PrincipalKind::Person,
        tenant: Tenant::new("acme"),
    }
}

fn place() -> Place {
    Place {
        node: "support".to_owned(),
        visit: 2,
        item: Some(7),
    }
}

fn tokens() -> TokenUsage {
    TokenUsage {
        input: 1_200,
        output: 80,
        cached: 1_000,
    }
}

fn spend() -> SpendEntry {
    SpendEntry {
        caller: "tool:refund-card-tool".to_owned(),
        service: "card-network".to_owned(),
        tokens: tokens(),
        money: Money::from_micros(2_000),
        source: PriceSource::Declared,
    }
}

fn started() -> Record {
    Record::Started(Box::new(Started {
        workflow: "desk".to_owned(),
        agent: "support".to_owned(),
        input: "Refund A-1042, $20.\nÄ \u{1f600} \u{202e}".to_owned(),
        config_hash: digest("config"),
        owner: Owner::new("dana"),
        thread: Some(ThreadId::new("thread-9")),
        continues: Some(ExecutionId::root(TreeId::from_u128(8))),
        started_by: principal(),
        budget: Some(Money::from_micros(1_500_000)),
        idempotency_key: Some("order:42".to_owned()),
        parent: Some(Parent {
            execution: 4,
            place: place(),
        }),
        trace: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
    }))
}

fn claimed() -> Vec<Record> {
    let causes = [
        ClaimCause::Takeover,
        ClaimCause::Start,
        ClaimCause::Wake,
        ClaimCause::Restart,
    ];
    let claimed = |cause| {
        Record::Claimed(Claimed {
            epoch: Epoch::new(3),
            instance: InstanceId::new("desk-0"),
            boot: BootId::from_u128(5),
            cause,
            lease_revision: Some(4_711),
            alone: true,
        })
    };
    causes.map(claimed).into()
}

fn model_intended() -> Record {
    Record::ModelIntended(ModelIntended {
        place: place(),
        turn: 2,
        attempt: 1,
        model: "anthropic/claude-sonnet-5".to_owned(),
        reserved: Money::from_micros(60_000),
        tools_off: true,
    })
}

fn answered(plan: CallPlan, effect: Effect) -> AnsweredCall {
    AnsweredCall {
        call_id: call_id(),
        provider_id: Some("toolu_01".to_owned()),
        tool: "refund-card-tool".to_owned(),
        arguments: "{\"order\":\"A-1042\",\"cents\":2000}".to_owned(),
        plan,
        bound: Some(CallBinding {
            definition: digest("definition"),
            arguments: digest("arguments"),
            effect,
            reserved: Money::from_micros(10_000),
        }),
    }
}

fn model_answered() -> Vec<Record> {
    let refuse = CallPlan::Refuse {
        kind: FinishKind::UnknownTool,
        message: "Tool error: unknown tool: x".to_owned(),
    };
    let calls = [
        answered(
            CallPlan::Run,
            Effect::Idempotent {
                retention_s: 604_800,
            },
        ),
        answered(CallPlan::Queue, Effect::Write),
        answered(CallPlan::Ask, Effect::Read),
        answered(refuse, Effect::Pure),
    ];
    let with = |calls: Vec<AnsweredCall>, stop: &str| {
        Record::ModelAnswered(Box::new(ModelAnswered {
            turn: 2,
            attempt: 1,
            text: "I look it up.".to_owned(),
            calls,
            stop: stop.to_owned(),
            spend: spend(),
            echo: Some("{\"thinking\":\"…\"}".to_owned()),
            repair: Some("Your last answer was empty.".to_owned()),
        }))
    };
    vec![with(calls.into(), "tool_calls")]
}

fn model_failed() -> Record {
    Record::ModelFailed(ModelFailed {
        turn: 2,
        attempt: 1,
        error: "[model.overloaded] the provider is overloaded".to_owned(),
        may_be_billed: true,
        retry_at: Some(Timestamp::from_micros(1_790_000_001_000_000)),
    })
}

fn call_intended() -> Vec<Record> {
    let causes = [
        IntentCause::Retry,
        IntentCause::Dequeued,
        IntentCause::Approved,
        IntentCause::Recovered,
    ];
    let intended = |cause| {
        Record::CallIntended(CallIntended {
            call_id: call_id(),
            attempt: 2,
            cause,
            not_before: Some(Timestamp::from_micros(1_790_000_001_000_000)),
            previous_error: Some("Tool error: try again".to_owned()),
            previous_kind: Some(FinishKind::TimedOut),
            spend: vec![spend()],
        })
    };
    causes.map(intended).into()
}

fn call_finished() -> Vec<Record> {
    let kinds = [
        FinishKind::Ok,
        FinishKind::Error,
        FinishKind::TimedOut,
        FinishKind::Panicked,
        FinishKind::InvalidInput,
        FinishKind::InvalidOutput,
        FinishKind::UnknownTool,
        FinishKind::LimitReached,
        FinishKind::BudgetExceeded,
        FinishKind::Rejected,
        FinishKind::Expired,
        FinishKind::Cancelled,
        FinishKind::Undeliverable,
        FinishKind::PolicyDenied,
        FinishKind::Stopped,
        FinishKind::Uncertain,
    ];
    let finished = |kind| {
        Record::CallFinished(Box::new(CallFinished {
            call_id: call_id(),
            attempt: 2,
            kind,
            text: "{\"receipt\":\"r-1\"}".to_owned(),
            whole_bytes: Some(1_048_587),
            whole: Some(digest("whole")),
            spend: vec![spend()],
            fatal: true,
        }))
    };
    kinds.map(finished).into()
}

fn call_uncertain() -> Record {
    Record::CallUncertain(CallUncertain {
        call_id: call_id(),
        why: "its owner was lost before the outcome was journaled".to_owned(),
        spend: vec![spend()],
    })
}

fn pause_opened() -> Vec<Record> {
    let role = "refund-approval-channel".to_owned();
    let call_id = call_id();
    let subjects = [
        (
            PauseSubject::Approval {
                call_id: call_id.clone(),
                role,
            },
            AnswererWire::ThreadOwner,
        ),
        (PauseSubject::Uncertain { call_id }, AnswererWire::Channel),
        (PauseSubject::Input, AnswererWire::ThreadOwner),
    ];
    let opened = |(subject, answerer)| {
        Record::PauseOpened(Box::new(PauseOpened {
            number: 1,
            pause_id: PauseId::from_u128(0x0123_4567_89ab_cdef),
            subject,
            answerer,
            digest: digest("asked"),
            expires_at: Some(Timestamp::from_micros(1_790_003_600_000_000)),
        }))
    };
    subjects.map(opened).into()
}

fn pause_sent() -> Vec<Record> {
    let error = "[channel.unreachable] timed out".to_owned();
    let outcomes = [
        SendOutcome::Failed {
            error: error.clone(),
        },
        SendOutcome::Sent,
        SendOutcome::Undeliverable { error },
    ];
    let sent = |outcome| {
        Record::PauseSent(PauseSent {
            number: 1,
            attempt: 2,
            outcome,
        })
    };
    outcomes.map(sent).into()
}

fn pause_resolved() -> Vec<Record> {
    let resolutions = [
        Resolution::Approved {
            override_arguments: Some("{\"order\":\"A-1042\",\"cents\":1500}".to_owned()),
            arguments_digest: digest("changed"),
        },
        Resolution::Approved {
            override_arguments: None,
            arguments_digest: digest("arguments"),
        },
        Resolution::Rejected {
            reason: "paid last week".to_owned(),
        },
        Resolution::Answered {
            answer: serde_json::json!({"choice": "B", "why": [null, false, 0, ""]}),
        },
        // Every falsy answer is an answer.
        Resolution::Answered {
            answer: serde_json::Value::Null,
        },
        Resolution::Expired,
        Resolution::Cancelled,
    ];
    let resolved = |resolution| {
        Record::PauseResolved(Box::new(PauseResolved {
            number: 1,
            resolution,
            answered_by: Some(principal()),
            letter: Some("letter-1".to_owned()),
        }))
    };
    resolutions.map(resolved).into()
}

fn rested() -> Record {
    let expires_at = Some(Timestamp::from_micros(1_790_003_600_000_000));
    Record::Rested(Box::new(Checkpoint {
        turn: 2,
        model_calls: 3,
        tool_calls: 4,
        settled: Money::from_micros(5_000),
        possible: Money::from_micros(600),
        tokens: tokens(),
        pauses: vec![OpenPause {
            number: 1,
            secret: digest("secret"),
            role: "refund-approval-channel".to_owned(),
            answerer: AnswererWire::Channel,
            digest: digest("asked"),
            expires_at,
        }],
        owner: Owner::new("dana"),
        next_due: expires_at,
    }))
}

fn ended() -> Vec<Record> {
    let error = "[limit.exceeded] LimitExceededError: 12 model calls were made".to_owned();
    let outcomes = [
        Outcome::LimitExceeded {
            error: error.clone(),
            partial: Some("So far: two orders.".to_owned()),
        },
        Outcome::Completed {
            answer: "Done.".to_owned(),
        },
        Outcome::Failed {
            error: error.clone(),
        },
        Outcome::Cancelled {
            by: "dana".to_owned(),
            reason: "enough".to_owned(),
        },
        Outcome::BudgetExceeded { error },
    ];
    let ended = |outcome| {
        Record::Ended(Box::new(Ended {
            outcome,
            settled: Money::from_micros(5_000),
            possible: Money::from_micros(600),
            tokens: tokens(),
        }))
    };
    outcomes.map(ended).into()
}
