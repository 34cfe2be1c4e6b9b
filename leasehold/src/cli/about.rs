//! Commands about the application itself: `check`, `describe`, `doctor`, `completion`.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;

use clap::CommandFactory as _;
use clap_complete::Shell;
use leasehold_cluster::config::variable;

use super::args::{Cli, Output};
use super::command::Session;
use super::control::Client;
use super::doctor::{self, Clocks, Finding, Held, Key};
use super::document;
use super::door::Program as _;
use super::error::CliError;
use super::exit::Exit;
use super::program::Configured;
use crate::assemble::Assembly;
use crate::escape::line;

/// Checks the application for every environment.
///
/// # Errors
/// The output is gone.
pub(super) fn check(configured: &Configured, session: &mut Session<'_>) -> Result<Exit, CliError> {
    let app = &configured.app;
    let environments = app.environments();
    let problems: Vec<String> = match app.check() {
        Ok(()) => vec![],
        Err(errors) => errors.as_slice().iter().map(ToString::to_string).collect(),
    };
    if session.global.output == Output::Json {
        #[derive(serde::Serialize)]
        struct Body<'a> {
            app: &'a str,
            environments: &'a [&'a str],
            problems: &'a [String],
        }
        session.out.json(&document::other(Body {
            app: app.name(),
            environments: &environments,
            problems: &problems,
        }))?;
    } else if problems.is_empty() {
        let environments = environments.join(", ");
        let text = format!("{} is sound in {environments}", line(app.name()));
        session.out.line(&text)?;
    } else {
        let lines: Vec<String> = problems.iter().map(|problem| line(problem)).collect();
        session.out.lines(&lines)?;
        session.out.note(&format!(
            "{} found",
            super::counted(problems.len(), "problem")
        ))?;
    }
    Ok(if problems.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Describes the application, without key or network.
///
/// # Errors
/// It is not sound, or the output is gone.
pub(super) fn describe(
    configured: &Configured,
    session: &mut Session<'_>,
    json: bool,
) -> Result<Exit, CliError> {
    let assembly = configured.assemble()?;
    if json || session.global.output == Output::Json {
        let text = assembly.describe().json();
        session.out.line(&crate::escape::json(&text))?;
        return Ok(Exit::Done);
    }
    let text = assembly.describe().to_string();
    let lines: Vec<String> = text.trim_end().lines().map(line).collect();
    session.out.lines(&lines)?;
    Ok(Exit::Done)
}

/// Looks at store, disk, clocks and keys.
///
/// # Errors
/// The output is gone.
pub(super) async fn doctor(
    configured: &Configured,
    session: &mut Session<'_>,
) -> Result<Exit, CliError> {
    let before = Clocks::read();
    let clock = configured.clock();
    let held = held(configured).await;
    let directory = configured.config.store.clone();
    let looked = {
        let clock = Arc::clone(&clock);
        tokio::task::spawn_blocking(move || doctor::store(&directory, held, &*clock)).await
    };
    let mut findings = looked.map_err(|error| CliError::Unavailable(error.to_string()))?;
    findings.extend(doctor::clocks(before, Clocks::read()));
    findings.extend(match configured.assemble() {
        Ok(assembly) => doctor::keys(&keys(&assembly)),
        Err(_) => vec![Finding::error(
            "app",
            "[doctor.app-unsound]",
            "the application does not pass its own check",
            "`check` tells what is wrong",
        )],
    });
    let is_json = session.global.output == Output::Json;
    doctor::tell(&findings, is_json, session.out)
}

/// Who has the store open. A store that is not there is held by nobody.
async fn held(configured: &Configured) -> Option<Held> {
    let directory = &configured.config.store;
    if !directory.is_dir() {
        return None;
    }
    if Client::find(directory, configured.clock()).await.is_some() {
        return Some(Held::Answers);
    }
    match configured.store().await {
        Err(CliError::StoreLocked { pid, .. }) => Some(Held::Silent { pid }),
        Ok(_) => Some(Held::Free),
        // What else is wrong with it is found by looking at it.
        Err(_) => None,
    }
}

fn keys(assembly: &Assembly) -> Vec<Key> {
    let description = assembly.describe();
    let mut needed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for agent in &description.agents {
        if let Some(name) = &agent.model_key {
            needed.entry(name).or_default().push(&agent.model);
        }
        for tool in &agent.tools {
            for name in &tool.env {
                needed.entry(name).or_default().push(&tool.name);
            }
        }
    }
    let key = |(name, mut users): (&str, Vec<&str>)| {
        users.sort_unstable();
        users.dedup();
        Key {
            name: name.to_owned(),
            needed_by: users.join(", "),
            is_set: variable(name).is_some(),
        }
    };
    needed.into_iter().map(key).collect()
}

/// Prints a completion script for the program called `name`.
///
/// # Errors
/// The output is gone.
pub(super) fn completion(
    shell: Shell,
    name: &str,
    session: &mut Session<'_>,
) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), name, &mut script);
    // Writing to memory does not fail.
    let _infallible = script.flush();
    let text = String::from_utf8_lossy(&script);
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    session.out.lines(&lines)?;
    Ok(Exit::Done)
}
