//! Racing a future against a signal. The loser is dropped.

use std::pin::pin;

use futures_util::future::{Either, select};
use leasehold_types::Signal;

use crate::ModelError;

/// What `future` gives, unless `signal` is aborted first.
pub(crate) async fn unless_aborted<T>(
    signal: &Signal,
    future: impl Future<Output = T>,
) -> Result<T, ModelError> {
    match select(pin!(signal.aborted()), pin!(future)).await {
        Either::Left((reason, _)) => Err(ModelError::Aborted(reason)),
        Either::Right((value, _)) => Ok(value),
    }
}
