use leasehold_macros::role;

#[role(approves = leasehold::PlainText, answered_by = channel)]
struct Approval;

fn main() {}
