use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Pays.
#[tool(effect = write, env = "STRIPE_KEY")]
async fn pay() -> ToolResult<PlainText> {
    Ok("paid".into())
}

fn main() {}
