//! Questions as people are asked them: from the real arguments, whole or marked, nothing of it a model's markup.

use leasehold_types::Timestamp;

use crate::cli::ids::{short, short_pause};
use crate::cli::out::{Paint, painted};
use crate::cli::view::{About, AnswererView, PauseView};
use crate::escape::line;
use crate::question::shown_arguments;

/// All open questions, the oldest first.
pub(in crate::cli) fn approvals(pauses: &[PauseView], now: Timestamp, colour: bool) -> Vec<String> {
    if pauses.is_empty() {
        return vec!["nothing waits for a decision".to_owned()];
    }
    let mut lines = Vec::new();
    for pause in pauses {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(question(pause, now, colour));
        lines.push(String::new());
        lines.push(format!("  {}", hint(pause)));
    }
    lines
}

/// What is asked, by whom it may be answered, and what would run.
pub(in crate::cli) fn question(pause: &PauseView, now: Timestamp, colour: bool) -> Vec<String> {
    let tool = pause.tool.as_deref().map(line).unwrap_or_default();
    let title = match pause.about {
        About::Approval => format!("may {tool} run?"),
        About::Uncertain => format!("nobody knows what {tool} did: repeat it, or not?"),
        About::Input => "what does the person say next?".to_owned(),
    };
    let asked = pause.asked_at.relative(now);
    let expires = pause
        .expires_at
        .map(|at| format!(", expires {}", at.relative(now)));
    let reference = short_pause(pause.pause);
    let mut lines = vec![format!(
        "{}  {title}  asked {asked}{}",
        painted(&reference, Paint::Bold, colour),
        expires.unwrap_or_default()
    )];
    lines.extend(arguments(pause));
    let mut facts = vec![("who", who(pause))];
    if let Some(why) = &pause.why {
        facts.push(("doubt", line(why)));
    }
    if let Some(effect) = &pause.effect {
        facts.push(("effect", line(effect)));
    }
    if let Some(key) = &pause.idempotency_key {
        facts.push(("key", line(key)));
    }
    let agent = line(&pause.agent);
    facts.push((
        "for",
        format!(
            "execution {} of {agent}, owner {}",
            pause.pause.execution,
            line(&pause.owner)
        ),
    ));
    facts.push((
        "digest",
        pause.digest.get(..16).unwrap_or(&pause.digest).to_owned(),
    ));
    if let Some(said) = &pause.model_said {
        facts.push((
            "model",
            format!("\"{}\" (its own words, not checked)", line(said)),
        ));
    }
    if pause.undeliverable {
        facts.push((
            "sent",
            "its channel could not be reached: answer it here".to_owned(),
        ));
    }
    lines.extend(facts.into_iter().map(|(name, text)| {
        format!(
            "  {}  {text}",
            painted(&format!("{name:<8}"), Paint::Dim, colour)
        )
    }));
    lines
}

fn who(pause: &PauseView) -> String {
    let role = pause
        .role
        .as_deref()
        .map(|role| format!("{}: ", line(role)));
    let who = match pause.answerer {
        AnswererView::ThreadOwner => format!("{} alone may answer", line(&pause.owner)),
        AnswererView::Channel => "any user of this machine who may use the store".to_owned(),
    };
    format!("{}{who}", role.unwrap_or_default())
}

fn arguments(pause: &PauseView) -> Vec<String> {
    let shown = pause.arguments.as_deref().map(shown_arguments);
    shown
        .into_iter()
        .flatten()
        .map(|argument| format!("    {argument}"))
        .collect()
}

/// What to type.
pub(super) fn hint(pause: &PauseView) -> String {
    let reference = short_pause(pause.pause);
    match pause.about {
        About::Approval => format!(
            "approvals approve {reference}    or    approvals reject {reference} --reason \"...\""
        ),
        About::Uncertain => format!(
            "approvals approve {reference}   (repeat the call)   or   approvals reject {reference} --reason \"...\"   (do not)"
        ),
        About::Input => format!("executions say {} \"...\"", short(pause.pause.execution)),
    }
}
