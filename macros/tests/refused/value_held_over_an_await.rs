use std::rc::Rc;

use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy() -> ToolResult<PlainText> {
    let text = Rc::new("30 days");
    std::future::ready(()).await;
    Ok((*text).into())
}

fn main() {}
