//! What the three attributes make of a program, against the crate whose items their output names.

use std::sync::Arc;

use leasehold::{
    Approved, Body, CallContext, Company, Dep, Dto, Input, OnError, PlainText, Services, Spend,
    Tool, ToolResult, bind, schema_of, tool_definition,
};
use leasehold_macros::{dto, role, tool};
use leasehold_types::{Effect, days, kilobytes, seconds, usd};
use serde_json::json;

/// Money that goes back to a customer's card.
#[dto]
struct Refund {
    /// Order number, like `A-1042`.
    #[dto(pattern = "^A-[0-9]+$")]
    order: String,
    /// Amount in cents.
    #[dto(range = 1..=50_000)]
    cents: u32,
    /// Why.
    note: Option<String>,
    /// How soon.
    #[dto(default = "today", length = 1..=20)]
    when: String,
}

/// Approves refunds to cards.
#[role(approves = Refund, answered_by = channel)]
struct RefundApproval;

struct Shop;

/// Reads the shop's refund policy. Changes nothing.
#[tool(effect = read, timeout = seconds(10), max_result_size = kilobytes(256))]
async fn refund_policy(shop: Dep<Shop>) -> ToolResult<PlainText> {
    let _: &Shop = &shop;
    Ok("30 days".into())
}

const fn over_fifty(refund: &Refund) -> bool {
    refund.cents > 5_000
}

/// Pays a refund to the customer's card. Changes billing.
#[tool(
    effect = idempotent(days(7)),
    approval = RefundApproval,
    approval_when = over_fifty,
    exclusive,
    throw_on_error,
    reserve = usd(0.01),
    env = ["STRIPE_KEY"]
)]
async fn refund_card(
    Input(refund): Input<Refund>,
    shop: Dep<Shop>,
    call: CallContext,
    spend: Spend,
    approved: Option<Approved<Refund>>,
) -> ToolResult<PlainText> {
    let _: &Shop = &shop;
    let by = approved.map(|approved| approved.by().to_string());
    spend.record("card-network", usd(0.002))?;
    let text = format!("{} {} {by:?}", refund.order, call.idempotency_key());
    Ok(text.into())
}

/// Adds up.
#[tool(effect = pure, name = "sum-tool")]
fn add() -> ToolResult<PlainText> {
    Ok("3".into())
}

// CONTRACT T1, T7, T15
#[test]
fn a_function_is_the_tool_it_says_it_is() {
    let spec = refund_policy.spec();
    assert_eq!(spec.name, "refund-policy-tool");
    assert_eq!(
        spec.description,
        "Reads the shop's refund policy. Changes nothing."
    );
    assert_eq!((spec.effect, spec.timeout), (Effect::Read, seconds(10)));
    assert_eq!(spec.max_result_size, Some(kilobytes(256)));
    assert_eq!(
        (spec.body, spec.company, spec.on_error),
        (Body::Async, Company::Parallel, OnError::Tell)
    );
    let spec = refund_card.spec();
    assert_eq!(spec.effect, Effect::idempotent(days(7)));
    assert_eq!(
        (spec.company, spec.on_error),
        (Company::Exclusive, OnError::Throw)
    );
    assert_eq!(spec.env, ["STRIPE_KEY"]);
    let approval = spec.approval.unwrap();
    assert_eq!(approval.role().name, "refund-approval-channel");
    assert!(!approval.is_needed(&json!({"order": "A-1", "cents": 5_000})));
    assert!(approval.is_needed(&json!({"order": "A-1", "cents": 5_001})));
    let spec = add.spec();
    assert_eq!(
        (spec.name.as_ref(), spec.body),
        ("sum-tool", Body::Blocking)
    );
}

// CONTRACT T3
#[test]
fn the_model_sees_name_description_and_schema_and_nothing_else() {
    let definition = serde_json::to_value(tool_definition(&refund_card)).unwrap();
    let right = json!({
        "name": "refund-card-tool",
        "description": "Pays a refund to the customer's card. Changes billing.",
        "input_schema": {
            "description": "Money that goes back to a customer's card.",
            "type": "object",
            "properties": {
                "order": {"description": "Order number, like `A-1042`.", "type": "string", "pattern": "^A-[0-9]+$"},
                "cents": {"description": "Amount in cents.", "type": "integer", "minimum": 1, "maximum": 50_000},
                "note": {"description": "Why.", "type": ["string", "null"]},
                "when": {"description": "How soon.", "type": "string", "default": "today", "minLength": 1, "maxLength": 20},
            },
            "additionalProperties": false,
            "required": ["order", "cents"],
        },
    });
    assert_eq!(definition, right, "{definition:#}");
}

// CONTRACT T2
#[test]
fn a_missing_service_is_found_without_running_anything() {
    let errors = bind(Arc::new(refund_card), &Services::new()).unwrap_err();
    let told: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["[di.missing-service] refund-card-tool takes a tools::Shop: give it with .provide(..)"]
    );
    assert!(bind(Arc::new(refund_card), &Services::new().provide(Shop)).is_ok());
}

#[test]
fn a_tests_input_is_the_tools_own_type_with_defaults_applied() {
    let refund = refund_card.input(json!({"order": "A-1042", "cents": 2000}));
    assert_eq!(
        (refund.order.as_str(), refund.when.as_str()),
        ("A-1042", "today")
    );
}

/// What became of an order.
#[dto]
#[derive(Debug, Eq)]
enum Status {
    /// Not paid yet.
    Open,
    /// On its way.
    OnItsWay,
}

/// What to do.
#[dto]
enum Step {
    /// Wait.
    Wait,
    /// Send it.
    Send {
        /// To whom.
        to: String,
        /// How it stands.
        status: Status,
    },
}

#[test]
fn an_enum_is_written_in_snake_case_and_one_with_fields_names_its_kind() {
    let step = json!({"kind": "send", "to": "dana", "status": "on_its_way"});
    let read: Step = leasehold::decode_value(&step).unwrap();
    assert_eq!(
        read,
        Step::Send {
            to: "dana".to_owned(),
            status: Status::OnItsWay
        }
    );
    assert_eq!(serde_json::to_value(read).unwrap(), step);
    let schema = schema_of::<Step>();
    assert_eq!(
        schema["oneOf"][1]["additionalProperties"],
        json!(false),
        "{schema:#}"
    );
    let issue = |value| {
        leasehold::decode_value::<Step>(&value)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        issue(json!({"kind": "send", "to": "dana", "status": "lost"})),
        "invalid input: status: must be one of \"open\", \"on_its_way\""
    );
    assert_eq!(
        issue(json!({"kind": "wait", "x": 1})),
        "invalid input: x: unknown field"
    );
}

const fn is_dto<T: Dto>() {}
const _: () = is_dto::<Refund>();

/// A search.
#[dto]
struct Search {
    /// The words.
    words: String,
}

/// Searches.
#[tool(effect = read)]
async fn search(Input(search): Input<Search>) -> ToolResult<PlainText> {
    Ok(search.words.into())
}

#[test]
fn a_tools_input_may_be_called_like_the_tool() {
    let input = search.input(json!({"words": "a b"}));
    let result = futures_util::FutureExt::now_or_never(search::call(Input(input)));
    assert_eq!(result.and_then(ToolResult::ok), Some("a b".into()));
}
