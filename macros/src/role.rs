//! `#[role]`: a unit struct that people or systems fill.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Expr, Fields, ItemStruct};

use crate::attribute::{Arguments, Errors};
use crate::doc;

const KEYS: [&str; 5] = ["approves", "ask", "answer", "answered_by", "name"];
const FORM: &str = "[channel.role-form] a role either approves a tool's input or asks a question, and says who answers: thread_owner or channel";

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemStruct = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(_) => {
            let error = Error::new(
                Span::call_site(),
                "a role is a unit struct: `struct RefundApproval;`",
            );
            let error = error.into_compile_error();
            return quote!(#error #item);
        }
    };
    let mut arguments = Arguments::parse(attribute, &KEYS);
    let body = body(&item, &mut arguments);
    let errors = arguments.errors.into_tokens();
    quote! {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #item
        #errors
        #body
    }
}

fn body(item: &ItemStruct, arguments: &mut Arguments) -> Option<TokenStream> {
    let name = name(item, arguments);
    let form = form(arguments);
    let description = description(item, &mut arguments.errors);
    if !matches!(item.fields, Fields::Unit) {
        let error = Error::new_spanned(&item.fields, "a role has no fields");
        arguments.errors.push(error);
    }
    if !arguments.errors.is_empty() {
        return None;
    }
    let ident = &item.ident;
    let Form {
        info,
        impls,
        answerer,
    } = form?;
    let impls = impls(ident);
    Some(quote! {
        const _: () = {
            use ::leasehold::__private as __lh;
            #name
            impl __lh::tools::Role for #ident {
                fn info() -> __lh::tools::RoleInfo {
                    __lh::tools::RoleInfo {
                        name: __NAME,
                        description: #description,
                        answered_by: __lh::types::Answerer::#answerer,
                        form: #info,
                    }
                }
            }
            #impls
        };
    })
}

fn description(item: &ItemStruct, errors: &mut Errors) -> Option<String> {
    let text = doc::text(&item.attrs);
    if text.is_none() {
        let text = "[channel.missing-description] people read a role's doc comment: write one";
        errors.push(Error::new_spanned(&item.ident, text));
    }
    text
}

fn name(item: &ItemStruct, arguments: &mut Arguments) -> TokenStream {
    let kind = quote!(__lh::tools::Kind::Channel);
    match arguments.value("name") {
        Some(name) => quote_spanned! {name.span()=>
            const __NAME: &str = #name;
            const _: () = __lh::require_name(#kind, #name);
        },
        None => {
            let text = item.ident.to_string();
            quote_spanned! {item.ident.span()=>
                const __TEXT: &__lh::ConstText = &__lh::derived_name(#kind, #text);
                const __NAME: &str = __TEXT.as_str();
                const _: () = __lh::require_name(#kind, __NAME);
            }
        }
    }
}

struct Form {
    info: TokenStream,
    impls: Box<dyn Fn(&syn::Ident) -> TokenStream>,
    answerer: TokenStream,
}

fn form(arguments: &mut Arguments) -> Option<Form> {
    let [approves, ask, answer, by] =
        ["approves", "ask", "answer", "answered_by"].map(|key| arguments.value(key));
    let answerer = match by.as_ref().map(|by| quote!(#by).to_string()).as_deref() {
        Some("thread_owner") => Some(quote!(ThreadOwner)),
        Some("channel") => Some(quote!(Channel)),
        _ => None,
    };
    let form = match (approves, ask, answer, answerer) {
        (Some(input), None, None, Some(answerer)) => Some(approval(&input, answerer)),
        (None, Some(ask), Some(answer), Some(answerer)) => Some(question(&ask, &answer, answerer)),
        _ => None,
    };
    if form.is_none() && arguments.errors.is_empty() {
        arguments.errors.push(Error::new(Span::call_site(), FORM));
    }
    form
}

fn approval(input: &Expr, answerer: TokenStream) -> Form {
    let input = quote!(#input);
    Form {
        info: quote!(__lh::tools::RoleForm::approves::<
            <Self as __lh::tools::ApprovalRole>::Input,
        >()),
        impls: Box::new(move |ident| {
            quote! {
                impl __lh::tools::ApprovalRole for #ident { type Input = #input; }
                impl __lh::tools::Approves<#input> for #ident {}
            }
        }),
        answerer,
    }
}

fn question(ask: &Expr, answer: &Expr, answerer: TokenStream) -> Form {
    let (ask, answer) = (quote!(#ask), quote!(#answer));
    Form {
        info: quote! {
            __lh::tools::RoleForm::asks::<
                <Self as __lh::tools::QuestionRole>::Question,
                <Self as __lh::tools::QuestionRole>::Answer,
            >()
        },
        impls: Box::new(move |ident| {
            quote! {
                impl __lh::tools::QuestionRole for #ident {
                    type Question = #ask;
                    type Answer = #answer;
                }
            }
        }),
        answerer,
    }
}
