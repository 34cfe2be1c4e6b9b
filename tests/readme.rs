//! The README: two commands to start, which CI runs, and programs that are compiled.

use leasehold_tests::{documents, sources};

#[test]
fn start_is_two_commands_and_ci_runs_both() {
    let readme = sources::one("README.md").unwrap();
    let commands = documents::first_block_under(&readme, "Start");
    assert_eq!(commands.len(), 2, "{commands:?}");
    let ci = sources::one(".ci/run").unwrap();
    for command in commands {
        assert!(ci.contains(command), ".ci/run does not run {command:?}");
    }
}

#[test]
fn every_program_in_the_readme_is_compiled_as_it_stands_there() {
    let blocks = documents::rust_blocks(&sources::one("README.md").unwrap());
    assert!(!blocks.is_empty(), "the README shows no program");
    for (file, block) in blocks {
        let file = file.expect("a Rust block stands below `<!-- In: path -->`");
        let compiled = sources::one(&file).unwrap();
        assert!(
            compiled.contains(&block),
            "{file} does not hold this block of the README:\n{block}"
        );
    }
}
