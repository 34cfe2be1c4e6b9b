use leasehold::{Input, PlainText, ToolResult};
use leasehold_macros::{dto, role, tool};

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
}

/// An order.
#[dto]
struct Order {
    /// Its number.
    number: u32,
}

/// Approves refunds.
#[role(approves = Refund, answered_by = channel)]
struct RefundApproval;

/// Cancels an order.
#[tool(effect = write, approval = RefundApproval)]
async fn cancel_order(Input(order): Input<Order>) -> ToolResult<PlainText> {
    let _ = order.number;
    Ok("cancelled".into())
}

fn main() {
    let _ = Refund { cents: 1 }.cents;
}
