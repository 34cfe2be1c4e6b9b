//! What stands in `#[tool(..)]`, as items and as changes to the spec.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, ItemFn, Lit};

use crate::attribute::Arguments;
use crate::signature::Signature;

pub(super) const KEYS: [&str; 10] = [
    "effect",
    "timeout",
    "max_result_size",
    "name",
    "approval",
    "approval_when",
    "exclusive",
    "throw_on_error",
    "reserve",
    "env",
];

const EFFECT: &str = "[tool.effect-missing] say what a second run would do: effect = pure, read, idempotent(days(7)) or write";

/// The attribute's arguments, translated.
#[derive(Default)]
pub(super) struct Settings {
    /// Constants that the compiler evaluates.
    pub(super) items: TokenStream,
    /// Statements that change `spec`.
    pub(super) changes: TokenStream,
    pub(super) effect: TokenStream,
}

impl Settings {
    pub(super) fn read(item: &ItemFn, signature: &Signature, arguments: &mut Arguments) -> Self {
        let mut settings = Self::default();
        settings.name(item, arguments);
        settings.effect(arguments);
        settings.limits(arguments);
        settings.approval(signature, arguments);
        settings.flags(arguments);
        settings.lists(arguments);
        settings
    }

    fn name(&mut self, item: &ItemFn, arguments: &mut Arguments) {
        let kind = quote!(__lh::tools::Kind::Tool);
        let ident = &item.sig.ident;
        self.items.extend(match arguments.value("name") {
            Some(name) => quote_spanned! {name.span()=>
                const __NAME: &str = #name;
                const _: () = __lh::require_name(#kind, #name);
            },
            None => {
                let text = ident.to_string();
                let text = text.trim_start_matches("r#");
                quote_spanned! {ident.span()=>
                    const __TEXT: &__lh::ConstText = &__lh::derived_name(#kind, #text);
                    const __NAME: &str = __TEXT.as_str();
                    const _: () = __lh::require_name(#kind, __NAME);
                }
            }
        });
    }

    fn effect(&mut self, arguments: &mut Arguments) {
        let Some(value) = arguments.value("effect") else {
            arguments.errors.push(Error::new(Span::call_site(), EFFECT));
            return;
        };
        let effect = match &value {
            Expr::Path(path) if path.path.is_ident("pure") => Ok(quote!(__lh::types::Effect::Pure)),
            Expr::Path(path) if path.path.is_ident("read") => Ok(quote!(__lh::types::Effect::Read)),
            Expr::Path(path) if path.path.is_ident("write") => {
                Ok(quote!(__lh::types::Effect::Write))
            }
            Expr::Call(call) => idempotent(call),
            _ => Err(Error::new_spanned(&value, EFFECT)),
        };
        if let Some(effect) = arguments.errors.take(effect) {
            self.effect = quote_spanned!(value.span()=> __lh::require_effect(__NAME, #effect));
        }
    }

    fn limits(&mut self, arguments: &mut Arguments) {
        if let Some(value) = arguments.value("timeout") {
            let text = "[tool.timeout-unit] a timeout needs a unit: write `seconds(10)`";
            arguments.errors.take(refuse_literal(&value, text));
            self.items.extend(quote_spanned! {value.span()=>
                const __TIMEOUT: ::core::time::Duration = __lh::require_timeout(__NAME, #value);
            });
            self.changes.extend(quote!(spec.timeout = __TIMEOUT;));
        }
        if let Some(value) = arguments.value("max_result_size") {
            let text = "[tool.size-unit] a size needs a unit: write `kilobytes(256)`";
            arguments.errors.take(refuse_literal(&value, text));
            self.items.extend(quote_spanned! {value.span()=>
                const __BOUND: __lh::types::Size = __lh::require_bound(__NAME, #value);
            });
            self.changes
                .extend(quote!(spec.max_result_size = ::core::option::Option::Some(__BOUND);));
        }
        if let Some(value) = arguments.value("reserve") {
            let text = "[tool.money-unit] an amount needs a unit: write `usd(0.05)`";
            arguments.errors.take(refuse_literal(&value, text));
            self.changes
                .extend(quote!(spec.reserve = ::core::option::Option::Some(::core::convert::Into::into(#value));));
        }
    }

    fn approval(&mut self, signature: &Signature, arguments: &mut Arguments) {
        let (role, condition) = (
            arguments.value("approval"),
            arguments.value("approval_when"),
        );
        let Some(role) = role else {
            if let Some(condition) = condition {
                let text = "`approval_when` needs `approval = Role`: who is asked when it holds";
                arguments.errors.push(Error::new_spanned(condition, text));
            }
            if let Some(kind) = signature.approved() {
                let text = "[tool.approved-without-approval] only a tool with `approval = Role` takes `Approved`";
                arguments.errors.push(Error::new_spanned(kind, text));
            }
            return;
        };
        let input = match &signature.input {
            Some(input) => quote!(#input),
            None => quote!(__lh::tools::NoArguments),
        };
        let made = quote_spanned!(role.span()=> __lh::approval::<#role, #input>());
        let when = condition
            .map(|condition| quote_spanned!(condition.span()=> .when::<#input>(#condition)));
        self.changes
            .extend(quote!(spec.approval = ::core::option::Option::Some(#made #when);));
    }

    fn flags(&mut self, arguments: &mut Arguments) {
        if arguments.flag("exclusive").is_some() {
            self.changes
                .extend(quote!(spec.company = __lh::tools::Company::Exclusive;));
        }
        if arguments.flag("throw_on_error").is_some() {
            self.changes
                .extend(quote!(spec.on_error = __lh::tools::OnError::Throw;));
        }
    }

    fn lists(&mut self, arguments: &mut Arguments) {
        let Some(value) = arguments.value("env") else {
            return;
        };
        let Expr::Array(names) = &value else {
            let error = Error::new_spanned(
                &value,
                "write the names as a list: `env = [\"STRIPE_KEY\"]`",
            );
            arguments.errors.push(error);
            return;
        };
        let names = names.elems.iter();
        self.changes
            .extend(quote!(#(spec.env.push(::std::borrow::Cow::Borrowed(#names));)*));
    }
}

fn idempotent(call: &syn::ExprCall) -> syn::Result<TokenStream> {
    let is_idempotent =
        matches!(call.func.as_ref(), Expr::Path(path) if path.path.is_ident("idempotent"));
    let (true, 1, Some(retention)) = (is_idempotent, call.args.len(), call.args.first()) else {
        return Err(Error::new_spanned(call, EFFECT));
    };
    refuse_literal(
        retention,
        "[tool.retention-unit] a retention needs a unit: write `idempotent(days(7))`",
    )?;
    Ok(quote!(__lh::types::Effect::idempotent(#retention)))
}

/// Refuses a value without a unit: a bare number, or a text as configuration files have it.
fn refuse_literal(value: &Expr, text: &str) -> syn::Result<()> {
    let literal = match value {
        Expr::Unary(unary) => unary.expr.as_ref(),
        other => other,
    };
    match literal {
        Expr::Lit(literal) if matches!(literal.lit, Lit::Int(_) | Lit::Float(_) | Lit::Str(_)) => {
            Err(Error::new_spanned(value, text))
        }
        _ => Ok(()),
    }
}
