//! The attributes `#[tool]`, `#[dto]` and `#[role]`: syntax only, every rule is in `leasehold-tools`.
//!
//! What is wrong in one item is reported at once, at the tokens that are wrong, and the item's skeleton stays, so that one mistake does not become twenty.
//! Each type check stands once in the output, under the span of the user's own token.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "syntax trees are another crate's lists, which grow"
)]

use proc_macro::TokenStream;

mod attribute;
mod doc;
mod dto;
mod role;
mod signature;
mod test;
mod tool;

/// Makes a function a tool.
///
/// The function's name becomes a unit struct that implements `Tool`; `name::call(..)` is the plain function.
/// A function without `async` is a blocking tool: it runs beside the runtime.
///
/// Outside the function itself its name can no longer name a variable: `let refund_card = ..` would be a pattern.
///
/// Arguments of the attribute, `effect` alone is required:
/// - `effect = pure | read | idempotent(days(7)) | write`: what a second run would do.
/// - `timeout = seconds(10)`, `max_result_size = kilobytes(256)`, `reserve = usd(0.05)`.
/// - `approval = Role`, `approval_when = predicate`: who is asked first, and for which inputs.
/// - `name = "other-tool"`, `env = ["STRIPE_KEY"]`, `exclusive`, `throw_on_error`.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(attribute.into(), item.into()).into()
}

/// Makes a struct or enum a type that models write or read.
///
/// Each field and variant has a doc comment: the model reads it. Fields may carry
/// `#[dto(range = 1..=10)]`, `#[dto(length = 1..=80)]`, `#[dto(pattern = "^A")]`, `#[dto(default)]` or `#[dto(default = 5)]`.
/// The variants of an enum are written in snake case; one with fields carries its name in `kind`.
#[proc_macro_attribute]
pub fn dto(attribute: TokenStream, item: TokenStream) -> TokenStream {
    dto::expand(attribute.into(), item.into()).into()
}

/// Makes a unit struct a role that people or systems fill.
///
/// Either `approves = Input` or `ask = Question, answer = Answer`; always `answered_by = thread_owner | channel`.
#[proc_macro_attribute]
pub fn role(attribute: TokenStream, item: TokenStream) -> TokenStream {
    role::expand(attribute.into(), item.into()).into()
}

/// Makes an async function a test, on a runtime of its own and under a bound that turns a hang into a failure.
///
/// Named as `#[leasehold_testkit::test]`; what it runs is `leasehold_testkit::run`.
#[proc_macro_attribute]
pub fn test(attribute: TokenStream, item: TokenStream) -> TokenStream {
    test::expand(attribute.into(), item.into()).into()
}
