//! The program people should be able to write, as it stands in the README: it compiles, and it is a sound application.

#![expect(clippy::unwrap_used, reason = "a shop for tests")]

use leasehold::prelude::*;

use shop::Shop;

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

#[allow(dead_code, reason = "the program's own main, not the test's")]
fn main() -> ExitCode {
    app().main()
}

/// The program's own business.
mod shop {
    use std::fmt::Display;
    use std::io::Error;
    use std::sync::Mutex;

    use leasehold::prelude::PlainText;

    use super::Refund;

    pub(super) struct Shop(Mutex<Vec<String>>);

    pub(super) struct Receipt(String);

    impl From<Receipt> for PlainText {
        fn from(receipt: Receipt) -> Self {
            receipt.0.into()
        }
    }

    impl Shop {
        pub(super) fn open(_orders: &str) -> Self {
            Self(Mutex::default())
        }

        pub(super) async fn policy(&self) -> Result<String, Error> {
            std::future::ready(Ok("30 days".to_owned())).await
        }

        pub(super) async fn pay(
            &self,
            refund: &Refund,
            key: impl Display,
        ) -> Result<Receipt, Error> {
            self.0.lock().unwrap().push(key.to_string());
            let text = format!("paid {} for {}", refund.cents, refund.order);
            std::future::ready(Ok(Receipt(text))).await
        }
    }
}

// CONTRACT T1, T2, T8
#[test]
fn the_program_people_should_write_is_a_sound_application() {
    let assembly = app().assemble(None).unwrap();
    let description = assembly.describe();
    let names: Vec<&str> = description.agents[0]
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(names, ["refund-policy-tool", "refund-card-tool"]);
}
