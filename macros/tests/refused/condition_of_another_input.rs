use leasehold::{Input, PlainText, ToolResult};
use leasehold_macros::{dto, role, tool};

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
}

/// Approves refunds.
#[role(approves = Refund, answered_by = channel)]
struct RefundApproval;

fn is_long(text: &PlainText) -> bool {
    text.text.len() > 10
}

/// Pays.
#[tool(effect = write, approval = RefundApproval, approval_when = is_long)]
async fn pay(Input(refund): Input<Refund>) -> ToolResult<PlainText> {
    Ok(refund.cents.to_string().into())
}

fn main() {}
