//! Doc comments: what the model or a person reads.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// The text of an item's doc comment, none where it says nothing.
pub(crate) fn text(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes.iter().filter_map(line).collect();
    let joined = lines.join("\n");
    let text = joined.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) if pair.path.is_ident("doc") => Some(text.value().trim().to_owned()),
        _ => None,
    }
}
