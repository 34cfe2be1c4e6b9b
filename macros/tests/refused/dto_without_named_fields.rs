use leasehold_macros::dto;

/// An amount.
#[dto]
struct Cents(u32);

fn main() {}
