//! What an approval is bound to, who is asked, and what the tool learns of it.

use leasehold_macros::{dto, role, tool};
use leasehold_tools::{
    ApprovalRecord, Approved, BoundTool, CanonicalArguments, Input, PlainText, Role, RoleForm,
    ToolResult, approval_digest, review,
};
use leasehold_types::{Answerer, Digest, Principal, PrincipalKind, Timestamp};
use serde_json::json;

use crate::support::{Running, bound};

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
    /// Why.
    #[dto(default = "none given")]
    reason: String,
}

/// Approves refunds to cards.
#[role(approves = Refund, answered_by = thread_owner)]
struct RefundApproval;

/// A question.
#[dto]
struct Question {
    /// What is asked.
    text: String,
}

/// Knows things.
#[role(ask = Question, answer = PlainText, answered_by = channel, name = "expert-channel")]
struct Expert;

fn is_odd_or_fails(refund: &Refund) -> bool {
    assert_ne!(refund.cents, 13, "unlucky");
    !refund.cents.is_multiple_of(2)
}

/// Pays a refund.
#[tool(effect = write, approval = RefundApproval, approval_when = is_odd_or_fails)]
async fn pay_refund(
    Input(refund): Input<Refund>,
    approved: Approved<Refund>,
) -> ToolResult<PlainText> {
    let proposed = approved.proposed().map(|proposed| proposed.cents);
    let text = format!(
        "{} by {} at {:?}, proposed {proposed:?}",
        refund.cents,
        approved.by(),
        approved.at()
    );
    Ok(text.into())
}

fn reviewed(tool: &BoundTool, text: &str) -> CanonicalArguments {
    review(tool, text).unwrap()
}

// CONTRACT P1
#[test]
fn a_role_says_who_it_is_what_it_approves_and_who_answers() {
    let info = RefundApproval::info();
    assert_eq!(
        (info.name, info.description),
        ("refund-approval-channel", "Approves refunds to cards.")
    );
    assert_eq!(info.answered_by, Answerer::ThreadOwner);
    assert!(matches!(info.form, RoleForm::Approves { input, .. } if input.ends_with("::Refund")));
    let info = Expert::info();
    assert_eq!(
        (info.name, info.answered_by),
        ("expert-channel", Answerer::Channel)
    );
    let RoleForm::Asks { question, answer } = info.form else {
        panic!("it asks");
    };
    assert_eq!(question.schema()["required"], json!(["text"]));
    assert_eq!(answer.schema()["type"], json!("object"));
}

// CONTRACT P3
#[test]
fn an_approval_may_depend_on_the_arguments_and_a_failing_condition_asks() {
    let tool = bound(pay_refund);
    let is_needed = |text: &str| {
        let arguments = reviewed(&tool, text);
        tool.spec()
            .approval
            .as_ref()
            .unwrap()
            .is_needed(arguments.value())
    };
    assert!(!is_needed(r#"{"cents": 2}"#));
    assert!(is_needed(r#"{"cents": 3}"#));
    assert!(is_needed(r#"{"cents": 13}"#), "a panic means ask");
}

// CONTRACT P9
#[test]
fn what_is_approved_is_one_definition_one_set_of_arguments_and_one_configuration() {
    let tool = bound(pay_refund);
    let config = Digest::of(b"config");
    let digest = |text: &str| approval_digest(&reviewed(&tool, text), config);
    let right = digest(r#"{"cents": 2, "reason": "none given"}"#);
    assert_eq!(
        digest(r#"{"cents":2}"#),
        right,
        "a default is the same as what it stands for"
    );
    assert_eq!(
        digest("{\"reason\": \"none given\",\n\"cents\": 2}"),
        right,
        "order and space do not count"
    );
    assert_ne!(digest(r#"{"cents": 3}"#), right);
    let other = approval_digest(&reviewed(&tool, r#"{"cents":2}"#), Digest::of(b"other"));
    assert_ne!(other, right);
    let renamed = bound(Renamed);
    assert_ne!(
        approval_digest(&reviewed(&renamed, r#"{"cents":2}"#), config),
        right
    );
}

/// The same tool with another description.
struct Renamed;

impl leasehold_tools::Tool for Renamed {
    fn spec(&self) -> leasehold_tools::ToolSpec {
        let mut spec = pay_refund.spec();
        spec.description = "Pays a refund, and a bonus.".into();
        spec
    }

    fn call(&self, call: leasehold_tools::ToolCall) -> leasehold_tools::ToolFuture {
        leasehold_tools::Tool::call(&pay_refund, call)
    }
}

// CONTRACT P12
#[test]
fn the_tool_learns_who_approved_when_and_what_was_changed() {
    let tool = bound(pay_refund);
    let record = ApprovalRecord {
        by: Principal::new("dana", PrincipalKind::Person),
        at: Timestamp::from_micros(5),
        proposed: Some(json!({"cents": 90, "reason": "x"})),
    };
    let mut call = Running::framed(&tool, r#"{"cents": 10}"#, |frame| {
        frame.with_approval(record)
    });
    let text = r#"{"text":"10 by dana at Timestamp(5), proposed Some(90)"}"#;
    assert_eq!(call.ended().end.text(), text);
    let mut call = Running::new(&tool, r#"{"cents": 10}"#);
    assert_eq!(
        call.ended().end.text(),
        "Tool error: the call was not approved by anybody"
    );
}
