//! What the desk's agent may do: read tickets and orders, refund a card, answer a ticket.

use leasehold::prelude::*;

use crate::shop::Shop;

/// A question about one ticket.
#[dto]
pub(crate) struct TicketQuery {
    /// Ticket number, like `T-7`.
    #[dto(pattern = "^T-[0-9]+$")]
    pub(crate) ticket: String,
}

/// A customer's ticket.
#[dto]
pub(crate) struct TicketText {
    /// Ticket number.
    pub(crate) ticket: String,
    /// Who wrote it.
    pub(crate) from: String,
    /// What it is about.
    pub(crate) subject: String,
    /// What it says.
    pub(crate) text: String,
    /// `open` or `closed`.
    pub(crate) status: String,
}

/// A question about one order.
#[dto]
pub(crate) struct OrderQuery {
    /// Order number, like `A-1042`.
    #[dto(pattern = "^A-[0-9]+$")]
    pub(crate) order: String,
}

/// An order.
#[dto]
pub(crate) struct OrderText {
    /// Order number.
    pub(crate) order: String,
    /// Who bought it.
    pub(crate) customer: String,
    /// What it was.
    pub(crate) item: String,
    /// What was paid, in cents.
    pub(crate) cents: u32,
    /// What was refunded of it, in cents.
    pub(crate) refunded_cents: u32,
    /// The day of payment.
    pub(crate) paid_on: String,
}

/// Money that goes back to a customer's card.
#[dto]
pub(crate) struct Refund {
    /// Order number, like `A-1042`.
    #[dto(pattern = "^A-[0-9]+$")]
    pub(crate) order: String,
    /// Amount in cents.
    #[dto(range = 1..=50_000)]
    pub(crate) cents: u32,
}

/// A paid refund.
#[dto]
pub(crate) struct Receipt {
    /// The receipt's number.
    pub(crate) receipt: String,
    /// Order number.
    pub(crate) order: String,
    /// Amount in cents.
    pub(crate) cents: u32,
}

/// An answer that closes a ticket.
#[dto]
pub(crate) struct Answer {
    /// Ticket number, like `T-7`.
    #[dto(pattern = "^T-[0-9]+$")]
    pub(crate) ticket: String,
    /// What the customer reads.
    #[dto(length = 1..=4_000)]
    pub(crate) text: String,
}

/// Approves refunds to cards.
#[role(approves = Refund, answered_by = channel)]
pub(crate) struct RefundApproval;

/// What the demonstration does right after a refund is in the shop's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterPayment {
    /// Nothing.
    GoOn,
    /// Kills its own process, as a power cut at the worst moment would.
    Kill,
}

/// Reads a customer's ticket. Changes nothing.
#[tool(effect = read, timeout = seconds(10))]
pub(crate) async fn read_ticket(
    Input(query): Input<TicketQuery>,
    shop: Dep<Shop>,
) -> ToolResult<TicketText> {
    let ticket = shop.ticket(&query.ticket)?;
    Ok(TicketText {
        ticket: ticket.id,
        from: ticket.from,
        subject: ticket.subject,
        text: ticket.text,
        status: ticket.status,
    })
}

/// Finds an order and what was refunded of it. Changes nothing.
#[tool(effect = read, timeout = seconds(10))]
pub(crate) async fn find_order(
    Input(query): Input<OrderQuery>,
    shop: Dep<Shop>,
) -> ToolResult<OrderText> {
    let (order, refunded_cents) = shop.order(&query.order)?;
    Ok(OrderText {
        order: order.order,
        customer: order.customer,
        item: order.item,
        cents: order.cents,
        refunded_cents,
        paid_on: order.paid_on,
    })
}

/// Reads the shop's refund policy. Changes nothing.
#[tool(effect = read, timeout = seconds(10), max_result_size = kilobytes(16))]
pub(crate) async fn refund_policy(shop: Dep<Shop>) -> ToolResult<PlainText> {
    Ok(shop.policy()?.into())
}

/// Pays a refund to the customer's card. Changes billing.
#[tool(effect = idempotent(days(30)), approval = RefundApproval)]
pub(crate) async fn refund_card(
    Input(refund): Input<Refund>,
    shop: Dep<Shop>,
    after: Dep<AfterPayment>,
    call: CallContext,
    spend: Spend,
) -> ToolResult<Receipt> {
    let key = call.idempotency_key().as_str();
    let (paid, _again) = shop.pay(&refund.order, refund.cents, key)?;
    spend.record("card-network", usd(0.002))?;
    if *after == AfterPayment::Kill {
        crate::demo::kill_own_process();
    }
    Ok(Receipt {
        receipt: paid.receipt,
        order: paid.order,
        cents: paid.cents,
    })
}

/// Answers a ticket and closes it. Changes the ticket.
#[tool(effect = idempotent(days(30)))]
pub(crate) async fn close_ticket(
    Input(answer): Input<Answer>,
    shop: Dep<Shop>,
    call: CallContext,
) -> ToolResult<TicketText> {
    let ticket = shop.close(
        &answer.ticket,
        &answer.text,
        call.idempotency_key().as_str(),
    )?;
    Ok(TicketText {
        ticket: ticket.id,
        from: ticket.from,
        subject: ticket.subject,
        text: ticket.text,
        status: ticket.status,
    })
}
