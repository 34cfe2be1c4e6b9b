//! An attribute's arguments: `key = value` or a bare `key`, each at most once, only known ones.

use proc_macro2::{Span, TokenStream};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Error, Expr, Ident, Token};

/// One argument.
pub(crate) struct Argument {
    pub(crate) key: Ident,
    pub(crate) value: Option<Expr>,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.parse()?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { key, value })
    }
}

/// All arguments of an attribute, and everything wrong with them so far.
pub(crate) struct Arguments {
    given: Vec<Argument>,
    pub(crate) errors: Errors,
}

impl Arguments {
    /// Reads the arguments; unknown and repeated ones are errors.
    pub(crate) fn parse(tokens: TokenStream, known: &[&str]) -> Self {
        let mut errors = Errors::default();
        let parser = Punctuated::<Argument, Token![,]>::parse_terminated;
        let mut given: Vec<Argument> = Vec::new();
        for argument in errors.take(parser.parse2(tokens)).into_iter().flatten() {
            let key = argument.key.to_string();
            if !known.contains(&key.as_str()) {
                let text = format!("unknown argument `{key}`: one of {}", known.join(", "));
                errors.push(Error::new(argument.key.span(), text));
            } else if given.iter().any(|other| other.key == argument.key) {
                errors.push(Error::new(
                    argument.key.span(),
                    format!("`{key}` is given twice"),
                ));
            } else {
                given.push(argument);
            }
        }
        Self { given, errors }
    }

    /// The value of `key`; a bare key is an error.
    pub(crate) fn value(&mut self, key: &str) -> Option<Expr> {
        let at = self.given.iter().position(|argument| argument.key == key)?;
        let argument = self.given.swap_remove(at);
        if argument.value.is_none() {
            let text = format!("`{key}` needs a value: `{key} = ..`");
            self.errors.push(Error::new(argument.key.span(), text));
        }
        argument.value
    }

    /// Whether `key` stands without a value.
    pub(crate) fn is_bare(&self, key: &str) -> bool {
        self.given
            .iter()
            .any(|argument| argument.key == key && argument.value.is_none())
    }

    /// Where a bare `key` stands; one with a value is an error.
    pub(crate) fn flag(&mut self, key: &str) -> Option<Span> {
        let at = self.given.iter().position(|argument| argument.key == key)?;
        let argument = self.given.swap_remove(at);
        if let Some(value) = argument.value {
            self.errors.push(Error::new_spanned(
                value,
                format!("`{key}` stands alone, without a value"),
            ));
        }
        Some(argument.key.span())
    }
}

/// Everything wrong with one item.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    pub(crate) fn push(&mut self, error: Error) {
        match &mut self.0 {
            Some(all) => all.combine(error),
            None => self.0 = Some(error),
        }
    }

    /// The value, or its error kept.
    pub(crate) fn take<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Them all as one.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.0
    }

    /// The compiler's errors, to stand beside the item's skeleton.
    pub(crate) fn into_tokens(self) -> TokenStream {
        self.0.map(Error::into_compile_error).unwrap_or_default()
    }
}
