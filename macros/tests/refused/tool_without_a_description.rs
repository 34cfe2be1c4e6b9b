use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

#[tool(effect = read)]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn main() {}
