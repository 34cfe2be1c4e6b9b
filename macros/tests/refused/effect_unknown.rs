use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Reads the policy.
#[tool(effect = none)]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn main() {}
