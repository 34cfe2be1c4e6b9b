//! The README's program: an agent whose refunds wait for approval.
//!
//! The README shows this file from its prelude on; a test compares the two.

mod shop;
#[cfg(test)]
mod tests;

use shop::Shop;

use leasehold::prelude::*;

/// Money that goes back to a customer's card.
#[dto]
struct Refund {
    /// Order number, like `A-1042`.
    #[dto(pattern = "^A-[0-9]+$")]
    order: String,
    /// Amount in cents.
    #[dto(range = 1..=50_000)]
    cents: u32,
}

/// Approves refunds to cards.
#[role(approves = Refund, answered_by = channel)]
struct RefundApproval;

/// Reads the shop's refund policy. Changes nothing.
#[tool(effect = read, timeout = seconds(10), max_result_size = kilobytes(256))]
async fn refund_policy(shop: Dep<Shop>) -> ToolResult<PlainText> {
    Ok(shop.policy().await?.into())
}

/// Pays a refund to the customer's card. Changes billing.
#[tool(effect = idempotent(days(7)), approval = RefundApproval)]
async fn refund_card(
    Input(refund): Input<Refund>,
    shop: Dep<Shop>,
    call: CallContext,
    spend: Spend,
) -> ToolResult<PlainText> {
    let receipt = shop.pay(&refund, call.idempotency_key()).await?;
    spend.record("card-network", usd(0.002))?;
    Ok(receipt.into())
}

fn support() -> Agent {
    Agent::new("support")
        .model("anthropic/claude-sonnet-5")
        .instructions("Help customers with refunds.")
        .tool(refund_policy)
        .tool(refund_card)
        .budget(usd(1.50).per_execution())
}

fn app() -> App {
    App::new("shop")
        .provide(Shop::open("orders.csv"))
        .channel::<RefundApproval>(Terminal)
        .agent(support())
}

fn main() -> ExitCode {
    app().main()
}
