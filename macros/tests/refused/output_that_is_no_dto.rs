use leasehold::ToolResult;
use leasehold_macros::tool;

struct MyType;

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy() -> ToolResult<MyType> {
    Ok(MyType)
}

fn main() {}
