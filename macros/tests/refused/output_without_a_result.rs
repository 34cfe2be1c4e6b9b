use leasehold::PlainText;
use leasehold_macros::tool;

/// Reads the policy.
#[tool(effect = read)]
async fn refund_policy() -> PlainText {
    "30 days".into()
}

fn main() {}
