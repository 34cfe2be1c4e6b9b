//! Roles: who is asked before a tool runs, or for an answer, as data.
//!
//! Sending the question and taking the answer are the channel's; nothing here waits.

use std::any::type_name;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use leasehold_types::Answerer;
use serde_json::Value;

use crate::dto::Dto;
use crate::schema::Shape;

/// A role that people or systems fill. Put `#[role(..)]` on a struct.
pub trait Role: Send + Sync + 'static {
    /// The role as data.
    fn info() -> RoleInfo;
}

/// A role that approves a tool's arguments.
pub trait ApprovalRole: Role {
    /// The input type of the tools it approves.
    type Input: Dto;
}

/// A role that answers a question.
pub trait QuestionRole: Role {
    /// What it is asked.
    type Question: Dto;
    /// What it answers.
    type Answer: Dto;
}

/// Says that a role approves tools whose input is `T`. Written by `#[role(approves = T, ..)]`.
#[diagnostic::on_unimplemented(
    message = "[channel.wrong-tool] `{Self}` does not approve `{T}`",
    label = "does not approve `{T}`",
    note = "a role approves the tools whose input it names: `#[role(approves = {T}, ..)]`"
)]
pub trait Approves<T>: ApprovalRole {}

/// A role as data.
#[derive(Debug, Clone)]
pub struct RoleInfo {
    /// Its name: kebab-case, ending in `-channel`.
    pub name: &'static str,
    /// What it decides, for people.
    pub description: &'static str,
    /// Who may answer.
    pub answered_by: Answerer,
    /// Whether it approves or answers.
    pub form: RoleForm,
}

/// What a role does.
#[derive(Debug, Clone)]
pub enum RoleForm {
    /// Approves a tool's arguments.
    Approves {
        /// The input type's name, for people.
        input: &'static str,
        /// What the arguments look like.
        shape: Shape,
    },
    /// Answers a question.
    Asks {
        /// What the question looks like.
        question: Shape,
        /// What the answer looks like.
        answer: Shape,
    },
}

impl RoleForm {
    /// The form of a role that approves `T`.
    #[must_use]
    pub fn approves<T: Dto>() -> Self {
        Self::Approves {
            input: type_name::<T>(),
            shape: Shape::of::<T>(),
        }
    }

    /// The form of a role that is asked `Q` and answers `A`.
    #[must_use]
    pub fn asks<Q: Dto, A: Dto>() -> Self {
        Self::Asks {
            question: Shape::of::<Q>(),
            answer: Shape::of::<A>(),
        }
    }
}

/// The approval a tool waits for.
#[derive(Clone)]
pub struct Approval {
    role: RoleInfo,
    condition: Option<Condition>,
}

type Condition = Arc<dyn Fn(&Value) -> bool + Send + Sync>;

impl Approval {
    /// Every call with an input of `T` waits for the role `R`.
    #[must_use]
    pub fn by<R: Approves<T>, T: Dto>() -> Self {
        Self {
            role: R::info(),
            condition: None,
        }
    }

    /// Only calls for which `condition` holds wait.
    #[must_use]
    pub fn when<T: Dto>(mut self, condition: fn(&T) -> bool) -> Self {
        // Arguments that are no longer a `T` are somebody's business: ask.
        let holds =
            move |value: &Value| T::deserialize(value).map_or(true, |input| condition(&input));
        self.condition = Some(Arc::new(holds));
        self
    }

    /// The role that is asked.
    #[must_use]
    pub const fn role(&self) -> &RoleInfo {
        &self.role
    }

    /// Whether a call with these arguments waits. A condition that panics means yes.
    #[must_use]
    pub fn is_needed(&self, arguments: &Value) -> bool {
        let Some(condition) = &self.condition else {
            return true;
        };
        catch_unwind(AssertUnwindSafe(|| condition(arguments))).unwrap_or(true)
    }
}

impl fmt::Debug for Approval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Approval")
            .field("role", &self.role)
            .field("is_conditional", &self.condition.is_some())
            .finish()
    }
}
