use leasehold::{Input, PlainText, ToolResult};
use leasehold_macros::tool;

struct Order {
    number: u32,
}

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy(order: Input<Order>) -> ToolResult<PlainText> {
    let _ = order.0.number;
    Ok("30 days".into())
}

fn main() {}
