//! Approvals through the actors: other arguments, several at once, in any order, one after the other, at the limit.

use std::sync::{Arc, Mutex};

use leasehold_execution::Record;
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_execution::record::{FinishKind, Outcome};
use leasehold_models::{Message, Scripted, Turn};
use leasehold_tools::{Input, PlainText, ToolCall, ToolError};
use leasehold_types::{Effect, TreeState};
use serde_json::{Value, json};

use crate::support::{
    TestTool, World, answers, approval, approve, call, completed, decide, first_pause, pause,
    rejection, request, tool,
};

/// What a tool's runs were given.
type Given = Arc<Mutex<Vec<(String, Value)>>>;

fn recording(given: &Given, fails: bool) -> TestTool {
    let given = Arc::clone(given);
    let mut pay = tool("pay-tool", Effect::Write, move |call: ToolCall| {
        let context: leasehold_tools::CallContext = call.take().unwrap();
        given
            .lock()
            .unwrap()
            .push((context.call_id().to_string(), call.arguments().clone()));
        Box::pin(async move {
            if fails {
                return Err(ToolError::new("declined"));
            }
            Ok(json!({"paid": true}))
        })
    });
    pay.spec = pay.spec.takes::<Input<PlainText>>();
    pay
}

fn pays(cents: u32) -> Turn {
    Turn::call("pay-tool", &json!({"text": cents.to_string()}))
}

