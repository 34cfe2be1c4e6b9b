use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Reads the policy.
#[tool(effect = read, timeout = 10)]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn main() {
    let _tool: &dyn leasehold::Tool = &refund_policy;
}
