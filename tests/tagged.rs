//! Tags name rows that exist, stand above tests, and `docs/reliability.md` says of each row whether it is tested.

use leasehold_tests::rows::List;
use leasehold_tests::{documents, sources, tags};

const DOCUMENT: &str = "docs/reliability.md";

#[test]
fn every_tag_names_rows_that_exist_above_a_test() {
    let wrong = tags::read(&sources::all().unwrap()).wrong;
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_row_is_tested_or_says_why_not() {
    let proven = tags::read(&sources::all().unwrap()).proven;
    let excused = documents::not_tested(&sources::one(DOCUMENT).unwrap());
    let silent: Vec<_> = List::ALL
        .into_iter()
        .flat_map(|list| list.ids().into_iter().map(move |id| (list, id)))
        .filter(|row| !proven.contains_key(row) && !excused.contains_key(row))
        .collect();
    assert!(silent.is_empty(), "neither tested nor excused: {silent:?}");
}

#[test]
fn no_row_that_is_tested_is_called_untested() {
    let proven = tags::read(&sources::all().unwrap()).proven;
    let excused = documents::not_tested(&sources::one(DOCUMENT).unwrap());
    let wrong: Vec<_> = excused
        .keys()
        .filter(|row| proven.contains_key(row) || !row.0.has(&row.1))
        .collect();
    assert!(wrong.is_empty(), "tested, or no row: {wrong:?}");
}

#[test]
fn the_table_of_proven_rows_is_the_one_the_tags_make() {
    let table = documents::proven_rows(&tags::read(&sources::all().unwrap()));
    let document = sources::one(DOCUMENT).unwrap();
    assert!(
        document == documents::with_derived(&document, &table),
        "{DOCUMENT} is stale: cargo run -p leasehold-tests --bin rows"
    );
}
