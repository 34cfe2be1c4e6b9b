//! What holds for the repository itself: layers, headers, error codes, tags, documents.
//!
//! It starts nothing but `cargo tree` and `rustc`, and changes nothing.

mod errors;
mod headers;
mod layers;
mod pages;
mod panics;
mod readme;
mod speech;
mod supply;
mod tagged;
