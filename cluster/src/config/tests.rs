//! Configurations, right and wrong, from every layer.

use std::path::Path;

use super::layers::Layers;
use super::*;

fn file(text: &str) -> Layers {
    let mut layers = Layers::default();
    layers.add_file(Path::new("leasehold.toml"), text);
    layers
}

fn told(layers: &Layers) -> Vec<String> {
    let errors = Config::read(layers).unwrap_err();
    errors.0.iter().map(ToString::to_string).collect()
}

#[test]
fn without_any_layer_each_setting_has_its_default() {
    let config = Config::read(&Layers::default()).unwrap();
    let node = NodeConfig::default();
    assert_eq!(config.store, PathBuf::from(".leasehold"));
    assert_eq!(config.store_create, CreateStore::IfMissing);
    assert_eq!(config.environment, None);
    assert_eq!(config.awake_max, node.awake_max);
    assert_eq!(config.model_timeout, node.model_timeout);
    assert_eq!(config.send_timeout, node.send_timeout);
    assert_eq!(config.start_key_retention, node.start_key_retention);
    assert_eq!(config.drain_grace, Duration::from_secs(20));
    assert!(!config.instance.as_str().is_empty());
}

#[test]
fn the_command_line_is_stronger_than_the_environment_and_that_than_the_file() {
    let mut layers = file("store = \"f\"\ninstance = \"f\"\nawake_max = 7\n");
    layers.add_environment(|name| match name {
        "LEASEHOLD_STORE" | "LEASEHOLD_INSTANCE" => Some("e".to_owned()),
        _ => None,
    });
    layers.add_overrides(&Overrides::none().set("store", "c"));
    let config = Config::read(&layers).unwrap();
    assert_eq!(config.store, PathBuf::from("c"));
    assert_eq!(config.instance, InstanceId::new("e"));
    assert_eq!(config.awake_max, 7);
}

#[test]
fn everything_wrong_is_reported_at_once_with_its_place() {
    let mut layers = file("stor = \"x\"\nmodel_timeout = 30\n");
    layers.add_environment(|name| (name == "LEASEHOLD_AWAKE_MAX").then(|| "0".to_owned()));
    layers.add_overrides(
        &Overrides::none()
            .set("environment", "Prod")
            .set("colour", "1"),
    );
    let told = told(&layers);
    let begins = [
        "[config.unknown-key] \"stor\" in leasehold.toml is no setting: there are store, ",
        "[config.unknown-key] \"colour\" in the command line is no setting",
        "[config.invalid] environment = \"Prod\" in the command line: [name.invalid]",
        "[config.invalid] awake_max = \"0\" in LEASEHOLD_AWAKE_MAX: a whole number from 1 to 1000000",
        "[config.invalid] model_timeout = \"30\" in leasehold.toml: a whole number with its unit",
    ];
    assert_eq!(told.len(), begins.len(), "CONF-1: {told:#?}");
    for (told, begins) in told.iter().zip(begins) {
        assert!(told.starts_with(begins), "CONF-1: {told}");
    }
}

// BAD INPUT 33
#[test]
fn a_duration_needs_a_whole_number_a_unit_and_a_place_in_its_range() {
    let bad = [
        "0 s",
        "-1 s",
        "30",
        "30s",
        "1.5 s",
        "1e9 s",
        "25 h",
        "99999999999999999999 s",
        "18446744073709551615 days",
        "",
        " s",
        "10  s",
        "10 S",
        "10 weeks",
    ];
    for text in bad {
        let layers = file(&format!("model_timeout = {text:?}"));
        let told = told(&layers);
        assert!(
            told[0].starts_with("[config.invalid] model_timeout"),
            "{text}: {told:?}"
        );
    }
    for (text, seconds) in [
        ("1 s", 1),
        ("1000 ms", 1),
        ("2 min", 120),
        ("24 h", 86_400),
        ("1 day", 86_400),
    ] {
        let config = Config::read(&file(&format!("model_timeout = {text:?}"))).unwrap();
        assert_eq!(config.model_timeout, Duration::from_secs(seconds), "{text}");
    }
}

#[test]
fn a_file_that_is_no_toml_and_one_that_is_not_there_are_told() {
    assert!(told(&file("store = ["))[0].starts_with("[config.not-toml] \"leasehold.toml\""));
    let errors = Config::load(&Overrides::none().file("/nowhere/leasehold.toml")).unwrap_err();
    let told = errors.to_string();
    assert!(
        told.starts_with("[config.unreadable] \"/nowhere/leasehold.toml\""),
        "{told}"
    );
}

#[test]
fn an_instance_has_a_plain_name() {
    for name in ["a b", "a/b", "é", &"x".repeat(65)] {
        let told = told(&file(&format!("instance = {name:?}")));
        assert!(told[0].starts_with("[config.invalid] instance"), "{told:?}");
    }
    let config = Config::read(&file("instance = \"pod-7.eu_1\"")).unwrap();
    assert_eq!(config.instance, InstanceId::new("pod-7.eu_1"));
}

#[test]
fn the_documentation_names_every_setting_and_its_default() {
    let docs = include_str!("../../../docs/config.md");
    for setting in SETTINGS {
        let row = format!("| `{}` |", setting.key);
        let line = docs.lines().find(|line| line.starts_with(&row));
        let line = line.unwrap_or_else(|| panic!("docs/config.md has no row {row}"));
        assert!(line.contains(&setting.variable()), "{line}");
        if !setting.default.is_empty() {
            assert!(line.contains(&format!("`{}`", setting.default)), "{line}");
        }
    }
}
