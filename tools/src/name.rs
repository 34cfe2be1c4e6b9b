//! Names of tools, channels and knowledge bases: which are valid, and what to write instead.
//!
//! The rule is evaluated in a `const` as well, so that a name written in code is refused by the compiler with the same words.
//!
//! - NAME-1: a tool's name is kebab-case, ends in `-tool`, begins with a letter and has at most 64 bytes.

use std::fmt;
use std::sync::Arc;

pub use duplicates::{DuplicateNameError, NameRole, NamedTool, duplicate_names};
pub use rule::{Kind, NameError, answer_tool_name, check_name, derived_name, require_name};

mod duplicates;
mod rule;

/// A tool's own name, such as `refund-card-tool`. Clones share one text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(Arc<str>);

impl ToolName {
    /// The longest name, in bytes: what every provider takes.
    pub const BYTES_MAX: usize = 64;

    /// Checks a name.
    ///
    /// # Errors
    /// Longer than [`Self::BYTES_MAX`], not kebab-case, or without the ending `-tool`; the message says what to write.
    pub fn new(text: &str) -> Result<Self, NameError> {
        check_name(Kind::Tool, text)?;
        Ok(Self(text.into()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl std::borrow::Borrow<str> for ToolName {
    fn borrow(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, right: &str) {
        let told = match ToolName::new(name) {
            Ok(name) => name.to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(told, right);
    }

    // CONTRACT T7
    // BAD INPUT 31
    #[test]
    fn a_wrong_name_is_told_the_right_one() {
        check("search-issues-tool", "search-issues-tool");
        check("a2-tool", "a2-tool");
        let suffix = |name: &str, right: &str| {
            format!("[name.kind-suffix] \"{name}\" on a tool: name it \"{right}\"")
        };
        check(
            "search_issues",
            &suffix("search_issues", "search-issues-tool"),
        );
        check(
            "searchIssues",
            &suffix("searchIssues", "search-issues-tool"),
        );
        check("HTTPGet", &suffix("HTTPGet", "http-get-tool"));
        check(
            "search_issues_tool",
            &suffix("search_issues_tool", "search-issues-tool"),
        );
        check(
            "search-channel",
            &suffix("search-channel", "search-channel-tool"),
        );
        for (bad, right) in [
            ("-x-tool", "x-tool"),
            ("Search-tool", "search-tool"),
            ("a--b-tool", "a-b-tool"),
            ("a b-tool", "a-b-tool"),
            ("a_b-tool", "a-b-tool"),
        ] {
            let form =
                "lower-case words of letters and digits joined by single hyphens, a letter first";
            check(
                bad,
                &format!(
                    "[tool.name-invalid] \"{bad}\" is not a tool's name: {form}; name it \"{right}\""
                ),
            );
        }
        for bad in ["", "😀", "1a-tool", "\u{430}-tool"] {
            let error = ToolName::new(bad).unwrap_err().to_string();
            assert!(error.starts_with("[tool.name-invalid]"), "{error}");
        }
    }

    // CONTRACT T7
    // BAD INPUT 31
    #[test]
    fn a_name_may_have_64_bytes_and_not_65() {
        let name = |bytes: usize| "a".repeat(bytes - 5) + "-tool";
        assert!(ToolName::new(&name(64)).is_ok());
        let error = ToolName::new(&name(65)).unwrap_err().to_string();
        assert!(error.starts_with("[tool.name-too-long]"), "{error}");
        assert!(error.ends_with("has 65 bytes, the limit is 64"), "{error}");
    }

    // CONTRACT T7
    #[test]
    fn names_are_derived_from_identifiers() {
        let derived = |kind, ident| derived_name(kind, ident).as_str().to_owned();
        assert_eq!(derived(Kind::Tool, "refund_card"), "refund-card-tool");
        assert_eq!(derived(Kind::Tool, "refund_card_tool"), "refund-card-tool");
        assert_eq!(
            derived(Kind::Channel, "RefundApproval"),
            "refund-approval-channel"
        );
        assert_eq!(derived(Kind::KnowledgeBase, "JobsRag"), "jobs-rag");
        assert_eq!(answer_tool_name("RefundAnswer"), "answer-refund-answer");
    }
}
