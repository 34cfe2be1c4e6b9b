use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

struct Shop;

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy(shop: &Shop) -> ToolResult<PlainText> {
    let _ = shop;
    Ok("30 days".into())
}

fn main() {}
