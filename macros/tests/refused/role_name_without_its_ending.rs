use leasehold_macros::{dto, role};

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
}

/// Approves refunds.
#[role(approves = Refund, answered_by = channel, name = "refunds")]
struct RefundApproval;

fn main() {
    let _ = Refund { cents: 1 }.cents;
}
