//! The catalogue of errors: each code is explained once, and each entry has a code.

use leasehold_tests::{codes, documents, sources};

#[test]
fn every_error_code_has_an_entry_that_says_what_to_do() {
    let sources = sources::all().unwrap();
    let explained = codes::explained(&sources);
    let missing: Vec<String> = codes::written(&sources)
        .into_iter()
        .filter(|(code, _)| !explained.contains_key(code))
        .map(|(code, files)| format!("{code} in {}", files.join(", ")))
        .collect();
    assert!(missing.is_empty(), "no entry in docs/errors: {missing:#?}");
}

#[test]
fn every_entry_of_the_catalogue_has_a_code_that_sources_write() {
    let sources = sources::all().unwrap();
    let written = codes::written(&sources);
    let stale: Vec<_> = codes::explained(&sources)
        .into_iter()
        .filter(|(code, _)| !written.contains_key(code))
        .collect();
    assert!(stale.is_empty(), "no source writes: {stale:#?}");
}

#[test]
fn no_code_is_explained_twice() {
    let sources = sources::all().unwrap();
    let twice: Vec<_> = codes::explained(&sources)
        .into_iter()
        .filter(|(_, pages)| pages.len() > 1)
        .collect();
    assert!(twice.is_empty(), "explained twice: {twice:#?}");
}

#[test]
fn the_index_of_error_codes_lists_what_the_pages_explain() {
    let index = codes::index(&codes::explained(&sources::all().unwrap()));
    let document = sources::one("docs/errors.md").unwrap();
    assert!(
        document == documents::with_derived(&document, &index),
        "docs/errors.md is stale: cargo run -p leasehold-tests --bin rows"
    );
}
