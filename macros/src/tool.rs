//! `#[tool]`: a function becomes a unit struct that implements `Tool`.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, Ident, ItemFn, Visibility};

use crate::attribute::{Arguments, Errors};
use crate::doc;
use crate::signature::{self, Signature};
use settings::Settings;

mod settings;

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item: ItemFn = match syn::parse2(item.clone()) {
        Ok(parsed) => parsed,
        Err(_) => {
            let text = "[tool.form] `#[tool]` stands on a function";
            let error = Error::new(Span::call_site(), text).into_compile_error();
            return quote!(#error #item);
        }
    };
    let mut arguments = Arguments::parse(attribute, &settings::KEYS);
    let signature = Signature::read(&item, &mut arguments.errors);
    let description = description(&item, &mut arguments.errors);
    let settings = Settings::read(&item, &signature, &mut arguments);
    let tool = Declaration {
        item: &item,
        signature,
        description,
        settings,
    };
    tool.output(arguments.errors)
}

fn description(item: &ItemFn, errors: &mut Errors) -> String {
    doc::text(&item.attrs).unwrap_or_else(|| {
        let text = format!(
            "[tool.missing-description] the model reads a tool's doc comment; `{}` has none",
            item.sig.ident
        );
        errors.push(Error::new(item.sig.ident.span(), text));
        String::new()
    })
}

struct Declaration<'a> {
    item: &'a ItemFn,
    signature: Signature,
    description: String,
    settings: Settings,
}

