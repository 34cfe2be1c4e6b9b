//! What this process was started with. The one place that asks.

use std::ffi::OsString;
use std::path::Path;

/// The arguments of the command line, the program's own name first.
#[must_use]
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().collect()
}

/// A variable of the environment; one that is empty or no text counts as not set.
#[must_use]
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that reads the environment"
)]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A file's text; none where there is no such file.
pub(super) fn file(path: &Path) -> std::io::Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The host's name, where the system tells it; `local` elsewhere.
pub(super) fn host_name() -> String {
    let told = variable("HOSTNAME").or_else(|| {
        file(Path::new("/proc/sys/kernel/hostname"))
            .ok()
            .flatten()
            .map(|name| name.trim().to_owned())
    });
    told.filter(|name| !name.is_empty())
        .unwrap_or_else(|| "local".to_owned())
}
