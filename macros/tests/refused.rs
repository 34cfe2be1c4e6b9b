//! How compile errors read: one error, at the token that is wrong, with the code and what to write instead.

// CONTRACT T3, T7, T9, T10, P1
// BAD INPUT 31, 33
#[test]
fn each_mistake_is_one_error_at_its_token() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
