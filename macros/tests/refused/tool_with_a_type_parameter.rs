use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Reads.
#[tool(effect = read)]
async fn read<T>() -> ToolResult<PlainText> {
    Ok("".into())
}

fn main() {}
