//! `#[dto]`: a struct or enum that models write or read.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, Meta, Path,
    RangeLimits, Token, Variant, parse_quote,
};

use crate::attribute::{Arguments, Errors};
use crate::doc;

const KEYS: [&str; 4] = ["range", "length", "pattern", "default"];
const FORM: &str = "[dto.form] a #[dto] is a struct with named fields, or an enum whose variants have named fields or none";

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut item: DeriveInput = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(_) => {
            let error = Error::new(Span::call_site(), FORM).into_compile_error();
            return quote!(#error #item);
        }
    };
    let mut errors = Arguments::parse(attribute, &[]).errors;
    if !item.generics.params.is_empty() {
        let text = "[dto.form] a #[dto] has no type parameters: models need one schema";
        errors.push(Error::new_spanned(&item.generics, text));
        item.generics = syn::Generics::default();
    }
    let mut defaults = Defaults::new(&item.ident);
    let tagging = match &mut item.data {
        Data::Struct(data) => {
            fields(&mut data.fields, &mut defaults, &mut errors);
            quote!()
        }
        Data::Enum(data) => variants(&mut data.variants, &mut defaults, &mut errors),
        Data::Union(data) => {
            errors.push(Error::new(data.union_token.span, FORM));
            quote!()
        }
    };
    output(&item, &tagging, defaults, errors)
}

fn output(
    item: &DeriveInput,
    tagging: &TokenStream,
    defaults: Defaults,
    errors: Errors,
) -> TokenStream {
    let ident = &item.ident;
    let derives = derives(&item.attrs);
    let errors = errors.into_tokens();
    let defaults = defaults.into_tokens();
    quote! {
        #[derive(
            #derives
            ::leasehold::__private::serde::Serialize,
            ::leasehold::__private::serde::Deserialize,
            ::leasehold::__private::schemars::JsonSchema,
        )]
        #[serde(crate = "::leasehold::__private::serde", deny_unknown_fields #tagging)]
        #[schemars(crate = "::leasehold::__private::schemars")]
        #item
        #errors
        #defaults
        impl ::leasehold::__private::tools::Dto for #ident {}
        impl ::leasehold::__private::tools::ToolOutput for #ident {}
    }
}

/// The derives every DTO has, without those its author wrote.
fn derives(attributes: &[Attribute]) -> TokenStream {
    let mut written = Vec::new();
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"))
    {
        let parser = Punctuated::<Path, Token![,]>::parse_terminated;
        let paths = attribute.parse_args_with(parser).unwrap_or_default();
        written.extend(
            paths
                .iter()
                .filter_map(|path| Some(path.segments.last()?.ident.to_string())),
        );
    }
    let missing = ["Debug", "Clone", "PartialEq"]
        .into_iter()
        .filter(|name| !written.iter().any(|other| other == name));
    let missing = missing.map(|name| Ident::new(name, Span::call_site()));
    quote!(#(#missing,)*)
}

fn variants(
    variants: &mut Punctuated<Variant, Token![,]>,
    defaults: &mut Defaults,
    errors: &mut Errors,
) -> TokenStream {
    let is_plain = variants
        .iter()
        .all(|variant| matches!(variant.fields, Fields::Unit));
    for variant in variants {
        describe(&variant.ident, &variant.attrs, "variant", errors);
        if !matches!(variant.fields, Fields::Unit) {
            defaults.prefix = variant.ident.to_string().to_lowercase();
            fields(&mut variant.fields, defaults, errors);
        }
    }
    match is_plain {
        true => quote!(, rename_all = "snake_case"),
        false => quote!(, rename_all = "snake_case", tag = "kind"),
    }
}

fn fields(fields: &mut Fields, defaults: &mut Defaults, errors: &mut Errors) {
    let Fields::Named(named) = fields else {
        errors.push(Error::new_spanned(&*fields, FORM));
        return;
    };
    for field in &mut named.named {
        one_field(field, defaults, errors);
    }
}

fn one_field(field: &mut Field, defaults: &mut Defaults, errors: &mut Errors) {
    let Some(ident) = field.ident.clone() else {
        return;
    };
    describe(&ident, &field.attrs, "field", errors);
    let (own, mut others): (Vec<_>, Vec<_>) = field
        .attrs
        .drain(..)
        .partition(|attribute| attribute.path().is_ident("dto"));
    for attribute in own {
        let tokens = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) | Meta::NameValue(_) => {
                errors.push(Error::new_spanned(
                    &attribute,
                    "write `#[dto(range = 1..=10)]`",
                ));
                continue;
            }
        };
        let mut arguments = Arguments::parse(tokens, &KEYS);
        others.extend(constraints(&mut arguments));
        others.extend(defaults.read(field, &ident, &mut arguments));
        if let Some(error) = arguments.errors.into_error() {
            errors.push(error);
        }
    }
    field.attrs = others;
}

