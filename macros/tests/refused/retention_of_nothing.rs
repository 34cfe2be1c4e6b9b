use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;
use leasehold_types::days;

/// Pays.
#[tool(effect = idempotent(days(0)))]
async fn pay() -> ToolResult<PlainText> {
    Ok("paid".into())
}

fn main() {}
