//! The settings there are, and how each is read from its text.

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use leasehold_journal::embedded::CreateStore;
use leasehold_types::{ComponentName, InstanceId};

use super::error::ConfigError;
use super::layers::{Layers, Written};
use super::process;
use super::value::{parse_count, parse_duration};

/// One thing that can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its key in the file.
    pub key: &'static str,
    /// Its default, as it would be written; empty where it depends on something else.
    pub default: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
}

impl Setting {
    /// The environment variable that sets it.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("LEASEHOLD_{}", self.key.to_ascii_uppercase())
    }
}

const fn setting(key: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        key,
        default,
        about,
    }
}

/// All settings, in the order of [`super::Config`].
pub const SETTINGS: &[Setting] = &[
    setting("store", ".leasehold", "the directory of the embedded store"),
    setting(
        "store_create",
        "if-missing",
        "what to do where there is no store yet: if-missing or never",
    ),
    setting(
        "environment",
        "",
        "which of the application's environments this is",
    ),
    setting("instance", "", "this instance's name"),
    setting(
        "awake_max",
        "4096",
        "the most executions that are awake at once",
    ),
    setting(
        "model_timeout",
        "10 min",
        "how long one model call may take",
    ),
    setting(
        "send_timeout",
        "30 s",
        "how long one send of a question may take",
    ),
    setting(
        "start_key_retention",
        "7 days",
        "how long the idempotency key of a start is kept",
    ),
    setting(
        "drain_grace",
        "20 s",
        "how long running calls may take to end at a shutdown",
    ),
];

/// Reads settings from layers and collects what is wrong. What is wrong has some value; it is never used.
pub(super) struct Reader<'a> {
    layers: &'a Layers,
    errors: &'a mut Vec<ConfigError>,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(layers: &'a Layers, errors: &'a mut Vec<ConfigError>) -> Self {
        Self { layers, errors }
    }

    fn written(&self, key: &'static str) -> Written {
        let default = || {
            let setting = SETTINGS.iter().find(|setting| setting.key == key);
            Written {
                value: setting.map_or_else(String::new, |setting| setting.default.to_owned()),
                place: "the defaults".to_owned(),
            }
        };
        self.layers.values.get(key).cloned().unwrap_or_else(default)
    }

    fn read<T: Default>(
        &mut self,
        key: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> T {
        let Written { value, place } = self.written(key);
        parse(&value).unwrap_or_else(|why| {
            self.errors.push(ConfigError::Invalid {
                key,
                value,
                place,
                why,
            });
            T::default()
        })
    }

    pub(super) fn path(&mut self, key: &'static str) -> PathBuf {
        self.read(key, |text| match text {
            "" => Err("a directory is expected".to_owned()),
            text => Ok(PathBuf::from(text)),
        })
    }

    pub(super) fn create(&mut self, key: &'static str) -> CreateStore {
        let create = self.read(key, |text| match text {
            "if-missing" => Ok(Some(CreateStore::IfMissing)),
            "never" => Ok(Some(CreateStore::Never)),
            _ => Err("if-missing or never is expected".to_owned()),
        });
        create.unwrap_or(CreateStore::Never)
    }

    pub(super) fn environment(&mut self, key: &'static str) -> Option<ComponentName> {
        self.read(key, |text| match text {
            "" => Ok(None),
            text => ComponentName::new(text)
                .map(Some)
                .map_err(|error| error.to_string()),
        })
    }

    pub(super) fn instance(&mut self, key: &'static str) -> InstanceId {
        let Written { value, .. } = self.written(key);
        let value = match value.as_str() {
            "" => instance_of_host(&process::host_name()),
            _ => value,
        };
        let name = self.read(key, |_| match is_instance(&value) {
            true => Ok(value.clone()),
            false => Err("1 to 64 letters, digits, `.`, `_` and `-` are expected".to_owned()),
        });
        InstanceId::new(name)
    }

    pub(super) fn count(&mut self, key: &'static str, range: RangeInclusive<usize>) -> usize {
        self.read(key, |text| parse_count(text, range))
    }

    pub(super) fn duration(&mut self, key: &'static str, min: &str, max: &str) -> Duration {
        self.read(key, |text| {
            let within = parse_duration(min)?..=parse_duration(max)?;
            let duration = parse_duration(text)?;
            match within.contains(&duration) {
                true => Ok(duration),
                false => Err(format!("{min} to {max} is expected")),
            }
        })
    }
}

fn is_instance(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=64).contains(&name.len()) && name.bytes().all(is_plain)
}

/// A host's name may hold anything; what an instance's may not is left out.
fn instance_of_host(host: &str) -> String {
    let name: String = host
        .chars()
        .filter(|letter| is_instance(letter.encode_utf8(&mut [0; 4])))
        .take(64)
        .collect();
    match name.as_str() {
        "" => "local".to_owned(),
        _ => name,
    }
}
