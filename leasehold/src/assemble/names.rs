//! Names of the application, its agents and its environments.

use std::collections::BTreeMap;

use leasehold_types::ComponentName;

use super::error::{CheckError, Problems};
use crate::app::App;
use crate::place::Place;

/// Checks every name but those of tools and roles.
pub(super) fn check(app: &App, problems: &mut Problems) {
    name("application", &app.name, app.place, problems);
    if app.agents.is_empty() {
        problems.push(CheckError::NoAgents {
            app: app.name.clone(),
            place: app.place,
        });
    }
    let agents = app
        .agents
        .iter()
        .map(|agent| (agent.name.as_str(), agent.place));
    unique("agent", agents, problems);
    let environments = app
        .environments
        .iter()
        .map(|(name, place)| (name.as_str(), *place));
    unique("environment", environments, problems);
    for service in app.services.repeated() {
        problems.push(CheckError::RepeatedService {
            service: service.name(),
        });
    }
    channels_environments(app, problems);
}

fn name(kind: &'static str, text: &str, place: Place, problems: &mut Problems) {
    let checked = ComponentName::new(text).map_err(|error| CheckError::Name { kind, error, place });
    let _reported = problems.take(checked);
}

/// Checks each name, and that none of them, whatever its case, stands twice.
fn unique<'a>(
    kind: &'static str,
    named: impl Iterator<Item = (&'a str, Place)>,
    problems: &mut Problems,
) {
    let mut seen: BTreeMap<String, Place> = BTreeMap::new();
    for (text, second) in named {
        name(kind, text, second, problems);
        let folded = text.to_lowercase();
        match seen.get(&folded) {
            Some(first) => problems.push(CheckError::DuplicateName {
                kind,
                name: text.to_owned(),
                first: *first,
                second,
            }),
            None => {
                seen.insert(folded, second);
            }
        }
    }
}

/// The environments that channels name: valid, and declared where any is.
fn channels_environments(app: &App, problems: &mut Problems) {
    for given in &app.channels {
        let Some(environment) = &given.environment else {
            continue;
        };
        name("environment", environment, given.place, problems);
        let known = app.environments();
        if !known.contains(&environment.as_str()) {
            problems.push(CheckError::UnknownEnvironment {
                name: environment.clone(),
                place: format!(" (the channel of {} at {})", given.role.name, given.place),
                known: known.join(", "),
            });
        }
    }
}

/// The environment that was chosen, else the first.
pub(super) fn environment(
    app: &App,
    chosen: Option<&str>,
    problems: &mut Problems,
) -> Option<ComponentName> {
    let known = app.environments();
    let chosen = chosen.or_else(|| known.first().copied())?;
    if !known.contains(&chosen) {
        problems.push(CheckError::UnknownEnvironment {
            name: chosen.to_owned(),
            place: String::new(),
            known: known.join(", "),
        });
    }
    ComponentName::new(chosen).ok()
}
