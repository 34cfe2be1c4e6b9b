use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;
use leasehold_types::kilobytes;

/// Reads the policy.
#[tool(effect = read, max_result_size = kilobytes(0))]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn main() {}
