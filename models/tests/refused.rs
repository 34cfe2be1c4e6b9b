//! How compile errors read: a model is asked with a permit, or the program does not compile.

/// The gate of rule D5: no token, no call.
#[test]
fn a_model_is_not_asked_without_a_permit() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
