//! The tools one agent may call, found by their exact name.
//!
//! - TOOLBOX-1: a name is never matched to another: not in another case, trimmed, or looking the same.

use std::collections::BTreeMap;
use std::fmt;

use crate::bind::BoundTool;
use crate::name::{DuplicateNameError, NameRole, NamedTool, ToolName, duplicate_names};

/// The tools of one agent, in order of their names.
#[derive(Debug, Clone, Default)]
pub struct Toolbox(BTreeMap<ToolName, BoundTool>);

impl Toolbox {
    /// The tools that `agent` lists; `answers` are the names of its answer tools.
    ///
    /// # Errors
    /// Every name that two of them would share.
    pub fn new(
        agent: &str,
        tools: Vec<BoundTool>,
        answers: &[&str],
    ) -> Result<Self, Vec<DuplicateNameError>> {
        let answers = answers.iter().map(|name| NamedTool {
            name,
            place: "the agent's answer",
            role: NameRole::Answer,
        });
        let places: Vec<String> = tools.iter().map(place).collect();
        let listed = tools.iter().zip(&places).map(|(tool, place)| NamedTool {
            name: tool.name().as_str(),
            place,
            role: NameRole::Tool,
        });
        let named: Vec<NamedTool<'_>> = answers.chain(listed).collect();
        let errors = duplicate_names(agent, &named);
        if !errors.is_empty() {
            return Err(errors);
        }
        let named = tools.into_iter().map(|tool| (tool.name().clone(), tool));
        Ok(Self(named.collect()))
    }

    /// The tool of exactly this name.
    ///
    /// # Errors
    /// There is none; the error tells the model the nearest names.
    pub fn find(&self, name: &str) -> Result<&BoundTool, UnknownToolError> {
        self.0.get(name).ok_or_else(|| UnknownToolError {
            name: shown(name),
            nearest: self.nearest(name),
        })
    }

    /// The tools, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &BoundTool> {
        self.0.values()
    }

    /// The agent's own names that look most like this one.
    fn nearest(&self, name: &str) -> Vec<String> {
        if name.len() > ToolName::BYTES_MAX {
            return Vec::new();
        }
        let distance = |known: &ToolName| (distance(name, known.as_str()), known.to_string());
        let mut near: Vec<(usize, String)> = self.0.keys().map(distance).collect();
        near.retain(|(distance, known)| *distance <= known.len() / 2);
        near.sort();
        near.truncate(UnknownToolError::NEAREST_MAX);
        near.into_iter().map(|(_, name)| name).collect()
    }
}

fn place(tool: &BoundTool) -> String {
    format!("the tool {:?}", first_sentence(&tool.spec().description))
}

/// The first sentence of a description, without its full stop.
pub(crate) fn first_sentence(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
    sentence.strip_suffix('.').unwrap_or(sentence)
}

/// A call names a tool the agent does not have. The model reads it as the call's result; nothing ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownToolError {
    name: String,
    nearest: Vec<String>,
}

impl UnknownToolError {
    /// The most names that are offered instead.
    pub const NEAREST_MAX: usize = 3;

    /// The names that are offered instead, the nearest first.
    #[must_use]
    pub fn nearest(&self) -> &[String] {
        &self.nearest
    }
}

impl fmt::Display for UnknownToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown tool \"{}\"", self.name)?;
        match self.nearest.as_slice() {
            [] => Ok(()),
            nearest => write!(f, ": the nearest of yours are {}", nearest.join(", ")),
        }
    }
}

impl std::error::Error for UnknownToolError {}

/// A name that may be anything, fit for a message: escaped, at most 64 characters.
fn shown(name: &str) -> String {
    let mut shown: String = name.chars().take(64).flat_map(char::escape_debug).collect();
    if name.chars().nth(64).is_some() {
        shown.push('…');
    }
    shown
}

/// How many characters must be added, dropped or replaced. Source: Levenshtein, 1966.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.chars().enumerate() {
        let mut corner = at;
        row[0] = at + 1;
        for (column, candidate) in other.iter().enumerate() {
            let replaced = corner + usize::from(letter != *candidate);
            corner = row[column + 1];
            row[column + 1] = replaced.min(corner + 1).min(row[column] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_of_two_names_counts_their_edits() {
        for (one, other, right) in [
            ("", "", 0),
            ("a", "", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(distance(one, other), right, "{one} {other}");
        }
    }

    #[test]
    fn the_first_sentence_stands_without_its_full_stop() {
        assert_eq!(
            first_sentence("Pays a refund. Changes billing."),
            "Pays a refund"
        );
        assert_eq!(first_sentence("Pays a refund.\nMore."), "Pays a refund");
        assert_eq!(first_sentence("Reads v1.2 files"), "Reads v1.2 files");
    }
}
