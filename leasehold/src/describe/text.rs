//! A description as people read it.

use std::fmt;

use leasehold_tools::unassigned_tools;
use leasehold_types::{Money, Size};

use super::{AgentDescription, Description, RoleDescription, ToolDescription};

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.app, self.environment)?;
        let others: Vec<&str> = self
            .environments
            .iter()
            .map(String::as_str)
            .filter(|name| *name != self.environment)
            .collect();
        match others.as_slice() {
            [] => writeln!(f)?,
            others => writeln!(f, " (also checked: {})", others.join(", "))?,
        }
        for agent in &self.agents {
            writeln!(f, "\n{}", Shown(agent))?;
        }
        for role in &self.roles {
            writeln!(f, "\n{}", Shown(role))?;
        }
        let names: Vec<&str> = self.unassigned_tools.iter().map(String::as_str).collect();
        writeln!(f, "\n{}", unassigned_tools(&names))
    }
}

struct Shown<'a, T>(&'a T);

impl fmt::Display for Shown<'_, AgentDescription> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let agent = self.0;
        writeln!(f, "agent {}", agent.name)?;
        let key = agent.model_key.as_ref();
        let key = key.map(|name| format!(" ← {name}")).unwrap_or_default();
        writeln!(f, "  model     {}{key}", agent.model)?;
        writeln!(f, "  thinking  {}", agent.thinking)?;
        writeln!(f, "  history   {}", agent.history)?;
        if agent.after_answer != "ends" {
            writeln!(f, "  answers   wait for what the person says next")?;
        }
        match agent.budget_micros.map(Money::from_micros) {
            Some(budget) => writeln!(f, "  budget    {budget} per execution")?,
            None => writeln!(f, "  budget    none")?,
        }
        writeln!(f, "  limits    {}", limits(agent))?;
        if let Some(after) = agent.approvals_expire_after_ms {
            writeln!(f, "  approvals expire after {}", Span(after))?;
        }
        let bound = Bound(agent.max_result_size, &agent.max_result_size_from);
        writeln!(f, "  results   {bound}")?;
        write!(
            f,
            "  config    {}",
            agent.config_hash.get(..8).unwrap_or_default()
        )?;
        if agent.tools.is_empty() {
            return write!(f, "\n  no tools");
        }
        for tool in &agent.tools {
            write!(f, "\n\n{}", Shown(tool))?;
        }
        Ok(())
    }
}

fn limits(agent: &AgentDescription) -> String {
    let limits = &agent.limits;
    let landing = match limits.soft_landing {
        true => ", then one last turn without tools",
        false => "",
    };
    format!(
        "{} tool calls, {} model calls, replies of {}{landing}",
        limits.tool_calls,
        limits.model_calls,
        Size::bytes(limits.reply_bytes)
    )
}

impl fmt::Display for Shown<'_, ToolDescription> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tool = self.0;
        writeln!(f, "  {}", tool.line)?;
        let bound = Bound(tool.max_result_size, &tool.max_result_size_from);
        write!(f, "    timeout {}, results {bound}", Span(tool.timeout_ms))?;
        if let Some(seconds) = tool.key_retention_s {
            let span = Span(seconds.saturating_mul(1_000));
            write!(f, ", key remembered {span}")?;
        }
        if let Some(role) = &tool.approval {
            write!(f, ", approved by {role}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, RoleDescription> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = self.0;
        let decides = role.description.lines().next().unwrap_or_default();
        let decides = decides.strip_suffix('.').unwrap_or(decides);
        writeln!(f, "role {} — {decides}", role.name)?;
        let who = match role.answered_by {
            "thread-owner" => "the owner of the thread",
            _ => "whoever its channel reaches",
        };
        write!(f, "  answered by {who}")?;
        for (environment, channel) in &role.channels {
            write!(f, "\n  {environment}: {channel}")?;
        }
        Ok(())
    }
}

/// Milliseconds as people write them: the largest unit that is whole.
struct Span(u64);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str, &str); 4] = [
            (86_400_000, "day", "days"),
            (3_600_000, "h", "h"),
            (60_000, "min", "min"),
            (1_000, "s", "s"),
        ];
        let whole = UNITS
            .into_iter()
            .find(|(unit, _, _)| self.0 >= *unit && self.0.is_multiple_of(*unit));
        match whole {
            Some((unit, one, _)) if self.0 == unit => write!(f, "1 {one}"),
            Some((unit, _, many)) => write!(f, "{} {many}", self.0 / unit),
            None => write!(f, "{} ms", self.0),
        }
    }
}

/// `64 KB (desk)`.
struct Bound<'a>(u64, &'a str);

impl fmt::Display for Bound<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", Size::bytes(self.0), self.1)
    }
}
