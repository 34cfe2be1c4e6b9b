//! Each Rust file begins with a header that says what it is for.

use leasehold_tests::sources;

#[test]
fn every_rust_file_begins_with_a_header() {
    let without: Vec<String> = sources::all()
        .unwrap()
        .into_iter()
        .filter(|file| file.is_rust() && !file.is_refused_program())
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| file.path)
        .collect();
    assert!(without.is_empty(), "without a header: {without:#?}");
}
