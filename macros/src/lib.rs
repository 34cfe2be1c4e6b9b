//! The attributes #[tool], #[dto] and #[role]: syntax only, every rule is in leasehold-tools.
