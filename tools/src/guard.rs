//! Types for arguments that name things outside: paths and addresses that cannot leave where they may point.
//!
//! They check the text. A symlink is checked when the path is opened, a host when its address is known: that is the tool's to do.
//!
//! - GUARD-1: a `RelPath` joined to a folder names something in it, symlinks aside.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

pub use url::PublicUrl;

mod url;

/// A path below some folder: `reports/2026/may.csv`. No `..`, no root, no drive, no backslash, no control character.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

/// Why a text names nothing that a tool may reach.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GuardError {
    /// Not a path below a folder.
    #[error("[guard.path] must be a path below the folder: names joined by `/`, none of them `..`, at most {max} bytes", max = RelPath::BYTES_MAX)]
    Path,
    /// Not an address on the public network.
    #[error(
        "[guard.url] must be an http or https address of a public host, without user or password"
    )]
    Url,
}

impl RelPath {
    /// The longest path, in bytes.
    pub const BYTES_MAX: usize = 1_024;

    /// Checks a path.
    ///
    /// # Errors
    /// It could leave the folder it is joined to, or no file system has such a name.
    pub fn new(text: impl Into<String>) -> Result<Self, GuardError> {
        let text = text.into();
        let is_name = |part: &str| {
            !matches!(part, "" | "." | "..")
                && !part.ends_with(['.', ' '])
                && !part.contains(is_unfit)
        };
        match text.len() <= Self::BYTES_MAX && text.split('/').all(is_name) {
            true => Ok(Self(text)),
            false => Err(GuardError::Path),
        }
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Backslashes and colons make drives, shares and streams on one system; control characters make nothing good on any.
fn is_unfit(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\\' | ':')
}

impl AsRef<Path> for RelPath {
    fn as_ref(&self) -> &Path {
        Path::new(&self.0)
    }
}

impl TryFrom<String> for RelPath {
    type Error = GuardError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::new(text)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl JsonSchema for RelPath {
    fn schema_name() -> Cow<'static, str> {
        "RelPath".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "minLength": 1,
            "maxLength": Self::BYTES_MAX,
        })
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // BAD INPUT 19
    #[test]
    fn a_path_that_could_leave_its_folder_is_refused() {
        for good in ["a", "a/b.csv", "...a", "a..b/c", "é/$(rm -rf x)", ".config"] {
            assert!(RelPath::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "/",
            "/etc/passwd",
            "../../etc/passwd",
            "a/../b",
            "a/..",
            ".",
            "a/./b",
            "a//b",
            "a/",
            "..\\..\\x",
            "\\\\host\\share",
            "C:\\x",
            "C:x",
            "a\0b",
            "a\nb",
            "a:stream",
            "a/.. /b",
            "CON.",
        ] {
            assert_eq!(RelPath::new(bad), Err(GuardError::Path), "{bad:?}");
        }
        assert!(RelPath::new("a".repeat(1_024)).is_ok());
        assert!(RelPath::new("a".repeat(1_025)).is_err());
    }
}
