//! Assembly: everything about an application is checked, and what runs is put together. No network, no key, no model call.
//!
//! - CHECK-1: everything wrong is reported together; one mistake hides no other, but for what it makes meaningless.
//! - CHECK-2: an application that assembles has, for every question its tools may ask, exactly one channel in each environment.

mod agents;
mod channels;
pub(crate) mod error;
mod hash;
mod limits;
mod models;
mod names;
mod tools;

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_actors::{Agent as AssembledAgent, Agents, Channel, Channels};
use leasehold_tools::BoundTool;
use leasehold_types::ComponentName;

use crate::app::App;
pub(crate) use agents::Complete;
pub(crate) use channels::{Asked, Resolved};

use crate::describe::Description;
use error::{CheckErrors, Problems};

/// An application that was checked and put together for one environment.
///
/// It is what an instance runs: [`Agents`] and [`Channels`].
#[derive(Debug)]
pub struct Assembly {
    agents: BTreeMap<String, Arc<AssembledAgent>>,
    channels: BTreeMap<String, Arc<dyn Channel>>,
    environment: ComponentName,
    description: Description,
}

impl Assembly {
    pub(crate) fn of(app: &App, environment: Option<&str>) -> Result<Self, CheckErrors> {
        let mut problems = Problems::default();
        names::check(app, &mut problems);
        let environment = names::environment(app, environment, &mut problems);
        limits::check_application(app, &mut problems);
        let catalogue = tools::bind_catalogue(app, &mut problems);
        let models = models::Models::of(app);
        let agents: Vec<_> = app
            .agents
            .iter()
            .map(|agent| agents::assemble(app, agent, &catalogue, &models, &mut problems))
            .collect();
        let asked = channels::asked_roles(&agents, &mut problems);
        let channels = channels::check(app, &asked, &mut problems);
        let complete: Option<Vec<_>> = agents.into_iter().map(|draft| draft.complete()).collect();
        let (Some(complete), Some(environment)) = (complete, environment) else {
            return Err(problems.into_errors());
        };
        if !problems.is_empty() {
            return Err(problems.into_errors());
        }
        let unassigned = tools::unassigned(&catalogue, &complete);
        let description =
            Description::of(app, &environment, &complete, &asked, &channels, unassigned);
        Ok(Self {
            agents: complete
                .into_iter()
                .map(|agent| (agent.assembled.name.to_string(), agent.assembled))
                .collect(),
            channels: channels::of_environment(&channels, environment.as_str()),
            environment,
            description,
        })
    }

    /// The environment it was put together for.
    #[must_use]
    pub const fn environment(&self) -> &ComponentName {
        &self.environment
    }

    /// What there is to say about it.
    #[must_use]
    pub const fn describe(&self) -> &Description {
        &self.description
    }

    /// A tool with its services, by agent and name: for running one alone.
    #[must_use]
    pub fn tool(&self, agent: &str, name: &str) -> Option<&BoundTool> {
        let tool = self.agents.get(agent)?.tools.get(name)?;
        Some(&tool.bound)
    }
}

impl Agents for Assembly {
    /// An agent that runs by itself is its own workflow.
    fn agent(&self, workflow: &str, agent: &str) -> Option<Arc<AssembledAgent>> {
        (workflow == agent).then(|| self.agents.get(agent).cloned())?
    }

    fn names(&self) -> Vec<String> {
        self.agents.keys().cloned().collect()
    }
}

impl Channels for Assembly {
    fn channel(&self, role: &str) -> Option<Arc<dyn Channel>> {
        self.channels.get(role).cloned()
    }
}
