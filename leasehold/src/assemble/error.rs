//! What can be wrong with an application, each with where it was declared.

use std::collections::BTreeSet;
use std::fmt;

use leasehold_models::ModelNameError;
#[cfg(feature = "providers")]
use leasehold_models::OpenModelError;
use leasehold_tools::{BindError, DuplicateNameError, NameError as ToolNameError};
use leasehold_types::{MoneyError, NameError};

use crate::place::Place;

/// An agent lists a tool by a name that the application does not offer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "[agent.unknown-tool] UnknownAgentToolError: agent {agent} lists {name:?} at {place}, which the application does not offer: {nearest}"
)]
pub struct UnknownAgentToolError {
    /// The agent.
    pub agent: String,
    /// The name it lists.
    pub name: String,
    /// Where.
    pub place: Place,
    /// What may be meant.
    pub nearest: Nearest,
}

/// Names that may be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest(pub(crate) Vec<String>);

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("there is none; offer one with .tool(..) on the application"),
            names => write!(f, "the nearest are {}", names.join(", ")),
        }
    }
}

/// One thing that is wrong with an application.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// It has no agent.
    #[error("[app.no-agents] {app} at {place} has no agent: add one with .agent(..)")]
    NoAgents {
        /// The application.
        app: String,
        /// Where it is declared.
        place: Place,
    },
    /// A name that cannot be one.
    #[error("{error} ({kind} at {place})")]
    Name {
        /// What is named.
        kind: &'static str,
        /// Why not.
        error: NameError,
        /// Where it is declared.
        place: Place,
    },
    /// Two components of one name.
    #[error(
        "[name.duplicate] {kind} {name:?} is declared at {first} and at {second}: give one of them another name"
    )]
    DuplicateName {
        /// What is named.
        kind: &'static str,
        /// The name.
        name: String,
        /// Where it is declared first.
        first: Place,
        /// Where it is declared again.
        second: Place,
    },
    /// An environment that is not declared.
    #[error(
        "[environment.unknown] there is no environment {name:?}{place}: the application has {known}"
    )]
    UnknownEnvironment {
        /// The environment.
        name: String,
        /// Where it is named, in words; empty where it was chosen at the start.
        place: String,
        /// The environments there are.
        known: String,
    },
    /// An agent that asks no model.
    #[error(
        "[agent.no-model] agent {agent} at {place} names no model: write .model(\"<provider>/<model>\")"
    )]
    NoModel {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
    },
    /// An agent that is told nothing.
    #[error(
        "[agent.no-instructions] agent {agent} at {place} has no instructions: write .instructions(\"..\")"
    )]
    NoInstructions {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
    },
    /// A name that is no model's.
    #[error("{error} (the model of agent {agent} at {place})")]
    ModelName {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
        /// Why not.
        error: ModelNameError,
    },
    /// A model that cannot be opened.
    #[cfg(feature = "providers")]
    #[error("{error} (the model of agent {agent} at {place})")]
    Model {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
        /// Why not.
        error: OpenModelError,
    },
    /// A model that nobody gave, in a build without providers.
    #[cfg(not(feature = "providers"))]
    #[error(
        "[model.not-given] agent {agent} at {place} names {model}: this build has no providers; give it with .model(..) on the application, or build with the feature `providers`"
    )]
    ModelNotGiven {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
        /// The model.
        model: String,
    },
    /// A budget for a model of unknown price.
    #[error(
        "[model.price-unknown] agent {agent} at {place} has a budget, and nobody knows what {model} costs: give its price with .price({model:?}, ..) on the application, or leave the budget out"
    )]
    PriceUnknown {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
        /// The model.
        model: String,
    },
    /// An amount that is none.
    #[error("{error} (the budget of agent {agent} at {place})")]
    Budget {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
        /// Why not.
        error: MoneyError,
    },
    /// A limit out of its range.
    #[error(
        "[agent.limit-invalid] agent {agent} at {place}: {limit} is {value}, from {min} to {max} is allowed"
    )]
    Limit {
        /// The agent.
        agent: String,
        /// Where it is declared.
        place: Place,
        /// The limit, as its method is called.
        limit: &'static str,
        /// Its value.
        value: String,
        /// The least it may be.
        min: &'static str,
        /// The most it may be.
        max: &'static str,
    },
    /// A result bound of nothing.
    #[error(
        "[tools.max-result-size-invalid] {whose} at {place}: a result bound is at least 1 byte"
    )]
    ResultBound {
        /// The agent or the application.
        whose: String,
        /// Where it is declared.
        place: Place,
    },
    /// Something wrong with a tool.
    #[error("{error}, listed at {place}")]
    Tool {
        /// What.
        error: BindError,
        /// Where the tool is listed.
        place: Place,
    },
    /// A tool that nobody offers.
    #[error(transparent)]
    UnknownTool(#[from] UnknownAgentToolError),
    /// Two tools of one name.
    #[error(transparent)]
    DuplicateTool(#[from] DuplicateNameError),
    /// A service that was given twice.
    #[error(
        "[di.repeated-service] {service} is given twice with .provide(..): one of the two would never be used"
    )]
    RepeatedService {
        /// Its type.
        service: &'static str,
    },
    /// A role's name that cannot be one.
    #[error("{error} (role at {place})")]
    RoleName {
        /// Why not.
        error: ToolNameError,
        /// Where a channel is given for it.
        place: Place,
    },
    /// A role without a description.
    #[error(
        "[channel.missing-description] {role} at {place}: people read what a role decides; describe it"
    )]
    NoRoleDescription {
        /// The role.
        role: String,
        /// Where it is used.
        place: Place,
    },
    /// Two roles of one name.
    #[error(
        "[name.duplicate] two roles are called {role:?}, at {first} and at {second}: give one of them another name"
    )]
    DuplicateRole {
        /// The name.
        role: String,
        /// Where it is used first.
        first: Place,
        /// Where the other one is used.
        second: Place,
    },
    /// A tool whose input is not what its role approves.
    #[error(
        "[channel.wrong-tool] {role} approves {approves}, and {tool} at {place} has another input: name a role that approves it"
    )]
    WrongTool {
        /// The role.
        role: String,
        /// What it approves.
        approves: String,
        /// The tool.
        tool: String,
        /// Where it is listed.
        place: Place,
    },
    /// A role that asks, where one that approves is needed.
    #[error(
        "[channel.role-form] {role} asks a question, and {tool} at {place} needs an approval: name a role that approves its input"
    )]
    RoleForm {
        /// The role.
        role: String,
        /// The tool.
        tool: String,
        /// Where it is listed.
        place: Place,
    },
    /// No channel for a role in an environment.
    #[error(
        "[di.missing-implementation] nobody is asked for {role} in {environment}: {asked_by} waits for it; give it with .channel::<..>(..) or .channel_in::<..>({environment:?}, ..)"
    )]
    MissingImplementation {
        /// The role.
        role: String,
        /// The environment.
        environment: String,
        /// The tools that wait for it.
        asked_by: String,
    },
    /// Two channels for a role in an environment.
    #[error(
        "[di.ambiguous-implementation] {role} has two channels in {environment}, given at {first} and at {second}: keep one"
    )]
    AmbiguousImplementation {
        /// The role.
        role: String,
        /// The environment.
        environment: String,
        /// Where the one is given.
        first: Place,
        /// Where the other is given.
        second: Place,
    },
}

/// Everything that is wrong with an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckErrors(Vec<CheckError>);

impl CheckErrors {
    /// The errors, in the order of the program.
    #[must_use]
    pub fn as_slice(&self) -> &[CheckError] {
        &self.0
    }
}

impl fmt::Display for CheckErrors {
    /// One line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.0.iter().enumerate() {
            let joint = if at == 0 { "" } else { "\n" };
            write!(f, "{joint}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for CheckErrors {}

/// Collects problems; one that was told already is not told again.
#[derive(Debug, Default)]
pub(super) struct Problems {
    errors: Vec<CheckError>,
    told: BTreeSet<String>,
}

impl Problems {
    pub(super) fn push(&mut self, error: CheckError) {
        if self.told.insert(error.to_string()) {
            self.errors.push(error);
        }
    }

    /// The value, or none and the problem taken note of.
    pub(super) fn take<T>(&mut self, result: Result<T, CheckError>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(super) fn into_errors(self) -> CheckErrors {
        CheckErrors(self.errors)
    }
}
