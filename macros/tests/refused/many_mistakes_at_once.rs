use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

#[tool(timeout = 10, max_result_size = 5, colour = red)]
async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

fn main() {
    let _tool: &dyn leasehold::Tool = &refund_policy;
}
