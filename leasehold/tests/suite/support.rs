//! Small applications for the tests, and how their errors are looked at.

use std::sync::Arc;

use leasehold::prelude::*;
use leasehold::{Tool, ToolCall, ToolFuture, ToolSpec};
use leasehold_models::Scripted;
use leasehold_types::Effect;

/// Money that goes back to a customer's card.
#[dto]
pub(crate) struct Refund {
    /// Order number.
    pub(crate) order: String,
    /// Amount in cents.
    pub(crate) cents: u32,
}

/// Something else.
#[dto]
pub(crate) struct Parcel {
    /// Where it goes.
    pub(crate) to: String,
}

/// Approves refunds to cards.
#[role(approves = Refund, answered_by = channel)]
pub(crate) struct RefundApproval;

/// Lets the customer confirm a parcel.
#[role(approves = Parcel, answered_by = thread_owner)]
pub(crate) struct ParcelConfirmation;

/// Pays a refund to the customer's card. Changes billing.
#[tool(effect = idempotent(days(7)), approval = RefundApproval)]
pub(crate) async fn refund_card(Input(refund): Input<Refund>) -> ToolResult<PlainText> {
    Ok(format!("paid {} for {}", refund.cents, refund.order).into())
}

/// Sends a parcel.
#[tool(effect = write, approval = ParcelConfirmation)]
pub(crate) async fn send_parcel(Input(parcel): Input<Parcel>) -> ToolResult<PlainText> {
    Ok(format!("sent to {}", parcel.to).into())
}

/// Reads the shop's refund policy. Changes nothing.
#[tool(effect = read)]
pub(crate) async fn refund_policy() -> ToolResult<PlainText> {
    Ok("30 days".into())
}

/// A tool that is whatever its spec says.
#[derive(Debug, Clone)]
pub(crate) struct Made(pub(crate) ToolSpec);

impl Tool for Made {
    fn spec(&self) -> ToolSpec {
        self.0.clone()
    }
    fn call(&self, _: ToolCall) -> ToolFuture {
        Box::pin(std::future::ready(Ok(serde_json::json!({}))))
    }
}

/// A tool of this name that reads.
pub(crate) fn made(name: &'static str) -> Made {
    Made(ToolSpec::new(name, "Does something.", Effect::Read))
}

/// An agent that lacks nothing.
#[track_caller]
pub(crate) fn agent(name: &str) -> Agent {
    Agent::new(name)
        .model("scripted/script")
        .instructions("Help.")
}

/// An application with a script for a model.
#[track_caller]
pub(crate) fn shop() -> App {
    App::new("shop").model("scripted/script", Scripted::new([]))
}

/// The errors of an application, each without the lines of this program.
#[track_caller]
pub(crate) fn errors(app: &App) -> Vec<String> {
    let errors = app.check().expect_err("it is refused");
    let told = errors.as_slice().iter();
    told.map(|error| without_lines(&error.to_string()))
        .collect()
}

/// Writes `checks.rs:12:5` as `checks.rs`, so that a test says which file is named and not which line.
pub(crate) fn without_lines(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(".rs:") {
        out.push_str(before);
        out.push_str(".rs");
        let digits = |letter: char| letter.is_ascii_digit();
        let column = after.trim_start_matches(digits);
        let column = column.strip_prefix(':').unwrap_or(column);
        rest = column.trim_start_matches(digits);
    }
    out.push_str(rest);
    out
}

/// Checks that the errors are these, by how each begins, in this order.
#[track_caller]
pub(crate) fn refused(app: &App, begins: &[&str]) {
    let told = errors(app);
    let fits = told.len() == begins.len()
        && told
            .iter()
            .zip(begins)
            .all(|(told, begins)| told.starts_with(begins));
    assert!(fits, "told: {told:#?}\nexpected: {begins:#?}");
}

/// A scripted model, shared.
pub(crate) fn script() -> Arc<Scripted> {
    Arc::new(Scripted::new([]))
}
