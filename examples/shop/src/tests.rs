//! The program's tests: a crash right after the payment, and a tool by itself.

use leasehold::prelude::*;
use leasehold_testkit::{TestApp, after_effect_of, call, principal, say, test_tool};
use serde_json::json;

use super::{RefundApproval, Shop, app, refund_card};

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
