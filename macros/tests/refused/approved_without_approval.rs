use leasehold::{Approved, Input, PlainText, ToolResult};
use leasehold_macros::{dto, tool};

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
}

/// Pays.
#[tool(effect = write)]
async fn pay(refund: Input<Refund>, approved: Approved<Refund>) -> ToolResult<PlainText> {
    let _ = refund.0.cents;
    Ok(approved.by().to_string().into())
}

fn main() {}
