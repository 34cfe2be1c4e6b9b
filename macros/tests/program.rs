//! The tools of the program that people should be able to write, as it stands in the README.

// What a program has of its own must not disturb what the attributes write.
#![allow(dead_code, reason = "names that only have to be in scope")]
#![expect(clippy::unwrap_used, reason = "a shop for tests")]

use std::fmt;
use std::sync::{Arc, Mutex};

use leasehold::{CallContext, Dep, Input, PlainText, Services, Spend, Tool, ToolResult, bind};
use leasehold_macros::{dto, role, tool};
use leasehold_types::{IdempotencyKey, days, kilobytes, seconds, usd};

type Result<T> = std::result::Result<T, NoOrder>;
struct Box;

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

#[derive(Debug, Default)]
struct Shop(Mutex<Vec<String>>);

#[derive(Debug)]
struct NoOrder(String);

impl fmt::Display for NoOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no order {}", self.0)
    }
}

impl std::error::Error for NoOrder {}

struct Receipt(String);

impl From<Receipt> for PlainText {
    fn from(receipt: Receipt) -> Self {
        receipt.0.into()
    }
}

impl Shop {
    async fn policy(&self) -> Result<String> {
        std::future::ready(Ok("30 days".to_owned())).await
    }

    async fn pay(&self, refund: &Refund, key: &IdempotencyKey) -> Result<Receipt> {
        if refund.order == "A-1" {
            return Err(NoOrder(refund.order.clone()));
        }
        self.0.lock().unwrap().push(key.to_string());
        std::future::ready(Ok(Receipt(format!("paid {}", refund.cents)))).await
    }
}

// CONTRACT T1, T2
#[test]
fn the_program_people_should_write_is_a_sound_application() {
    let services = Services::new().provide(Shop::default());
    for tool in [
        Arc::new(refund_policy) as Arc<dyn Tool>,
        Arc::new(refund_card),
    ] {
        assert!(bind(tool, &services).is_ok());
    }
}

// CONTRACT T1
#[test]
fn the_plain_function_can_be_called_by_itself() {
    let shop = Dep::new(Arc::new(Shop::default()));
    let policy = futures_util::FutureExt::now_or_never(refund_policy::call(shop));
    assert_eq!(policy.and_then(ToolResult::ok), Some("30 days".into()));
}
