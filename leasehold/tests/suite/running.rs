//! A whole application that runs over the embedded store: asked, decided by a rule, answered by the thread's owner.

use std::time::Duration;

use leasehold::prelude::*;
use leasehold::{
    Ask, Channel, ChannelError, DecisionReply, PauseTarget, RunError, Runtime, Scripted, Sent,
    StartRequest, Turn, Verdict,
};
use leasehold_actors::load;
use leasehold_cluster::Config;
use leasehold_execution::Record;
use leasehold_execution::record::Outcome;
use leasehold_types::{
    BoxFuture, ExecutionId, Owner, PauseRef, Principal, PrincipalKind, Tenant, TreeState,
    TreeSummary,
};
use serde_json::json;

use crate::support::{Refund, RefundApproval, agent, refund_card, send_parcel, shop};

fn desk(script: impl IntoIterator<Item = Turn>) -> App {
    App::new("shop")
        .model("scripted/script", Scripted::new(script))
        .agent(agent("desk").tool(refund_card).tool(send_parcel))
}

fn refund() -> Turn {
    Turn::call("refund-card-tool", &json!({"order": "A-1", "cents": 100}))
}

fn request(agent: &str) -> StartRequest {
    StartRequest {
        agent: agent.to_owned(),
        input: "go".to_owned(),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        thread: None,
        started_by: Principal::new("dana", PrincipalKind::Person),
        idempotency_key: None,
    }
}

struct World {
    _directory: tempfile::TempDir,
    config: Config,
}

impl World {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = Config::at(directory.path().join("store")).unwrap();
        Self {
            _directory: directory,
            config,
        }
    }

    async fn open(&self, app: &App) -> Runtime {
        Runtime::open(app, &self.config).await.unwrap()
    }
}

async fn reaches(runtime: &Runtime, execution: ExecutionId, state: TreeState) -> TreeSummary {
    let node = runtime.node();
    node.wait_for(execution.tree(), |summary| summary.state == state)
        .await
        .unwrap()
}

async fn answer(runtime: &Runtime, execution: ExecutionId) -> String {
    reaches(runtime, execution, TreeState::Ended).await;
    let store = runtime.instance().store();
    let loaded = load(&**store, execution.tree()).await.unwrap();
    let ended = loaded.entries().find_map(|entry| match &entry.record {
        Record::Ended(ended) => Some(ended.outcome.clone()),
        _ => None,
    });
    match ended {
        Some(Outcome::Completed { answer }) => answer,
        other => panic!("{other:?}"),
    }
}

/// What the tools answered, as the model read it.
async fn results(runtime: &Runtime, execution: ExecutionId) -> Vec<String> {
    let store = runtime.instance().store();
    let loaded = load(&**store, execution.tree()).await.unwrap();
    let texts = loaded.entries().filter_map(|entry| match &entry.record {
        Record::CallFinished(finished) => Some(finished.text.clone()),
        _ => None,
    });
    texts.collect()
}

async fn decide(
    runtime: &Runtime,
    execution: ExecutionId,
    by: &str,
    verdict: Verdict,
) -> DecisionReply {
    let pause = PauseRef {
        execution,
        number: 1,
    };
    let by = Principal::new(by, PrincipalKind::Person);
    let wait = Duration::from_secs(60);
    let target = PauseTarget::Reference(pause);
    runtime
        .node()
        .decide(target, by, verdict, None, wait)
        .await
        .unwrap()
}

const APPROVE: Verdict = Verdict::Approve {
    override_arguments: None,
};

// CONTRACT P1, P3, A16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_answer_without_a_pause_and_the_model_reads_what_they_decided() {
    let world = World::new();
    let approves = desk([refund(), Turn::say("Paid.")]).channel::<RefundApproval>(AutoApprove);
    let runtime = world.open(&approves).await;
    let execution = runtime.node().start(request("desk")).await.unwrap();
    assert_eq!(answer(&runtime, execution).await, "Paid.");
    assert_eq!(
        results(&runtime, execution).await,
        [r#"{"text":"paid 100 for A-1"}"#]
    );
    runtime.close().await;
    let rejects = desk([refund(), Turn::say("No.")]).channel::<RefundApproval>(AutoReject);
    let runtime = world.open(&rejects).await;
    let execution = runtime.node().start(request("desk")).await.unwrap();
    assert_eq!(answer(&runtime, execution).await, "No.");
    let told = results(&runtime, execution).await;
    assert_eq!(told.len(), 1);
    assert!(
        told[0].ends_with("rejected by auto-reject: the call was not made"),
        "{told:?}"
    );
    runtime.close().await;
}

/// A rule of the program's own: small refunds need nobody.
#[derive(Debug)]
struct Small;

impl Channel for Small {
    fn name(&self) -> &'static str {
        "small-refunds"
    }

    fn send(&self, ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        Box::pin(async move {
            let refund: Refund = ask.input()?;
            Ok(match refund.cents {
                ..=100 => Sent::Decided(APPROVE),
                _ => Sent::AwaitReply,
            })
        })
    }
}

