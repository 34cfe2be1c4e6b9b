//! The repository's own text files, in an order that is the same in each run.
//!
//! It leaves out what is built (`target`) and what belongs to tools (folders whose name begins with a dot), except `.ci`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Endings of the files that people write.
const TEXT_ENDINGS: [&str; 7] = ["rs", "toml", "md", "sh", "json", "yaml", "yml"];

/// One text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Its path from the repository's root, with `/` between the parts.
    pub path: String,
    /// What is in it.
    pub text: String,
}

impl Source {
    /// Whether it is Rust.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        has_ending(&self.path, "rs")
    }

    /// Whether it is part of what runs in production: not a test, a benchmark, an example or a kit for tests.
    #[must_use]
    pub fn is_shipped(&self) -> bool {
        let parts: Vec<&str> = self.path.split('/').collect();
        let of_tests = ["tests", "benches", "examples", "testkit"];
        self.is_rust() && !parts.iter().any(|part| of_tests.contains(part))
    }

    /// Whether it is a program that must not compile: its errors are compared, line by line, with the text beside it.
    #[must_use]
    pub fn is_refused_program(&self) -> bool {
        self.path.contains("/tests/refused/")
    }

    /// The top-level folder it lies in; empty for files at the root.
    #[must_use]
    pub fn folder(&self) -> &str {
        self.path.split_once('/').map_or("", |(folder, _)| folder)
    }

    /// The text before the module of unit tests at its end.
    #[must_use]
    pub fn without_unit_tests(&self) -> &str {
        let modules = self.text.match_indices("\n#[cfg(test)]\nmod ");
        let inline = modules
            .map(|(at, attribute)| (at, &self.text[at + attribute.len()..]))
            .find(|(_, rest)| rest.lines().next().is_some_and(|line| line.ends_with('{')));
        inline.map_or(&self.text, |(at, _)| &self.text[..at])
    }
}

/// The repository's root.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// All text files below the root, ordered by path.
///
/// # Errors
///
/// If a folder or a file cannot be read, or is not UTF-8.
pub fn all() -> io::Result<Vec<Source>> {
    let mut found = Vec::new();
    collect(&root(), "", &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// One file, by its path from the root.
///
/// # Errors
///
/// If it cannot be read, or is not UTF-8.
pub fn one(path: &str) -> io::Result<String> {
    fs::read_to_string(root().join(path))
        .map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<Source>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let is_folder = entry.file_type()?.is_dir();
        if is_folder && !is_left_out(&name) {
            collect(&entry.path(), &format!("{path}/"), found)?;
        } else if !is_folder && is_text(&path) {
            let text = one(&path)?;
            found.push(Source { path, text });
        }
    }
    Ok(())
}

fn is_left_out(folder: &str) -> bool {
    folder == "target" || (folder.starts_with('.') && folder != ".ci")
}

fn is_text(path: &str) -> bool {
    path.starts_with(".ci/") || TEXT_ENDINGS.iter().any(|ending| has_ending(path, ending))
}

fn has_ending(path: &str, ending: &str) -> bool {
    Path::new(path)
        .extension()
        .is_some_and(|found| found == ending)
}
