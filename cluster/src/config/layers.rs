//! The layers of a configuration: command line over environment over file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::{FILE_DEFAULT, SETTINGS, process};

/// What the command line sets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    file: Option<PathBuf>,
    values: BTreeMap<String, String>,
}

impl Overrides {
    /// Nothing is set.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Reads this file; it must be there.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// Sets `key`, written as in the file: `model_timeout` to `30 s`. A key that is no setting is refused when it is loaded.
    #[must_use]
    pub fn set(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.values.insert(key.into(), value.into());
        self
    }
}

/// A value as it was written, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) value: String,
    pub(super) place: String,
}

/// What was set, the strongest layer's word for each key.
#[derive(Debug, Clone, Default)]
pub(super) struct Layers {
    pub(super) values: BTreeMap<&'static str, Written>,
    pub(super) errors: Vec<ConfigError>,
}

impl Layers {
    pub(super) fn of_process(overrides: &Overrides) -> Self {
        let mut layers = Self::default();
        let named = overrides
            .file
            .clone()
            .or_else(|| process::variable("LEASEHOLD_CONFIG").map(PathBuf::from));
        let path = named.clone().unwrap_or_else(|| FILE_DEFAULT.into());
        match process::file(&path) {
            Ok(Some(text)) => layers.add_file(&path, &text),
            Ok(None) if named.is_none() => {}
            Ok(None) => layers.unreadable(path, "it is not there"),
            Err(error) => layers.unreadable(path, &error.to_string()),
        }
        layers.add_environment(process::variable);
        layers.add_overrides(overrides);
        layers
    }

    fn unreadable(&mut self, path: PathBuf, why: &str) {
        let why = why.to_owned();
        self.errors.push(ConfigError::Unreadable { path, why });
    }

    pub(super) fn add_file(&mut self, path: &Path, text: &str) {
        let table = match text.parse::<toml::Table>() {
            Ok(table) => table,
            Err(error) => {
                let why = error.to_string().trim().replace('\n', " ");
                let path = path.to_owned();
                return self.errors.push(ConfigError::NotToml { path, why });
            }
        };
        for (key, value) in table {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            self.put(&key, value, path.display().to_string());
        }
    }

    /// Variables that are no setting's are left alone: others set some that begin like ours.
    pub(super) fn add_environment(&mut self, variable: impl Fn(&str) -> Option<String>) {
        for setting in SETTINGS {
            let name = setting.variable();
            if let Some(value) = variable(&name) {
                self.put(setting.key, value, name);
            }
        }
    }

    pub(super) fn add_overrides(&mut self, overrides: &Overrides) {
        for (key, value) in &overrides.values {
            self.put(key, value.clone(), "the command line".to_owned());
        }
    }

    fn put(&mut self, key: &str, value: String, place: String) {
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.key).collect();
            return self.errors.push(ConfigError::UnknownKey {
                key: key.to_owned(),
                place,
                known: known.join(", "),
            });
        };
        self.values.insert(setting.key, Written { value, place });
    }
}
