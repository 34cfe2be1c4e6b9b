//! Panics unwind in every build: one tool's panic is one call's error, and a supervisor goes on.

#![expect(
    clippy::expect_used,
    reason = "a helper of tests ends the test where its premise does not hold"
)]

use std::process::{Command, Output};

use leasehold_tests::sources;

/// Compiles the file of the build check alone, for a program that treats panics this way.
fn compile_the_check(panics: &str) -> Output {
    Command::new("rustc")
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata"])
        .args(["--crate-name", &format!("check_{panics}")])
        .args(["-C", &format!("panic={panics}")])
        .args(["--out-dir", env!("CARGO_TARGET_TMPDIR")])
        .arg(sources::root().join("actors/src/unwind.rs"))
        .output()
        .expect("rustc starts")
}

// CASE 85
#[test]
fn a_build_whose_panics_abort_is_refused() {
    let refused = compile_the_check("abort");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success(), "it compiled");
    assert!(said.contains("[build.panics-abort]"), "{said}");
    assert!(compile_the_check("unwind").status.success());
}

#[test]
fn the_build_check_is_part_of_what_every_application_builds() {
    let lib = sources::one("actors/src/lib.rs").unwrap();
    assert!(lib.lines().any(|line| line == "mod unwind;"));
}

#[test]
fn no_profile_of_the_workspace_lets_panics_abort() {
    let wrong: Vec<String> = sources::all()
        .unwrap()
        .into_iter()
        .filter(|file| file.path.ends_with(".toml"))
        .filter(|file| file.text.replace(' ', "").contains("panic=\"abort\""))
        .map(|file| file.path)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}
