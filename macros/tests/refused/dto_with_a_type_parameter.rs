use leasehold_macros::dto;

/// A page.
#[dto]
struct Page<T> {
    /// Its items.
    items: Vec<T>,
}

fn main() {}
