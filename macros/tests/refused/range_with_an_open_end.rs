use leasehold_macros::dto;

/// Money that goes back.
#[dto]
struct Refund {
    /// Amount in cents.
    #[dto(range = 1..50)]
    cents: u32,
}

fn main() {
    let _ = Refund { cents: 1 }.cents;
}
