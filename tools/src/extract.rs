//! What a tool takes: every parameter says statically what it needs, and is made from the call alone.
//!
//! - EXTRACT-1: whether a parameter can be made is known at assembly; only a tool's input depends on the call.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use leasehold_types::{Principal, Timestamp};
use serde_json::Value;

use crate::context::CallContext;
use crate::dto::Dto;
use crate::error::ToolError;
use crate::schema::Shape;
use crate::services::{ServiceKey, Services};
use crate::spend::Spend;

/// A type that a tool's function can take as a parameter.
///
/// Your own: say in [`FromCall::needs`] what the others it is made of need, and make it from them.
#[diagnostic::on_unimplemented(
    message = "a tool cannot take `{Self}`",
    label = "not a parameter of a tool",
    note = "a service is `Dep<{Self}>`, given with `.provide(..)`; arguments are `Input<{Self}>`"
)]
pub trait FromCall: Sized + Send + 'static {
    /// Adds what it needs. Asked once, at assembly.
    fn needs(needs: &mut Needs);

    /// Makes it. Must not block or act outside.
    ///
    /// # Errors
    /// It cannot be made: the call fails with this error and the tool's body does not run.
    fn from_call(call: &ToolCall) -> Result<Self, ToolError>;
}

/// What a tool's parameters need.
#[derive(Debug, Clone, Default)]
pub struct Needs {
    pub(crate) services: Vec<ServiceKey>,
    pub(crate) inputs: Vec<Shape>,
    pub(crate) approved: bool,
}

impl Needs {
    /// Adds what a parameter needs.
    #[must_use]
    pub fn and<P: FromCall>(mut self) -> Self {
        P::needs(&mut self);
        self
    }

    /// Adds a service.
    pub fn service<T: ?Sized + 'static>(&mut self) {
        self.services.push(ServiceKey::of::<T>());
    }

    /// Adds the tool's input; a tool has at most one.
    pub fn input<T: Dto>(&mut self) {
        self.inputs.push(Shape::of::<T>());
    }

    /// Adds that the tool's calls are approved.
    pub const fn approval(&mut self) {
        self.approved = true;
    }

    /// The services, in order of the parameters.
    #[must_use]
    pub fn services(&self) -> &[ServiceKey] {
        &self.services
    }
}

/// One call, as a tool's parameters are made from it.
#[derive(Debug, Clone)]
pub struct ToolCall {
    pub(crate) arguments: Arc<Value>,
    pub(crate) context: CallContext,
    pub(crate) services: Services,
    pub(crate) spend: Spend,
    pub(crate) approval: Option<Arc<ApprovalRecord>>,
}

impl ToolCall {
    /// The arguments: they fit the tool's schema.
    #[must_use]
    pub fn arguments(&self) -> &Value {
        &self.arguments
    }

    /// Makes a parameter.
    ///
    /// # Errors
    /// The parameter's own; see [`FromCall::from_call`].
    pub fn take<P: FromCall>(&self) -> Result<P, ToolError> {
        P::from_call(self)
    }
}

/// Who approved a call, when, and what was changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalRecord {
    /// Who, as authentication established it.
    pub by: Principal,
    /// When it was decided.
    pub at: Timestamp,
    /// What the model had proposed, where the decision changed it.
    pub proposed: Option<Value>,
}

/// A tool's arguments. At most one parameter is an `Input`; without one the tool takes no arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input<T>(pub T);

impl<T: Dto> FromCall for Input<T> {
    fn needs(needs: &mut Needs) {
        needs.input::<T>();
    }

    fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        // Reviewed arguments fit; those of an older release's journal may not.
        T::deserialize(call.arguments())
            .map(Self)
            .map_err(|error| ToolError::new(format!("invalid input: $: {error}")).caused_by(error))
    }
}

/// A service of the application, given with `.provide(..)`. `T` may be a `dyn Trait`.
pub struct Dep<T: ?Sized>(Arc<T>);

impl<T: ?Sized> Dep<T> {
    /// A service handed over by hand, for calling a tool's plain function.
    #[must_use]
    pub const fn new(service: Arc<T>) -> Self {
        Self(service)
    }
}

impl<T: ?Sized> Clone for Dep<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: ?Sized> Deref for Dep<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: ?Sized> fmt::Debug for Dep<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dep<{}>", std::any::type_name::<T>())
    }
}

impl<T: ?Sized + Send + Sync + 'static> FromCall for Dep<T> {
    fn needs(needs: &mut Needs) {
        needs.service::<T>();
    }

    fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        let missing = || {
            let name = ServiceKey::of::<T>().name();
            ToolError::new(format!("[di.missing-service] no {name} was provided"))
        };
        call.services.find::<T>().map(Self).ok_or_else(missing)
    }
}

impl FromCall for CallContext {
    fn needs(_needs: &mut Needs) {}

    fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        Ok(call.context.clone())
    }
}

impl FromCall for Spend {
    fn needs(_needs: &mut Needs) {}

    fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        Ok(call.spend.clone())
    }
}

/// The approval of a call whose input is a `T`; for tools with `approval` only.
///
/// Where `approval_when` lets some calls through, take `Option<Approved<T>>`.
#[derive(Debug, Clone)]
pub struct Approved<T> {
    record: Arc<ApprovalRecord>,
    proposed: Option<T>,
}

impl<T> Approved<T> {
    /// Who approved.
    #[must_use]
    pub fn by(&self) -> &Principal {
        &self.record.by
    }

    /// When.
    #[must_use]
    pub fn at(&self) -> Timestamp {
        self.record.at
    }

    /// What the model had proposed, where the decision changed it.
    #[must_use]
    pub const fn proposed(&self) -> Option<&T> {
        self.proposed.as_ref()
    }
}

impl<T: Dto> FromCall for Option<Approved<T>> {
    fn needs(needs: &mut Needs) {
        needs.approval();
    }

    fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        let Some(record) = call.approval.clone() else {
            return Ok(None);
        };
        let proposed = record.proposed.as_ref().map(T::deserialize).transpose()?;
        Ok(Some(Approved { record, proposed }))
    }
}

impl<T: Dto> FromCall for Approved<T> {
    fn needs(needs: &mut Needs) {
        needs.approval();
    }

    fn from_call(call: &ToolCall) -> Result<Self, ToolError> {
        let approved = Option::<Self>::from_call(call)?;
        approved.ok_or_else(|| ToolError::new("the call was not approved by anybody"))
    }
}
