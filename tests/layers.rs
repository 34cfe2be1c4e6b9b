//! The layers: what each package may import, asked of cargo.
//!
//! Development dependencies are left out: tests may reach anything.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where its premise does not hold"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use leasehold_tests::sources;
use serde_json::Value;

/// Packages by layer; a package imports from lower layers only.
const LAYERS: &[&[&str]] = &[
    &["leasehold-types", "leasehold-macros"],
    &[
        "leasehold-tools",
        "leasehold-models",
        "leasehold-lease",
        "leasehold-journal",
        "leasehold-bus",
    ],
    &["leasehold-execution"],
    &["leasehold-actors"],
    &["leasehold-cluster"],
    &["leasehold-server"],
    &["leasehold"],
    &["leasehold-testkit"],
    &["leasehold-tests", "leasehold-benches", "desk", "shop"],
];

/// Packages that no runtime, driver or socket may be reachable from, with their default features.
const RUNTIME_FREE: [&str; 8] = [
    "leasehold-types",
    "leasehold-macros",
    "leasehold-tools",
    "leasehold-models",
    "leasehold-lease",
    "leasehold-journal",
    "leasehold-bus",
    "leasehold-execution",
];

/// Async runtimes, drivers and sockets, by the names of their packages.
const RUNTIMES_DRIVERS_SOCKETS: [&str; 23] = [
    "async-executor",
    "async-global-executor",
    "async-io",
    "async-nats",
    "async-std",
    "etcd-client",
    "fjall",
    "futures-executor",
    "genai",
    "hyper",
    "mio",
    "native-tls",
    "openssl",
    "polling",
    "ractor",
    "redb",
    "reqwest",
    "rusqlite",
    "rustls",
    "smol",
    "socket2",
    "tokio",
    "tonic",
];

/// Asks cargo, without a network.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--offline")
        .current_dir(sources::root())
        .output()
        .expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}

/// The workspace's packages with what each imports from the workspace, for itself and for its build.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let text = cargo(&["metadata", "--format-version=1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&text).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    packages
        .iter()
        .map(|package| (name_of(package), imports_of(package)))
        .collect()
}

fn name_of(package: &Value) -> String {
    package["name"].as_str().unwrap().to_owned()
}

fn imports_of(package: &Value) -> BTreeSet<String> {
    let dependencies = package["dependencies"].as_array().unwrap();
    dependencies
        .iter()
        .filter(|dependency| dependency["kind"] != "dev" && dependency["path"].is_string())
        .map(name_of)
        .collect()
}

fn layer(package: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&package))
}

#[test]
fn every_package_has_its_layer() {
    let without: Vec<String> = imports()
        .into_keys()
        .filter(|package| layer(package).is_none())
        .collect();
    assert!(without.is_empty(), "in no layer: {without:?}");
}

#[test]
fn a_package_imports_from_lower_layers_only() {
    let mut wrong = Vec::new();
    for (package, imported) in imports() {
        for import in imported {
            if layer(&import) >= layer(&package) {
                wrong.push(format!("{package} imports {import}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_domains_know_nothing_of_each_other_but_the_nouns_they_share() {
    let only = BTreeSet::from(["leasehold-types".to_owned()]);
    let imports = imports();
    for domain in LAYERS[1] {
        assert_eq!(imports[*domain], only, "{domain}");
    }
    for package in LAYERS[0] {
        assert!(imports[*package].is_empty(), "{package}");
    }
}

#[test]
fn no_runtime_driver_or_socket_is_reachable_from_what_decides() {
    for package in RUNTIME_FREE {
        let tree = cargo(&[
            "tree",
            "--package",
            package,
            "--edges=normal,build",
            "--prefix=none",
            "--format={p}",
        ]);
        let reached: Vec<&str> = tree
            .lines()
            .filter_map(|line| line.split(' ').next())
            .filter(|name| RUNTIMES_DRIVERS_SOCKETS.contains(name))
            .collect();
        assert!(reached.is_empty(), "{package} reaches {reached:?}");
    }
}

#[test]
fn the_environment_is_read_in_the_configuration_only() {
    let readers = ["env::var", "env::vars", "env::args"];
    let wrong: Vec<String> = sources::all()
        .unwrap()
        .into_iter()
        .filter(|file| file.is_shipped() && !file.path.starts_with("cluster/src/config"))
        .filter(|file| {
            let code = file.without_unit_tests();
            readers.iter().any(|reader| code.contains(reader))
        })
        .map(|file| file.path)
        .collect();
    assert!(wrong.is_empty(), "read the environment: {wrong:?}");
}
