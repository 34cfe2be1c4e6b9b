//! Finding a tool by the name a model wrote, and describing it.

use leasehold_macros::{dto, role, tool};
use leasehold_tools::{Input, PlainText, RelPath, ToolLine, ToolResult, Toolbox};

use crate::support::{bound, text_of};

/// A refund.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
}

/// Approves refunds.
#[role(approves = Refund, answered_by = channel)]
struct RefundApproval;

/// Refunds a card. Changes billing.
#[tool(effect = write, approval = RefundApproval, env = ["STRIPE_KEY"])]
async fn refund_card(Input(refund): Input<Refund>) -> ToolResult<PlainText> {
    Ok(refund.cents.to_string().into())
}

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn toolbox() -> Toolbox {
    Toolbox::new(
        "support",
        vec![bound(refund_card), bound(refund_policy)],
        &["answer-refund"],
    )
    .unwrap()
}

// CONTRACT A7
// BAD INPUT 12, 13
#[test]
fn an_unknown_name_is_never_matched_to_another_and_offers_the_nearest() {
    let tools = toolbox();
    assert_eq!(
        tools.find("refund-card-tool").unwrap().name().as_str(),
        "refund-card-tool"
    );
    let near = ": the nearest of yours are refund-card-tool, refund-policy-tool";
    let long = "x".repeat(65);
    for (name, right) in [
        ("Refund-Card-Tool", format!("\"Refund-Card-Tool\"{near}")),
        ("refund-card-tool ", format!("\"refund-card-tool \"{near}")),
        ("refund_card_tool", format!("\"refund_card_tool\"{near}")),
        (
            "refund-c\u{430}rd-tool",
            format!("\"refund-c\u{430}rd-tool\"{near}"),
        ),
        ("\u{200b}", "\"\\u{200b}\"".to_owned()),
        ("", "\"\"".to_owned()),
        (
            "shell-exec-of-another-agent",
            "\"shell-exec-of-another-agent\"".to_owned(),
        ),
        (&long, format!("\"{}…\"", &long[1..])),
    ] {
        let told = tools.find(name).unwrap_err().to_string();
        assert_eq!(told, format!("unknown tool {right}"));
    }
}

// CONTRACT T7
// BAD INPUT 31
#[test]
fn an_agent_that_lists_a_name_twice_is_told_both_places() {
    let told =
        Toolbox::new("support", vec![bound(refund_card), bound(refund_card)], &[]).unwrap_err();
    let right = "[tool.duplicate-name] agent support: \"refund-card-tool\" names both the tool \"Refunds a card\" \
                 and the tool \"Refunds a card\": give one of them another name";
    assert_eq!(told[0].to_string(), right);
}

// CONTRACT T14
#[test]
fn a_tool_is_described_in_one_line() {
    let right = "refund-card-tool (write, local, waits for approval) ← STRIPE_KEY — Refunds a card";
    assert_eq!(
        ToolLine::new(&bound(refund_card), "local").to_string(),
        right
    );
    let right = "refund-policy-tool (read, local) — Reads the policy";
    assert_eq!(
        ToolLine::new(&bound(refund_policy), "local").to_string(),
        right
    );
}

/// A file.
#[dto]
struct File {
    /// Its path.
    path: RelPath,
}

/// Reads a file.
#[tool(effect = read)]
async fn read_file(Input(file): Input<File>) -> ToolResult<PlainText> {
    Ok(file.path.as_str().into())
}

// BAD INPUT 19
#[test]
fn a_path_that_leaves_its_folder_never_reaches_the_tool() {
    let tool = bound(read_file);
    assert_eq!(text_of(&tool, r#"{"path":"a/b"}"#), r#"{"text":"a/b"}"#);
    let told = text_of(&tool, r#"{"path":"../../etc/passwd"}"#);
    let right = "Tool error: invalid input: path: must be a path below the folder: \
                 names joined by `/`, none of them `..`, at most 1024 bytes";
    assert_eq!(told, right);
}
