//! Runs AI agents the way a bank runs payments.
//!
//! The facade: what people depend on. It holds no logic of its own.

#[doc(hidden)]
pub use leasehold_tools::__private;

/// What a program that declares tools and agents imports.
pub mod prelude {
    pub use leasehold_macros::{dto, role, tool};
    pub use leasehold_tools::{
        Approved, CallContext, Dep, Input, PlainText, Spend, ToolError, ToolResult,
    };
    pub use leasehold_types::{cents, days, hours, kilobytes, milliseconds, minutes, seconds, usd};
}
