use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Pays.
#[tool(effect = idempotent(7))]
async fn pay() -> ToolResult<PlainText> {
    Ok("paid".into())
}

fn main() {}
