use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Searches issues.
#[tool(effect = read, name = "search_issues")]
async fn search() -> ToolResult<PlainText> {
    Ok("none".into())
}

fn main() {}
