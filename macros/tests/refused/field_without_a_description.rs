use leasehold_macros::dto;

/// Money that goes back.
#[dto]
struct Refund {
    /// Order number.
    order: String,
    cents: u32,
}

fn main() {
    let _ = Refund { order: String::new(), cents: 1 }.clone();
}
