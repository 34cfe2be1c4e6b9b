//! The seam to models: one trait, one call, and a permit for each.

use leasehold_types::{BoxFuture, Permit, PermitToken, Signal};

use crate::{ModelAnswer, ModelError, ModelRequest, Price, Reservation};

/// A model that can be asked.
///
/// The contract of [`Model::chat`]:
/// - **Before**: the permit shows that the call's intent is durable and its reservation made. It is used up by the call.
/// - **Once**: at most one request leaves for each call. Whoever wants another attempt asks for another permit.
/// - **After**: the answer is as the provider sent it; nothing in it has been judged or repaired.
/// - **On failure**: [`ModelError::retry`] says whether another attempt makes sense, [`ModelError::may_have_been_billed`] whether the reservation must be booked.
/// - **Cancelled**: dropping the future closes the connection; so does the signal, which gives [`ModelError::Aborted`].
pub trait Model: Send + Sync + std::fmt::Debug {
    /// The model's full name, like `anthropic/claude-sonnet-5`.
    fn name(&self) -> &str;

    /// What its tokens cost; `None` where nobody knows.
    fn price(&self) -> Option<Price>;

    /// Asks the model once.
    fn chat<'a>(
        &'a self,
        permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>>;

    /// The most the call may use: reserved before it is dispatched.
    fn estimate(&self, request: &ModelRequest) -> Reservation {
        Reservation::of(request, self.price())
    }
}

/// Asks a model once: [`Model::chat`] with whatever is a permit, and a clear refusal by the compiler for whatever is none.
pub fn ask<'a>(
    model: &'a dyn Model,
    permit: impl PermitToken,
    request: &'a ModelRequest,
    signal: &'a Signal,
) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
    model.chat(permit.into_permit(), request, signal)
}
