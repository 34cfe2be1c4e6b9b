//! Roles and channels: what tools may ask, and exactly one way to ask it in every environment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use leasehold_actors::Channel;
use leasehold_tools::{Kind, RoleForm, RoleInfo, check_name};
use leasehold_types::Answerer;

use super::agents::Draft;
use super::error::{CheckError, Problems};
use super::tools::Listed;
use crate::app::App;
use crate::channels::Owner;
use crate::place::Place;

/// A role that a tool waits for.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) role: RoleInfo,
    pub(crate) place: Place,
    /// The tools that wait for it.
    pub(crate) tools: BTreeSet<String>,
}

/// The channel of each role in each environment.
pub(crate) type Resolved = BTreeMap<(String, String), Arc<dyn Channel>>;

/// The roles that the agents' tools wait for, each checked against its tools.
pub(super) fn asked_roles(drafts: &[Draft], problems: &mut Problems) -> BTreeMap<String, Asked> {
    let mut asked: BTreeMap<String, Asked> = BTreeMap::new();
    for tool in drafts.iter().flat_map(|draft| &draft.tools) {
        let Some(approval) = &tool.spec.approval else {
            continue;
        };
        let role = approval.role();
        check_form(role, tool, problems);
        let known = asked.entry(role.name.to_owned()).or_insert_with(|| Asked {
            role: role.clone(),
            place: tool.place,
            tools: BTreeSet::new(),
        });
        known.tools.insert(tool.spec.name.to_string());
        if !is_same_role(&known.role, role) {
            problems.push(duplicate(role, known.place, tool.place));
        }
    }
    asked
}

fn duplicate(role: &RoleInfo, first: Place, second: Place) -> CheckError {
    CheckError::DuplicateRole {
        role: role.name.to_owned(),
        first,
        second,
    }
}

/// The compiler has refused this where a tool is written with `#[tool]`.
fn check_form(role: &RoleInfo, tool: &Listed, problems: &mut Problems) {
    let (tool_name, place) = (tool.spec.name.to_string(), tool.place);
    match &role.form {
        RoleForm::Approves { input, shape } => {
            if shape.schema() != tool.spec.input.schema() {
                problems.push(CheckError::WrongTool {
                    role: role.name.to_owned(),
                    approves: (*input).to_owned(),
                    tool: tool_name,
                    place,
                });
            }
        }
        RoleForm::Asks { .. } => problems.push(CheckError::RoleForm {
            role: role.name.to_owned(),
            tool: tool_name,
            place,
        }),
    }
}

fn is_same_role(one: &RoleInfo, other: &RoleInfo) -> bool {
    let is_same_form = match (&one.form, &other.form) {
        (
            RoleForm::Approves { input, shape },
            RoleForm::Approves {
                input: other_input,
                shape: other_shape,
            },
        ) => input == other_input && shape.schema() == other_shape.schema(),
        (
            RoleForm::Asks { question, answer },
            RoleForm::Asks {
                question: other_question,
                answer: other_answer,
            },
        ) => {
            question.schema() == other_question.schema() && answer.schema() == other_answer.schema()
        }
        (RoleForm::Approves { .. }, RoleForm::Asks { .. })
        | (RoleForm::Asks { .. }, RoleForm::Approves { .. }) => false,
    };
    is_same_form && one.answered_by == other.answered_by && one.description == other.description
}

/// Checks the roles themselves, and that each that is waited for has one channel in each environment: CHECK-2.
pub(super) fn check(
    app: &App,
    asked: &BTreeMap<String, Asked>,
    problems: &mut Problems,
) -> Resolved {
    check_roles(app, asked, problems);
    let given = app.channels.iter().map(|given| given.role.name.to_owned());
    let roles: BTreeSet<String> = given.chain(asked.keys().cloned()).collect();
    let mut resolved = Resolved::new();
    for environment in app.environments() {
        for role in &roles {
            let channel = one_channel(app, role, environment, asked.get(role));
            if let Some(Some(channel)) = problems.take(channel) {
                resolved.insert((environment.to_owned(), role.clone()), channel);
            }
        }
    }
    resolved
}

fn check_roles(app: &App, asked: &BTreeMap<String, Asked>, problems: &mut Problems) {
    let used = asked.values().map(|asked| (&asked.role, asked.place));
    let given = app.channels.iter().map(|given| (&given.role, given.place));
    let mut seen: BTreeMap<&str, (&RoleInfo, Place)> = BTreeMap::new();
    for (role, place) in used.chain(given) {
        let checked = check_name(Kind::Channel, role.name);
        let _reported =
            problems.take(checked.map_err(|error| CheckError::RoleName { error, place }));
        if role.description.trim().is_empty() {
            let role = role.name.to_owned();
            problems.push(CheckError::NoRoleDescription { role, place });
        }
        let (first, first_place) = *seen.entry(role.name).or_insert((role, place));
        if !is_same_role(first, role) {
            problems.push(duplicate(role, first_place, place));
        }
    }
}

/// The channel of a role; none where nobody waits for it.
fn one_channel(
    app: &App,
    role: &str,
    environment: &str,
    asked: Option<&Asked>,
) -> Result<Option<Arc<dyn Channel>>, CheckError> {
    let serves = |given: &Option<String>| given.as_deref().is_none_or(|name| name == environment);
    let mut given = app
        .channels
        .iter()
        .filter(|given| given.role.name == role && serves(&given.environment));
    match (given.next(), given.next(), asked) {
        (Some(first), Some(second), _) => Err(CheckError::AmbiguousImplementation {
            role: role.to_owned(),
            environment: environment.to_owned(),
            first: first.place,
            second: second.place,
        }),
        (Some(only), None, _) => Ok(Some(Arc::clone(&only.channel))),
        (None, _, Some(asked)) if asked.role.answered_by == Answerer::Channel => {
            let tools: Vec<&str> = asked.tools.iter().map(String::as_str).collect();
            Err(CheckError::MissingImplementation {
                role: role.to_owned(),
                environment: environment.to_owned(),
                asked_by: tools.join(", "),
            })
        }
        // The owner of a thread finds the question in the list of the execution's pauses.
        (None, _, Some(_)) => Ok(Some(Arc::new(Owner))),
        (None, _, None) => Ok(None),
    }
}

/// The channels of one environment by role.
pub(super) fn of_environment(
    resolved: &Resolved,
    environment: &str,
) -> BTreeMap<String, Arc<dyn Channel>> {
    let here = resolved
        .iter()
        .filter(|((name, _), _)| name == environment)
        .map(|((_, role), channel)| (role.clone(), Arc::clone(channel)));
    here.collect()
}
