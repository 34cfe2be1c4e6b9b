//! Why a call to a model failed, and the one place that says what may be done about it.
//!
//! It decides whether an attempt may be repeated and whether it may have cost money; it repeats nothing.

use std::time::Duration;

use leasehold_types::AbortReason;

use crate::HistoryError;

/// Where a connection broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportPhase {
    /// Before the request left: nobody has seen it.
    Connect,
    /// After it may have left.
    Exchange,
}

impl TransportPhase {
    const fn words(self) -> &'static str {
        match self {
            Self::Connect => "before the request was sent",
            Self::Exchange => "after the request was sent",
        }
    }
}

/// Whether another attempt makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same request would fail again, or must not be sent again.
    Never,
    /// Another attempt may succeed: after the provider's own waiting time, or the caller's backoff.
    After(Option<Duration>),
}

/// Why a call to a model failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// Too many requests or tokens in the provider's window.
    #[error("[model.rate-limited] the provider limits the rate{}", waiting(*retry_after))]
    RateLimited {
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The account has no credit left, or reached its own spending limit.
    #[error(
        "[model.quota-exhausted] the provider's account has no quota left (status {status}): add credit or raise its limit"
    )]
    QuotaExhausted {
        /// The HTTP status.
        status: u16,
    },
    /// The provider has no capacity now.
    #[error("[model.overloaded] the provider is overloaded (status {status}){}", waiting(*retry_after))]
    Overloaded {
        /// The HTTP status.
        status: u16,
        /// How long the provider asks to wait.
        retry_after: Option<Duration>,
    },
    /// The provider failed.
    #[error("[model.server] the provider failed with status {status}")]
    Server {
        /// The HTTP status, or the one its error body names.
        status: u16,
    },
    /// No byte came for the time allowed.
    #[error("[model.stalled] the provider sent nothing for {after:?}")]
    Stalled {
        /// The time allowed.
        after: Duration,
    },
    /// The connection could not be made, or broke.
    #[error("[model.transport] the connection failed {}: {detail}", phase.words())]
    Transport {
        /// Where it broke.
        phase: TransportPhase,
        /// What the network said; without address parameters.
        detail: String,
    },
    /// The provider found the request wrong.
    #[error("[model.bad-request] the provider refused the request with status {status}: {message}")]
    BadRequest {
        /// The HTTP status.
        status: u16,
        /// The provider's message, at most [`ModelError::MESSAGE_CHARS_MAX`] characters, without control characters.
        message: String,
    },
    /// The provider did not accept the key.
    #[error("[model.unauthenticated] the provider refused the key in {key_env} (status {status})")]
    Unauthenticated {
        /// The HTTP status.
        status: u16,
        /// The name of the environment variable with the key.
        key_env: String,
    },
    /// The environment variable with the key is not set or not usable.
    #[error("[model.key-missing] {key_env} holds no usable key: set the environment variable")]
    KeyMissing {
        /// Its name.
        key_env: String,
    },
    /// The answer is not what the provider's protocol says.
    #[error("[model.invalid-answer] the answer cannot be read: {detail}")]
    InvalidAnswer {
        /// What is wrong; never a part of the answer.
        detail: String,
    },
    /// The answer is larger than the client takes.
    #[error("[model.answer-too-large] the answer has more than {max} bytes")]
    AnswerTooLarge {
        /// The limit in bytes.
        max: u64,
    },
    /// The request's calls and results do not pair up: it was not sent.
    #[error("[model.history-invalid] the request was not sent: {0}")]
    HistoryInvalid(#[from] HistoryError),
    /// No price is known and a budget counts money: the call was not made.
    #[error(
        "[model.price-unknown] no price is known for {model}: give one to the price book, or set no budget of money"
    )]
    PriceUnknown {
        /// The model's name.
        model: String,
    },
    /// A scripted model was asked for a turn its script does not have.
    #[error(
        "[model.script-ended] the script has {turns} turns and was asked for turn {asked}, counted from 0"
    )]
    ScriptEnded {
        /// The turns it has.
        turns: usize,
        /// The turn asked for.
        asked: usize,
    },
    /// The signal was aborted before the answer was complete.
    #[error("[model.aborted] {0}")]
    Aborted(AbortReason),
}

fn waiting(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |after| {
        format!(" and asks to wait {} ms", after.as_millis())
    })
}

impl ModelError {
    /// The longest message of a provider that is kept, in characters: enough for one that names a field.
    pub const MESSAGE_CHARS_MAX: usize = 300;

    /// Whether another attempt makes sense. Whoever retries, asks here.
    #[must_use]
    pub const fn retry(&self) -> Retry {
        match self {
            Self::RateLimited { retry_after } | Self::Overloaded { retry_after, .. } => {
                Retry::After(*retry_after)
            }
            Self::Server { .. }
            | Self::Stalled { .. }
            | Self::Transport { .. }
            | Self::InvalidAnswer { .. } => Retry::After(None),
            Self::QuotaExhausted { .. }
            | Self::BadRequest { .. }
            | Self::Unauthenticated { .. }
            | Self::KeyMissing { .. }
            | Self::AnswerTooLarge { .. }
            | Self::HistoryInvalid(_)
            | Self::PriceUnknown { .. }
            | Self::ScriptEnded { .. }
            | Self::Aborted(_) => Retry::Never,
        }
    }

    /// Whether the provider may bill the attempt: then its reservation is booked, not released.
    #[must_use]
    pub const fn may_have_been_billed(&self) -> bool {
        match self {
            Self::Server { .. }
            | Self::Stalled { .. }
            | Self::InvalidAnswer { .. }
            | Self::AnswerTooLarge { .. }
            | Self::Aborted(_) => true,
            Self::Transport { phase, .. } => matches!(phase, TransportPhase::Exchange),
            Self::RateLimited { .. }
            | Self::QuotaExhausted { .. }
            | Self::Overloaded { .. }
            | Self::BadRequest { .. }
            | Self::Unauthenticated { .. }
            | Self::KeyMissing { .. }
            | Self::HistoryInvalid(_)
            | Self::PriceUnknown { .. }
            | Self::ScriptEnded { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_never_accepted_is_not_billed_and_what_was_refused_is_not_repeated() {
        let connect = ModelError::Transport {
            phase: TransportPhase::Connect,
            detail: "refused".to_owned(),
        };
        let refused = ModelError::BadRequest {
            status: 400,
            message: "bad".to_owned(),
        };
        let limited = ModelError::RateLimited {
            retry_after: Some(Duration::from_secs(2)),
        };
        let stalled = ModelError::Stalled {
            after: Duration::from_secs(60),
        };
        let cases = [
            (connect, Retry::After(None), false),
            (refused, Retry::Never, false),
            (limited, Retry::After(Some(Duration::from_secs(2))), false),
            (stalled, Retry::After(None), true),
            (ModelError::Server { status: 502 }, Retry::After(None), true),
        ];
        for (error, retry, billed) in cases {
            assert_eq!(
                (error.retry(), error.may_have_been_billed()),
                (retry, billed),
                "{error}"
            );
        }
    }
}
