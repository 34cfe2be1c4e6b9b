use leasehold::{Input, PlainText, ToolResult};
use leasehold_macros::{dto, tool};

/// An order.
#[dto]
struct Order {
    /// Its number.
    number: u32,
}

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy(first: Input<Order>, second: Input<Order>) -> ToolResult<PlainText> {
    let _ = (first.0.number, second);
    Ok("30 days".into())
}

fn main() {}