// CONTRACT P1, P3
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_of_the_programs_own_reads_typed_arguments_and_decides_or_asks() {
    let world = World::new();
    let large = Turn::call("refund-card-tool", &json!({"order": "A-2", "cents": 101}));
    let app = desk([refund(), large]).channel::<RefundApproval>(Small);
    let runtime = world.open(&app).await;
    let execution = runtime.node().start(request("desk")).await.unwrap();
    let summary = reaches(&runtime, execution, TreeState::Resting).await;
    assert_eq!(summary.pauses.len(), 1);
    assert_eq!(
        summary.pauses[0].number, 2,
        "the first was decided by the rule"
    );
    let paid = r#"{"text":"paid 100 for A-1"}"#;
    assert_eq!(results(&runtime, execution).await, [paid]);
    runtime.close().await;
}

// CONTRACT P1, P6, R10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_waits_on_the_terminal_is_decided_after_a_restart() {
    let world = World::new();
    let app = desk([refund(), Turn::say("Paid.")]).channel::<RefundApproval>(Terminal);
    let runtime = world.open(&app).await;
    let execution = runtime.node().start(request("desk")).await.unwrap();
    let summary = reaches(&runtime, execution, TreeState::Resting).await;
    assert_eq!(summary.pauses[0].role, "refund-approval-channel");
    runtime.close().await;
    let runtime = world.open(&app).await;
    assert_eq!(
        decide(&runtime, execution, "boss", APPROVE).await,
        DecisionReply::Counted
    );
    assert_eq!(answer(&runtime, execution).await, "Paid.");
    runtime.close().await;
}

// CONTRACT P1, P5
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_role_of_the_threads_owner_is_listed_and_answered_by_the_owner_alone() {
    let world = World::new();
    let parcel = Turn::call("send-parcel-tool", &json!({"to": "Bern"}));
    let app = desk([parcel, Turn::say("Sent.")]).channel::<RefundApproval>(Terminal);
    let runtime = world.open(&app).await;
    let execution = runtime.node().start(request("desk")).await.unwrap();
    let summary = reaches(&runtime, execution, TreeState::Resting).await;
    assert_eq!(summary.pauses[0].role, "parcel-confirmation-channel");
    let stranger = decide(&runtime, execution, "eve", APPROVE).await;
    assert_eq!(stranger, DecisionReply::NotAllowed);
    assert_eq!(
        decide(&runtime, execution, "dana", APPROVE).await,
        DecisionReply::Counted
    );
    assert_eq!(answer(&runtime, execution).await, "Sent.");
    runtime.close().await;
}

// CONTRACT A16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_that_converses_waits_for_what_the_person_says_next() {
    let world = World::new();
    let app = shop().agent(agent("talker").converses()).model(
        "scripted/script",
        Scripted::new([Turn::say("Hello."), Turn::say("Bye.")]),
    );
    let runtime = world.open(&app).await;
    let execution = runtime.node().start(request("talker")).await.unwrap();
    let summary = reaches(&runtime, execution, TreeState::Resting).await;
    assert_eq!(summary.pauses[0].role, "input");
    let message = Verdict::Message {
        text: "bye".to_owned(),
    };
    assert_eq!(
        decide(&runtime, execution, "dana", message).await,
        DecisionReply::Counted
    );
    let node = runtime.node();
    node.wait_for(execution.tree(), |summary| {
        summary
            .pauses
            .first()
            .is_some_and(|pause| pause.number == 2)
    })
    .await
    .unwrap();
    assert_eq!(results(&runtime, execution).await, Vec::<String>::new());
    runtime.close().await;
}

// CONTRACT A12
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_does_not_go_on_under_another_configuration_and_does_under_its_own() {
    let world = World::new();
    let app = |instructions: &str| {
        App::new("shop")
            .model(
                "scripted/script",
                Scripted::new([refund(), Turn::say("Paid.")]),
            )
            .channel::<RefundApproval>(Terminal)
            .agent(agent("desk").tool(refund_card).instructions(instructions))
    };
    let runtime = world.open(&app("Help.")).await;
    let execution = runtime.node().start(request("desk")).await.unwrap();
    reaches(&runtime, execution, TreeState::Resting).await;
    runtime.close().await;
    let runtime = world.open(&app("Help more.")).await;
    let told = decide(&runtime, execution, "boss", APPROVE).await;
    let DecisionReply::Invalid(why) = told else {
        panic!("{told:?}");
    };
    assert!(why.starts_with("[execution.config-changed]"), "{why}");
    runtime.close().await;
    let runtime = world.open(&app("Help.")).await;
    assert_eq!(
        answer(&runtime, execution).await,
        "Paid.",
        "the decision was kept"
    );
    runtime.close().await;
}

// CONTRACT T8
#[tokio::test]
async fn an_application_that_is_wrong_opens_nothing() {
    let world = World::new();
    let refused = Runtime::open(&shop(), &world.config).await;
    assert!(matches!(refused, Err(RunError::Check(_))), "{refused:?}");
    assert!(!world.config.store.exists());
}
