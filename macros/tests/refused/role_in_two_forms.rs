use leasehold_macros::{dto, role};

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    cents: u32,
}

/// Approves refunds.
#[role(approves = Refund, ask = Refund, answered_by = channel)]
struct RefundApproval;

fn main() {
    let _ = Refund { cents: 1 }.cents;
}
