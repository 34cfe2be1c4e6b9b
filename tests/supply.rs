//! What is built from: each package's origin, and what the workspace declares.
//!
//! Licences and bans are read from the packages themselves, by `cargo deny` in CI.

use std::collections::BTreeSet;

use leasehold_tests::sources;

/// The one registry, as the lock file names it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

// RELIABILITY SEC9
#[test]
fn every_package_is_ours_or_from_the_registry_with_its_checksum() {
    let lock = sources::one("Cargo.lock").unwrap();
    let strange: Vec<&str> = lock
        .split("[[package]]")
        .skip(1)
        .filter(|package| {
            let of_registry = package.contains(&format!("\nsource = \"{REGISTRY}\"\n"));
            let has_checksum = package.contains("\nchecksum = \"");
            let is_ours = !package.contains("\nsource = ");
            !(is_ours || (of_registry && has_checksum))
        })
        .collect();
    assert!(strange.is_empty(), "{strange:#?}");
}

#[test]
fn ci_asks_for_licences_bans_and_origins() {
    let ci = sources::one(".ci/run").unwrap();
    assert!(ci.contains("\ncargo deny --offline check bans licenses sources\n"));
    let rules = sources::one("deny.toml").unwrap();
    for rule in ["unknown-registry = \"deny\"", "unknown-git = \"deny\""] {
        assert!(rules.contains(rule), "deny.toml lacks {rule}");
    }
}

#[test]
fn every_package_inherits_what_the_workspace_says() {
    let inherited = [
        "version.workspace = true",
        "edition.workspace = true",
        "rust-version.workspace = true",
        "license.workspace = true",
        "publish.workspace = true",
        "[lints]\nworkspace = true",
    ];
    let mut lacking = Vec::new();
    for manifest in manifests() {
        for line in inherited {
            if !manifest.text.contains(line) {
                lacking.push(format!("{}: {line}", manifest.path));
            }
        }
    }
    assert!(lacking.is_empty(), "{lacking:#?}");
}

#[test]
fn every_dependency_of_the_workspace_is_used_by_a_package() {
    let used: BTreeSet<String> = manifests()
        .iter()
        .flat_map(|manifest| manifest.text.lines())
        .filter(|line| line.contains("workspace = true"))
        .filter_map(|line| line.split(['.', ' ']).next())
        .map(str::to_owned)
        .collect();
    let root = sources::one("Cargo.toml").unwrap();
    let unused: Vec<&str> = root
        .lines()
        .skip_while(|line| *line != "[workspace.dependencies]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "))
        .map(|(name, _)| name)
        .filter(|name| !used.contains(*name))
        .collect();
    assert!(unused.is_empty(), "declared and not used: {unused:?}");
}

/// The manifests of the workspace's packages.
fn manifests() -> Vec<sources::Source> {
    let all = sources::all().unwrap_or_default();
    all.into_iter()
        .filter(|file| file.path.ends_with("/Cargo.toml"))
        .collect()
}