// CONTRACT P7
#[tokio::test]
async fn an_approval_with_other_arguments_runs_those_under_the_same_id_once() {
    let given = Given::default();
    let script = [pays(9_000), Turn::say("Paid.")];
    let world = World::approving(script, vec![recording(&given, false)], &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    let call_id = {
        let machine = world.machine(execution).await;
        machine.calls().next().unwrap().0.to_string()
    };
    let less = Verdict::Approve {
        override_arguments: Some(r#"{"text":"100"}"#.to_owned()),
    };
    let reply = decide(&node, pause(execution, 1), "boss", less).await;
    assert_eq!(reply, DecisionReply::Counted);
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    assert_eq!(*given.lock().unwrap(), [(call_id, json!({"text": "100"}))]);
}

// CONTRACT P7
#[tokio::test]
async fn invalid_other_arguments_are_refused_and_the_pause_stays_open() {
    let given = Given::default();
    let script = [pays(1), Turn::say("Paid.")];
    let world = World::approving(script, vec![recording(&given, false)], &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    let broken = Verdict::Approve {
        override_arguments: Some("{".to_owned()),
    };
    let reply = decide(&node, pause(execution, 1), "boss", broken).await;
    assert!(matches!(reply, DecisionReply::Invalid(_)), "{reply:?}");
    assert_eq!(
        approve(&node, first_pause(execution)).await,
        DecisionReply::Counted
    );
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    assert_eq!(given.lock().unwrap().len(), 1);
}

// CONTRACT P8, P4
// CASE 18, 21
#[tokio::test]
async fn several_pauses_are_answered_in_any_order_and_each_answer_reaches_its_own_call() {
    for order in [[1, 2, 3], [3, 1, 2], [2, 3, 1]] {
        let given = Given::default();
        let script = [
            Turn::together([pays(1), pays(2), pays(3), call("free-tool")]),
            Turn::say("Paid."),
        ];
        let tools = vec![recording(&given, false), answers("free-tool")];
        let world = World::approving(script, tools, &["pay-tool"]);
        let node = world.instance().await;
        let execution = node.start(request("go")).await.unwrap();
        world.at_rest(&node, execution).await;
        for (position, number) in order.into_iter().enumerate() {
            let verdict = if number == 2 {
                rejection("no")
            } else {
                approval()
            };
            let reply = decide(&node, pause(execution, number), "boss", verdict).await;
            assert_eq!(reply, DecisionReply::Counted);
            if position < 2 {
                world.at_rest(&node, execution).await;
            }
        }
        assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
        let mut cents: Vec<Value> = given
            .lock()
            .unwrap()
            .iter()
            .map(|run| run.1["text"].clone())
            .collect();
        cents.sort_by_key(Value::to_string);
        assert_eq!(cents, [json!("1"), json!("3")], "in the order {order:?}");
        let finished = |kind: FinishKind| move |record: &Record| matches!(record, Record::CallFinished(call) if call.kind == kind);
        assert_eq!(world.count(execution, finished(FinishKind::Ok)).await, 3);
        assert_eq!(
            world.count(execution, finished(FinishKind::Rejected)).await,
            1
        );
    }
}

// CONTRACT P6, P7
// CASE 22
#[tokio::test]
async fn two_gated_calls_one_after_the_other_take_two_approvals() {
    let given = Given::default();
    let script = [pays(1), pays(2), Turn::say("Paid.")];
    let world = World::approving(script, vec![recording(&given, false)], &["pay-tool"]);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    for number in 1..=2 {
        world.at_rest(&node, execution).await;
        assert_eq!(given.lock().unwrap().len(), number as usize - 1);
        let reply = decide(&node, pause(execution, number), "boss", approval()).await;
        assert_eq!(reply, DecisionReply::Counted);
    }
    assert_eq!(world.outcome(&node, execution).await, completed("Paid."));
    let cents: Vec<Value> = given
        .lock()
        .unwrap()
        .iter()
        .map(|run| run.1["text"].clone())
        .collect();
    assert_eq!(cents, [json!("1"), json!("2")]);
}

// CONTRACT P9
// CASE 16
#[tokio::test]
async fn an_approved_call_that_fails_and_comes_again_is_asked_about_again() {
    let given = Given::default();
    let model = Scripted::from_fn(|request| match request.turn() {
        0 => pays(1),
        1 => pays(2),
        _ => Turn::say("Gave up."),
    });
    let world = World::with_model(
        Arc::new(model),
        vec![recording(&given, true)],
        &["pay-tool"],
    );
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    approve(&node, first_pause(execution)).await;
    world.at_rest(&node, execution).await;
    assert_eq!(
        given.lock().unwrap().len(),
        1,
        "the second one waits for its own approval"
    );
    let reply = decide(&node, pause(execution, 2), "boss", rejection("no")).await;
    assert_eq!(reply, DecisionReply::Counted);
    assert_eq!(world.outcome(&node, execution).await, completed("Gave up."));
    assert_eq!(given.lock().unwrap().len(), 1);
}

// CASE 43
#[tokio::test]
async fn a_call_admitted_at_the_limit_runs_once_it_is_approved_and_no_model_is_asked_after() {
    let given = Given::default();
    let script = [
        Turn::together([pays(1), pays(2)]),
        pays(3),
        Turn::say("Never said."),
    ];
    let world = World::approving(script, vec![recording(&given, false)], &["pay-tool"]);
    let world = world.planned(|plan| plan.limits.model_calls = 1);
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    for number in 1..=2 {
        decide(&node, pause(execution, number), "boss", approval()).await;
    }
    let outcome = world.outcome(&node, execution).await;
    assert!(
        matches!(outcome, Outcome::LimitExceeded { .. }),
        "{outcome:?}"
    );
    assert_eq!(given.lock().unwrap().len(), 2);
    let asked = |record: &Record| matches!(record, Record::ModelIntended(_));
    assert_eq!(world.count(execution, asked).await, 1);
}

// CONTRACT A5
// CASE 21
#[tokio::test]
async fn each_call_has_exactly_one_result_before_the_model_is_asked_again() {
    let seen = Arc::new(Mutex::new(vec![]));
    let told = Arc::clone(&seen);
    let model = Scripted::from_fn(move |request| {
        let result = |message: &&Message| matches!(message, Message::ToolResult { .. });
        told.lock()
            .unwrap()
            .push(request.messages.iter().filter(result).count());
        match request.turn() {
            0 => Turn::together([pays(1), call("nowhere-tool"), pays(2)]),
            _ => Turn::say("Done."),
        }
    });
    let given = Given::default();
    let world = World::with_model(
        Arc::new(model),
        vec![recording(&given, false)],
        &["pay-tool"],
    );
    let node = world.instance().await;
    let execution = node.start(request("go")).await.unwrap();
    world.at_rest(&node, execution).await;
    decide(&node, pause(execution, 2), "boss", rejection("no")).await;
    world.until(&node, execution, TreeState::Resting).await;
    decide(&node, pause(execution, 1), "boss", approval()).await;
    assert_eq!(world.outcome(&node, execution).await, completed("Done."));
    assert_eq!(*seen.lock().unwrap(), [0, 3]);
}
