use leasehold_macros::dto;

/// How it stands.
#[dto]
enum Status {
    Open,
    /// Paid.
    Paid,
}

fn main() {
    let _ = (Status::Open, Status::Paid);
}
