//! The seam to chance: the operating system's in production, a seed in tests.

/// Where random numbers come from. Ids and secrets take it as an argument.
pub trait Random: Send + Sync + std::fmt::Debug {
    /// The next 64 random bits. In production they are fit for secrets.
    fn next_u64(&self) -> u64;
}
