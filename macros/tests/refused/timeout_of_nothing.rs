use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;
use leasehold_types::seconds;

/// Reads the policy.
#[tool(effect = read, timeout = seconds(0))]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn main() {}
