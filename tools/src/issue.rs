//! What is wrong with a value, as a model reads it: a path and a few words, never the value.

use std::fmt;

use leasehold_types::json::JsonError;

/// One thing that is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Issue {
    /// Where: `jobs[2].url`; the whole value is `$`.
    pub path: String,
    /// What, in a few words; for arguments it never repeats the value.
    pub text: String,
}

impl Issue {
    /// An issue at a path.
    #[must_use]
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.text)
    }
}

/// Everything that is wrong with a value, in order of path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issues(Vec<Issue>);

impl Issues {
    /// The most issues that are written out: enough to repair a call, little enough to stay readable.
    pub const SHOWN_MAX: usize = 50;

    /// Sorts the issues and drops repeated ones.
    #[must_use]
    pub fn new(mut issues: Vec<Issue>) -> Self {
        issues.sort();
        issues.dedup();
        Self(issues)
    }

    /// The issues.
    #[must_use]
    pub fn as_slice(&self) -> &[Issue] {
        &self.0
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, issue) in self.0.iter().take(Self::SHOWN_MAX).enumerate() {
            let joint = if at == 0 { "" } else { "; " };
            write!(f, "{joint}{issue}")?;
        }
        match self.0.len().saturating_sub(Self::SHOWN_MAX) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

/// Why a call's arguments were refused: the tool was not called, and the model can repair them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidInput {
    /// The text could not be read.
    #[error("invalid input: {}", .0.issue())]
    Unreadable(JsonError),
    /// The value does not fit the tool's schema.
    #[error("invalid input: {0}")]
    Issues(Issues),
}

impl From<JsonError> for InvalidInput {
    fn from(error: JsonError) -> Self {
        Self::Unreadable(error)
    }
}

/// A path that grows by keys and indexes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path(String);

impl Path {
    /// The longest key that is written out.
    const KEY_CHARS_MAX: usize = 64;

    pub(crate) fn key(&self, key: &str) -> Self {
        let mut path = self.0.clone();
        let is_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-');
        let is_plain = !key.is_empty() && key.chars().all(is_word);
        if is_plain && key.len() <= Self::KEY_CHARS_MAX {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(key);
        } else {
            let shown: String = key.chars().take(Self::KEY_CHARS_MAX).collect();
            path.push_str(&format!("[{shown:?}]"));
        }
        Self(path)
    }

    pub(crate) fn index(&self, index: usize) -> Self {
        Self(format!("{}[{index}]", self.0))
    }

    pub(crate) fn issue(&self, text: impl Into<String>) -> Issue {
        Issue::new(self.to_string(), text)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "$" } else { &self.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_a_reader_would_write_it() {
        let root = Path::default();
        assert_eq!(root.to_string(), "$");
        assert_eq!(
            root.key("jobs").index(2).key("url").to_string(),
            "jobs[2].url"
        );
        assert_eq!(root.index(0).key("a b").to_string(), r#"[0]["a b"]"#);
    }

    #[test]
    fn a_long_list_of_issues_says_how_many_more_there_are() {
        let issues = (0..60)
            .map(|at| Issue::new(format!("a{at:02}"), "x"))
            .collect();
        let text = Issues::new(issues).to_string();
        assert!(text.starts_with("a00: x; a01: x; "), "{text}");
        assert!(text.ends_with("a49: x; and 10 more"), "{text}");
    }
}
