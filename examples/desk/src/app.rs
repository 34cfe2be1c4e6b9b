//! The desk as an application: one agent, its tools, its channel.

use leasehold::prelude::*;

use crate::script;
use crate::shop::Shop;
use crate::tools::{
    AfterPayment, RefundApproval, close_ticket, find_order, read_ticket, refund_card, refund_policy,
};

/// The agent that handles tickets.
pub(crate) fn support(model: &str) -> Agent {
    Agent::new("support")
        .model(model)
        .instructions(
            "You handle tickets of a small shop. Read the ticket, the order and the policy before you refund. \
             Refund only what the policy allows. Answer and close the ticket when you are done.",
        )
        .tool(read_ticket)
        .tool(find_order)
        .tool(refund_policy)
        .tool(refund_card)
        .tool(close_ticket)
        .budget(usd(1.50).per_execution())
}

/// The application over the files of `shop`.
pub(crate) fn app(shop: Shop, model: &str, after: AfterPayment) -> App {
    App::new("desk")
        .provide(shop)
        .provide(after)
        .channel::<RefundApproval>(Terminal)
        .model(script::NAME, script::model())
        .agent(support(model))
}
