//! The program that people should be able to write, and its tests as the API sketch prints them.

#![expect(clippy::unwrap_used, reason = "a shop for tests")]

use leasehold::prelude::*;
use leasehold_testkit::{TestApp, after_effect_of, call, principal, say, test_tool};
use serde_json::json;
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

// CONTRACT A1, R4
// CASE 64
#[leasehold_testkit::test]
async fn a_refund_waits_for_its_approval_and_a_crash_pays_once() {
    let refund = refund_card.input(json!({"order": "A-1042", "cents": 2000}));
    let script = [call(refund_card, &refund), say("Done.")];
    let app = TestApp::start(app(), [("support", script)]).await;
    let execution = app.execute("support", "Refund A-1042, $20.").await;
    let pause = execution.paused::<RefundApproval>().await;
    assert_eq!(pause.arguments(), &refund);
    app.crash_once(after_effect_of(refund_card));
    pause.approve(&principal("dana")).await;
    execution.completed("Done.").await.spent(usd(0.002));
    assert_eq!(app.dep::<Shop>().refunds_of("A-1042"), 1);
}

#[leasehold_testkit::test]
async fn an_unknown_order_is_an_error_the_model_can_read() {
    let tool = test_tool(refund_card).provide(Shop::empty());
    let input = json!({"order": "A-1", "cents": 100});
    let error = tool.run(input).await.unwrap_err();
    assert_eq!(error.to_string(), "no order A-1");
}

/// The shop: orders, and a card network that pays each key once and answers its repeats with the same receipt.
mod shop {
    use std::collections::{BTreeMap, BTreeSet};
    use std::fmt::Display;
    use std::sync::Mutex;

    use super::Refund;

    /// Orders, and the refunds that were paid, by key.
    #[derive(Debug)]
    pub(super) struct Shop {
        orders: BTreeSet<String>,
        paid: Mutex<BTreeMap<String, Refund>>,
    }

    #[derive(Debug, thiserror::Error)]
    #[error("no order {0}")]
    pub(super) struct NoOrder(String);

    impl Shop {
        /// A shop with the orders of a file; here the one that the tests are about.
        pub(super) fn open(_orders: &str) -> Self {
            Self {
                orders: ["A-1042".to_owned()].into(),
                paid: Mutex::default(),
            }
        }

        pub(super) fn empty() -> Self {
            Self {
                orders: BTreeSet::new(),
                paid: Mutex::default(),
            }
        }

        #[expect(clippy::unused_async, reason = "a real shop asks a server")]
        pub(super) async fn policy(&self) -> Result<String, NoOrder> {
            Ok("Refunds within 30 days.".to_owned())
        }

        #[expect(
            clippy::unused_async,
            reason = "a real card network is asked over the wire"
        )]
        pub(super) async fn pay(
            &self,
            refund: &Refund,
            key: impl Display,
        ) -> Result<String, NoOrder> {
            if !self.orders.contains(&refund.order) {
                return Err(NoOrder(refund.order.clone()));
            }
            let mut paid = self.paid.lock().unwrap();
            let paid = paid
                .entry(key.to_string())
                .or_insert_with(|| refund.clone());
            Ok(format!("refunded {} cents of {}", paid.cents, paid.order))
        }

        /// How often an order was refunded.
        pub(super) fn refunds_of(&self, order: &str) -> usize {
            let paid = self.paid.lock().unwrap();
            paid.values().filter(|refund| refund.order == order).count()
        }
    }
}
