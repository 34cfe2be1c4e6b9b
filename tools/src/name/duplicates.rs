//! Names are unique over what one agent can call, its answer tools included.

use std::collections::BTreeMap;

/// A name the model would see, and where it was declared.
#[derive(Debug, Clone, Copy)]
pub struct NamedTool<'a> {
    /// The name.
    pub name: &'a str,
    /// Where it comes from, as people find it: `tool refund_card`, `knowledge base jobs-rag`.
    pub place: &'a str,
    /// Whether it is a tool of the agent's or one that carries its answer.
    pub role: NameRole,
}

/// Whose name it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameRole {
    /// A tool the agent lists.
    Tool,
    /// An answer tool, `answer-<dto>`, which the runtime adds.
    Answer,
}

/// Two tools of one agent would be called by one name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DuplicateNameError {
    /// Two names that are equal, or differ in case only.
    #[error(
        "[tool.duplicate-name] agent {agent}: {name:?} names both {first} and {second}: give one of them another name"
    )]
    Twice {
        /// The agent.
        agent: String,
        /// The name.
        name: String,
        /// The place that has it.
        first: String,
        /// The place that wants it.
        second: String,
    },
    /// A tool that takes an answer tool's prefix.
    #[error(
        "[tool.duplicate-name] agent {agent}: {name:?} ({place}) begins with \"answer-\", which is kept for answer tools: give it another name"
    )]
    Reserved {
        /// The agent.
        agent: String,
        /// The name.
        name: String,
        /// Where it was declared.
        place: String,
    },
}

/// Every clash among the names that `agent`'s model would see.
#[must_use]
pub fn duplicate_names(agent: &str, tools: &[NamedTool<'_>]) -> Vec<DuplicateNameError> {
    let mut seen: BTreeMap<String, &NamedTool<'_>> = BTreeMap::new();
    let mut errors = Vec::new();
    for tool in tools {
        let (name, place) = (tool.name.to_owned(), tool.place.to_owned());
        let folded = tool.name.to_ascii_lowercase();
        if tool.role == NameRole::Tool && folded.starts_with("answer-") {
            errors.push(DuplicateNameError::Reserved {
                agent: agent.to_owned(),
                name: name.clone(),
                place: place.clone(),
            });
        }
        match seen.get(&folded) {
            Some(first) => errors.push(DuplicateNameError::Twice {
                agent: agent.to_owned(),
                name,
                first: first.place.to_owned(),
                second: place,
            }),
            None => {
                seen.insert(folded, tool);
            }
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'a>(name: &'a str, place: &'a str, role: NameRole) -> NamedTool<'a> {
        NamedTool { name, place, role }
    }

    // CONTRACT T7
    // BAD INPUT 31
    #[test]
    fn two_tools_of_one_name_are_reported_with_both_places() {
        let tools = [
            named("pay-tool", "tool pay", NameRole::Tool),
            named("Pay-tool", "tool pay2", NameRole::Tool),
            named("answer-refund", "answer Refund", NameRole::Answer),
            named("answer-refund", "tool x", NameRole::Tool),
            named("ship-tool", "tool ship", NameRole::Tool),
        ];
        let told: Vec<String> = duplicate_names("desk", &tools)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "[tool.duplicate-name] agent desk: \"Pay-tool\" names both tool pay and tool pay2: give one of them another name",
                "[tool.duplicate-name] agent desk: \"answer-refund\" (tool x) begins with \"answer-\", which is kept for answer tools: give it another name",
                "[tool.duplicate-name] agent desk: \"answer-refund\" names both answer Refund and tool x: give one of them another name",
            ]
        );
    }
}