fn describe(ident: &Ident, attributes: &[Attribute], what: &str, errors: &mut Errors) {
    if doc::text(attributes).is_none() {
        let text = format!(
            "[dto.missing-description] the model reads each {what}'s doc comment; `{ident}` has none"
        );
        errors.push(Error::new(ident.span(), text));
    }
}

fn constraints(arguments: &mut Arguments) -> Vec<Attribute> {
    let mut found = Vec::new();
    for key in ["range", "length"] {
        let Some(value) = arguments.value(key) else {
            continue;
        };
        if let Some(limits) = arguments.errors.take(limits(key, &value)) {
            let keyword = Ident::new(key, Span::call_site());
            found.push(parse_quote!(#[schemars(#keyword(#limits))]));
        }
    }
    if let Some(pattern) = arguments.value("pattern") {
        found.push(parse_quote!(#[schemars(regex(pattern = #pattern))]));
    }
    found
}

/// `1..=10` as `min = 1, max = 10`.
fn limits(key: &str, value: &Expr) -> syn::Result<TokenStream> {
    let refused = || {
        let text = format!(
            "[dto.range-form] write `{key} = 1..=10`, `1..` or `..=10`: both ends belong to it"
        );
        Error::new_spanned(value, text)
    };
    let Expr::Range(range) = value else {
        return Err(refused());
    };
    let is_open = matches!(range.limits, RangeLimits::HalfOpen(_)) && range.end.is_some();
    if is_open || (range.start.is_none() && range.end.is_none()) {
        return Err(refused());
    }
    let least = range.start.iter().map(|least| quote!(min = #least,));
    let most = range.end.iter().map(|most| quote!(max = #most));
    Ok(quote!(#(#least)* #(#most)*))
}

/// Functions that make the fields' defaults, as serde wants them.
struct Defaults {
    owner: Ident,
    prefix: String,
    functions: Vec<TokenStream>,
}

impl Defaults {
    fn new(owner: &Ident) -> Self {
        Self {
            owner: owner.clone(),
            prefix: String::new(),
            functions: Vec::new(),
        }
    }

    fn read(
        &mut self,
        field: &Field,
        ident: &Ident,
        arguments: &mut Arguments,
    ) -> Option<Attribute> {
        if arguments.is_bare("default") {
            arguments.flag("default");
            return Some(parse_quote!(#[serde(default)]));
        }
        let value = arguments.value("default")?;
        let name = format_ident!("__default_{}{}", self.prefix, ident);
        let (owner, kind) = (&self.owner, &field.ty);
        let value = match value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => quote!(::core::convert::Into::into(#text)),
            other => quote!(#other),
        };
        self.functions.push(quote!(fn #name() -> #kind { #value }));
        let path = format!("{owner}::{name}");
        Some(parse_quote!(#[serde(default = #path)]))
    }

    fn into_tokens(self) -> TokenStream {
        let Self {
            owner, functions, ..
        } = self;
        if functions.is_empty() {
            return TokenStream::new();
        }
        quote!(impl #owner { #(#functions)* })
    }
}
