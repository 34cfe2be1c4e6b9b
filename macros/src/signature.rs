//! A tool function's signature: its parameters' types, its input, its output.

use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, ItemFn, PathArguments, PathSegment, ReturnType, Type};

use crate::attribute::Errors;

/// What the signature says.
pub(crate) struct Signature {
    pub(crate) parameters: Vec<Type>,
    pub(crate) input: Option<Type>,
    pub(crate) output: Option<Type>,
}

impl Signature {
    /// Reads a signature; what no tool can have is an error.
    pub(crate) fn read(item: &ItemFn, errors: &mut Errors) -> Self {
        refuse_forms(item, errors);
        let parameters: Vec<Type> = item
            .sig
            .inputs
            .iter()
            .filter_map(|input| parameter(input, errors))
            .collect();
        let mut inputs = parameters
            .iter()
            .filter_map(|kind| Some((kind, inner(kind, "Input")?)));
        let input = inputs.next().map(|(_, input)| input.clone());
        for (second, _) in inputs {
            let text = "[tool.two-inputs] a tool has one input: put both in one #[dto]";
            errors.push(Error::new_spanned(second, text));
        }
        let output = output(item, errors);
        Self {
            parameters,
            input,
            output,
        }
    }

    /// The parameter that takes an approval, if one does.
    pub(crate) fn approved(&self) -> Option<&Type> {
        self.parameters.iter().find(|kind| {
            let wanted = inner(kind, "Option").unwrap_or(kind);
            inner(wanted, "Approved").is_some()
        })
    }
}

fn refuse_forms(item: &ItemFn, errors: &mut Errors) {
    let signature = &item.sig;
    let refused = [
        (!signature.generics.params.is_empty()).then(|| signature.generics.span()),
        signature.unsafety.map(|token| token.span),
        signature.abi.as_ref().map(Spanned::span),
        signature.constness.map(|token| token.span),
        signature.variadic.as_ref().map(Spanned::span),
    ];
    for span in refused.into_iter().flatten() {
        let text = "[tool.form] a tool is a plain `async fn` or `fn` without type parameters";
        errors.push(Error::new(span, text));
    }
}

fn parameter(input: &FnArg, errors: &mut Errors) -> Option<Type> {
    match input {
        FnArg::Typed(typed) => owned(&typed.ty, errors).cloned(),
        FnArg::Receiver(receiver) => {
            let text = "[tool.form] a tool has no `self`: take a service as `Dep<Service>`";
            errors.push(Error::new_spanned(receiver, text));
            None
        }
    }
}

/// The parameter's type, unless it borrows: a call outlives whoever made it.
fn owned<'a>(kind: &'a Type, errors: &mut Errors) -> Option<&'a Type> {
    if matches!(kind, Type::Reference(_) | Type::ImplTrait(_)) {
        let text = "[tool.form] a tool owns what it takes: a service is `Dep<..>`, arguments are `Input<..>`";
        errors.push(Error::new_spanned(kind, text));
        return None;
    }
    Some(kind)
}

fn output(item: &ItemFn, errors: &mut Errors) -> Option<Type> {
    let text = "[tool.return-type] a tool returns `ToolResult<..>`, with the type of its output";
    match &item.sig.output {
        ReturnType::Default => {
            errors.push(Error::new(item.sig.ident.span(), text));
            None
        }
        ReturnType::Type(_, kind) => {
            let found = inner(kind, "ToolResult").or_else(|| inner(kind, "Result"));
            if found.is_none() {
                errors.push(Error::new_spanned(kind, text));
            }
            found.cloned()
        }
    }
}

/// The `T` of a type written as `Name<T>` or `path::Name<T>`.
pub(crate) fn inner<'a>(kind: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = kind else { return None };
    let PathSegment {
        ident,
        arguments: PathArguments::AngleBracketed(arguments),
    } = path.path.segments.last()?
    else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(inner) if ident == name => Some(inner),
        _ => None,
    }
}
