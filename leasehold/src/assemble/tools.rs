//! Tools: bound to the application's services, found by name in its catalogue, one name each.

use std::collections::BTreeSet;
use std::sync::Arc;

use leasehold_tools::{
    BoundTool, NameRole, NamedTool, Services, Tool, ToolSpec, Toolbox, bind, duplicate_names,
};

use super::agents::Complete;
use super::error::{CheckError, Nearest, Problems, UnknownAgentToolError};
use crate::agent::{Agent, ListedTool};
use crate::app::App;
use crate::place::Place;

/// A tool of an agent or of the catalogue.
#[derive(Debug, Clone)]
pub(super) struct Listed {
    pub(super) spec: ToolSpec,
    /// None where something is wrong with it, which has been told.
    pub(super) bound: Option<BoundTool>,
    pub(super) place: Place,
}

/// Binds the tools that the application offers by name.
pub(super) fn bind_catalogue(app: &App, problems: &mut Problems) -> Vec<Listed> {
    let values = app.catalogue.iter().filter_map(value);
    let listed: Vec<Listed> = values
        .map(|(tool, place)| listed(tool, place, &app.services, problems))
        .collect();
    check_names("the catalogue", &listed, problems);
    listed
}

const fn value(tool: &ListedTool) -> Option<(&Arc<dyn Tool>, Place)> {
    match tool {
        ListedTool::Value(tool, place) => Some((tool, *place)),
        ListedTool::Named(..) => None,
    }
}

/// Binds the tools that an agent lists.
pub(super) fn bind_listed(
    app: &App,
    agent: &Agent,
    catalogue: &[Listed],
    problems: &mut Problems,
) -> Vec<Listed> {
    let mut found = Vec::new();
    for tool in &agent.tools {
        match tool {
            ListedTool::Value(tool, place) => {
                found.push(listed(tool, *place, &app.services, problems));
            }
            ListedTool::Named(name, place) => {
                let known = catalogue.iter().find(|known| known.spec.name == *name);
                match known {
                    Some(known) => found.push(Listed {
                        place: *place,
                        ..known.clone()
                    }),
                    None => problems.push(unknown(agent, name, *place, catalogue)),
                }
            }
        }
    }
    check_names(&agent.name, &found, problems);
    found
}

fn listed(
    tool: &Arc<dyn Tool>,
    place: Place,
    services: &Services,
    problems: &mut Problems,
) -> Listed {
    let bound = bind(Arc::clone(tool), services).map_err(|errors| {
        for error in errors {
            problems.push(CheckError::Tool { error, place });
        }
    });
    Listed {
        spec: tool.spec(),
        bound: bound.ok(),
        place,
    }
}

fn unknown(agent: &Agent, name: &str, place: Place, catalogue: &[Listed]) -> CheckError {
    let mut seen = BTreeSet::new();
    let offered = catalogue.iter().filter_map(|known| known.bound.clone());
    let offered = offered.filter(|tool| seen.insert(tool.name().clone()));
    let offered = Toolbox::new(&agent.name, offered.collect(), &[]).unwrap_or_default();
    let nearest = match offered.find(name) {
        Ok(_) => vec![],
        Err(error) => error.nearest().to_vec(),
    };
    let error = UnknownAgentToolError {
        agent: agent.name.clone(),
        name: name.to_owned(),
        place,
        nearest: Nearest(match nearest.is_empty() {
            true => offered.iter().map(|tool| tool.name().to_string()).collect(),
            false => nearest,
        }),
    };
    error.into()
}

fn check_names(owner: &str, listed: &[Listed], problems: &mut Problems) {
    let places: Vec<String> = listed
        .iter()
        .map(|tool| format!("the tool at {}", tool.place))
        .collect();
    let named: Vec<NamedTool<'_>> = listed
        .iter()
        .zip(&places)
        .map(|(tool, place)| NamedTool {
            name: &tool.spec.name,
            place,
            role: NameRole::Tool,
        })
        .collect();
    for error in duplicate_names(owner, &named) {
        problems.push(error.into());
    }
}

/// The tools of the catalogue that no agent lists, in their order.
pub(super) fn unassigned(catalogue: &[Listed], agents: &[Complete]) -> Vec<String> {
    let names = catalogue.iter().map(|tool| tool.spec.name.to_string());
    let is_listed = |name: &str| {
        agents
            .iter()
            .any(|agent| agent.assembled.tools.contains_key(name))
    };
    names.filter(|name| !is_listed(name)).collect()
}
