//! `#[test]` of the testkit: an async test that runs under a runtime and a watchdog.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, ItemFn};

const FORM: &str =
    "[testkit.test-form] `#[leasehold_testkit::test]` stands on an `async fn` without parameters";

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let refused = |at: proc_macro2::Span| {
        let error = Error::new(at, FORM).into_compile_error();
        quote!(#error)
    };
    let Ok(function) = syn::parse2::<ItemFn>(item) else {
        return refused(proc_macro2::Span::call_site());
    };
    let signature = &function.sig;
    if signature.asyncness.is_none() || !signature.inputs.is_empty() {
        return refused(signature.span());
    }
    if !attribute.is_empty() {
        return refused(attribute.span());
    }
    let (attributes, name) = (&function.attrs, &signature.ident);
    let (output, body) = (&signature.output, &function.block);
    let run = quote_spanned!(name.span()=> ::leasehold_testkit::run);
    quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        fn #name() #output {
            async fn test() #output #body
            #run(test)
        }
    }
}