impl Declaration<'_> {
    fn output(&self, errors: Errors) -> TokenStream {
        let is_sound = errors.is_empty();
        let errors = errors.into_tokens();
        let (skeleton, implementation) = (
            self.skeleton(),
            match is_sound {
                true => self.implementation(),
                false => self.empty_implementation(),
            },
        );
        quote!(#skeleton #errors #implementation)
    }

    fn ident(&self) -> &Ident {
        &self.item.sig.ident
    }

    /// The struct and the plain function.
    fn skeleton(&self) -> TokenStream {
        let (ident, vis) = (self.ident(), &self.item.vis);
        let (docs, others): (Vec<&Attribute>, Vec<&Attribute>) = self
            .item
            .attrs
            .iter()
            .partition(|attribute| attribute.path().is_ident("doc"));
        let function = self.function(vis, &others);
        quote! {
            #(#docs)*
            #[expect(non_camel_case_types, reason = "a tool is named like its function")]
            #[derive(Debug, Clone, Copy, PartialEq, Eq)]
            #vis struct #ident;
            const _: () = {
                // A function gives way to a variable of its name; a unit struct would turn it into a pattern.
                #[allow(dead_code, reason = "only its name matters")]
                const fn #ident() {}
                impl #ident {
                    #function
                }
            };
        }
    }

    fn function(&self, vis: &Visibility, attributes: &[&Attribute]) -> TokenStream {
        let mut signature = self.item.sig.clone();
        signature.ident = Ident::new("call", signature.ident.span());
        signature.inputs = signature
            .inputs
            .into_iter()
            .filter(|input| matches!(input, syn::FnArg::Typed(_)))
            .collect();
        let block = &self.item.block;
        quote! {
            /// The tool's plain function.
            #[allow(clippy::unused_async, reason = "`async` says that the body does not block")]
            #(#attributes)*
            #vis #signature #block
        }
    }

    fn input_reader(&self) -> Option<TokenStream> {
        let is_input = |kind: &syn::Type| signature::inner(kind, "Input").is_some();
        let at = self.signature.parameters.iter().position(is_input)?;
        let (ident, vis, at) = (self.ident(), &self.item.vis, syn::Index::from(at));
        let input = self.signature.input.as_ref()?;
        Some(quote! {
            impl #ident {
                /// The tool's input, read as a call's arguments are; for tests.
                ///
                /// # Panics
                /// The value is no valid input.
                #[allow(dead_code, reason = "tests use it")]
                #[track_caller]
                #[must_use]
                #vis fn input(self, value: __lh::serde_json::Value) -> #input {
                    __parameters().#at.read(&value)
                }
            }
        })
    }

    fn implementation(&self) -> TokenStream {
        let ident = self.ident();
        let Settings {
            items,
            changes,
            effect,
            ..
        } = &self.settings;
        let description = &self.description;
        let mentions = self.mentions();
        let indexes = (0..self.signature.parameters.len()).map(syn::Index::from);
        let body = match self.item.sig.asyncness {
            Some(_) => quote!(Async),
            None => quote!(Blocking),
        };
        let (call, input) = (self.call(), self.input_reader());
        let parameters = self.parameters();
        quote! {
            const _: () = {
                use ::leasehold::__private as __lh;
                #items
                const __EFFECT: __lh::types::Effect = #effect;
                #mentions
                impl __lh::tools::Tool for #ident {
                    fn spec(&self) -> __lh::tools::ToolSpec {
                        let spec = __lh::tools::ToolSpec::new(__NAME, #description, __EFFECT);
                        #parameters
                        #(let spec = parameters.#indexes.declare(spec);)*
                        let mut spec = __output().declare(spec);
                        spec.body = __lh::tools::Body::#body;
                        #changes
                        spec
                    }
                    #call
                }
                #input
            };
        }
    }

    /// The only place that names the types of parameters and output with their bounds.
    fn mentions(&self) -> TokenStream {
        let parameters = &self.signature.parameters;
        let made = parameters
            .iter()
            .map(|kind| match signature::inner(kind, "Input") {
                Some(input) => (
                    quote!(__lh::InputParam<#input>),
                    quote_spanned!(input.span()=> __lh::input::<#input>()),
                ),
                None => (
                    quote!(__lh::Param<#kind>),
                    quote_spanned!(kind.span()=> __lh::param::<#kind>()),
                ),
            });
        let (kinds, makers): (Vec<_>, Vec<_>) = made.unzip();
        let output = self.signature.output.as_ref();
        let output = output.map(|kind| {
            let make = quote_spanned!(kind.span()=> __lh::output::<#kind>());
            quote!(fn __output() -> __lh::Output<#kind> { #make })
        });
        let parameters = (!parameters.is_empty()).then(|| {
            quote! {
                fn __parameters() -> (#(#kinds,)*) {
                    (#(#makers,)*)
                }
            }
        });
        quote!(#parameters #output)
    }

    fn parameters(&self) -> Option<TokenStream> {
        (!self.signature.parameters.is_empty()).then(|| quote!(let parameters = __parameters();))
    }

    fn call(&self) -> TokenStream {
        let count = self.signature.parameters.len();
        let names: Vec<Ident> = (0..count)
            .map(|at| format_ident!("parameter_{at}"))
            .collect();
        let indexes = (0..count).map(syn::Index::from);
        let parameters = self.parameters();
        let awaited = self.item.sig.asyncness.map(|_| quote!(.await));
        // The span of the name: a future that is not `Send` is reported there and at the user's `.await`.
        let start = quote_spanned! {self.ident().span()=>
            ::std::boxed::Box::pin(async move {
                #parameters
                #(let #names = parameters.#indexes.make(&call)?;)*
                ::core::mem::drop(call);
                __output().write(Self::call(#(#names),*) #awaited)
            })
        };
        quote! {
            fn call(
                &self,
                call: __lh::tools::ToolCall,
            ) -> __lh::ToolFuture {
                #start
            }
        }
    }

    /// So that a faulty tool is one error and not one more at each use.
    fn empty_implementation(&self) -> TokenStream {
        let ident = self.ident();
        quote! {
            const _: () = {
                use ::leasehold::__private as __lh;
                impl __lh::tools::Tool for #ident {
                    fn spec(&self) -> __lh::tools::ToolSpec { loop {} }
                    fn call(
                        &self,
                        _call: __lh::tools::ToolCall,
                    ) -> __lh::ToolFuture {
                        loop {}
                    }
                }
            };
        }
    }
}
