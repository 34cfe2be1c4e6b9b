//! A tool in one line, and the tools nobody uses: what `describe` prints, without key or network.

use std::fmt;

use crate::bind::BoundTool;
use crate::toolbox::first_sentence;

/// One tool as `describe` prints it: `refund-card-tool (write, local, waits for approval) ← STRIPE_KEY — Refunds a card`.
#[derive(Debug)]
pub struct ToolLine<'a> {
    tool: &'a BoundTool,
    place: &'a str,
}

impl<'a> ToolLine<'a> {
    /// The line of a tool that runs at `place`: `local`, or the name of an MCP server.
    #[must_use]
    pub const fn new(tool: &'a BoundTool, place: &'a str) -> Self {
        Self { tool, place }
    }
}

impl fmt::Display for ToolLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spec = self.tool.spec();
        write!(f, "{} ({}, {}", self.tool.name(), spec.effect, self.place)?;
        if spec.approval.is_some() {
            f.write_str(", waits for approval")?;
        }
        f.write_str(")")?;
        if !spec.env.is_empty() {
            write!(f, " ← {}", spec.env.join(", "))?;
        }
        write!(f, " — {}", first_sentence(&spec.description))
    }
}

/// The line about tools that were offered to the application and that no agent lists.
#[must_use]
pub fn unassigned_tools(names: &[&str]) -> String {
    match names {
        [] => "unassigned tools: none".to_owned(),
        names => format!("unassigned tools: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CONTRACT T13
    #[test]
    fn tools_that_no_agent_lists_are_named() {
        assert_eq!(unassigned_tools(&[]), "unassigned tools: none");
        assert_eq!(
            unassigned_tools(&["a-tool", "b-tool"]),
            "unassigned tools: a-tool, b-tool"
        );
    }
}
