use leasehold::{PlainText, ToolResult};
use leasehold_macros::tool;

/// Searches issues.
#[tool(effect = read)]
async fn search_all_the_issues_of_all_the_projects_that_anybody_ever_opened() -> ToolResult<PlainText> {
    Ok("none".into())
}

fn main() {}
