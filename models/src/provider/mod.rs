//! Real providers: their endpoints, and the models opened from them.
//!
//! It reads no environment and no configuration: keys come from a [`KeySource`] by the name of their variable, when a call needs them.
//!
//! - PROVIDER-1: one call sends at most one request; nothing here repeats, follows a redirect, or falls back to another model.
//! - PROVIDER-2: no key is stored, shown by `Debug`, or part of an error.

mod anthropic;
mod anthropic_answer;
mod arguments;
mod echo;
mod endpoint;
mod failure;
mod gemini;
mod gemini_answer;
mod http;
mod keys;
mod numbers;
mod openai;
mod openai_answer;
mod remote;
mod retry_after;
mod wire_ids;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use leasehold_types::Clock;

pub use endpoint::{Dialect, Endpoint};
pub use http::HttpLimits;
pub use keys::{ApiKey, KeySource};

use crate::{Model, ModelCall, ModelError, ModelName, ModelNameError, PriceBook, StopReason};
use http::Http;
use remote::RemoteModel;

/// Why a model could not be opened. Found without network and keys.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenModelError {
    /// The name is no model's name.
    #[error(transparent)]
    Name(#[from] ModelNameError),
    /// No endpoint has this name.
    #[error(
        "[model.provider-unknown] {model:?} names no known provider: known are {known}; give others as an endpoint with its base URL"
    )]
    ProviderUnknown {
        /// The model's name.
        model: String,
        /// The endpoints there are.
        known: String,
    },
    /// The endpoint's address cannot be used.
    #[error(
        "[model.base-url-invalid] the base URL of {provider:?} cannot be used: it is http:// or https://, with a host and without user, query or fragment"
    )]
    BaseUrlInvalid {
        /// The endpoint.
        provider: String,
    },
    /// The HTTP client could not be made.
    #[error("[model.client] no HTTP client could be made: {0}")]
    Client(String),
}

/// Installs ring as the process's TLS implementation, once; an implementation installed before stays.
pub fn install_crypto() {
    let installed = rustls::crypto::ring::default_provider().install_default();
    // An error says that another was installed before: the process has one, which is all we need.
    drop(installed);
}

/// Opens models of real providers. A clone shares everything, the connections included.
#[derive(Clone)]
pub struct Providers {
    endpoints: BTreeMap<String, Endpoint>,
    keys: Arc<dyn KeySource>,
    prices: PriceBook,
    http: Http,
}

impl Providers {
    /// The endpoints `anthropic`, `gemini`, `ollama`, `openai` and `openrouter`, with the built-in prices.
    ///
    /// # Errors
    /// [`OpenModelError::Client`] where the system's certificates cannot be read.
    pub fn new(clock: Arc<dyn Clock>, keys: Arc<dyn KeySource>) -> Result<Self, OpenModelError> {
        Self::with_limits(clock, keys, HttpLimits::default())
    }

    /// The same, with other limits of time and size.
    ///
    /// # Errors
    /// As [`Providers::new`].
    pub fn with_limits(
        clock: Arc<dyn Clock>,
        keys: Arc<dyn KeySource>,
        limits: HttpLimits,
    ) -> Result<Self, OpenModelError> {
        install_crypto();
        let endpoints = Endpoint::built_in()
            .map(|endpoint| (endpoint.provider().to_owned(), endpoint))
            .into();
        Ok(Self {
            endpoints,
            keys,
            prices: PriceBook::built_in(),
            http: Http::new(clock, limits).map_err(OpenModelError::Client)?,
        })
    }

    /// Adds an endpoint, or replaces the one of its name.
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoints
            .insert(endpoint.provider().to_owned(), endpoint);
        self
    }

    /// Other prices than the built-in ones.
    #[must_use]
    pub fn prices(mut self, prices: PriceBook) -> Self {
        self.prices = prices;
        self
    }

    /// Opens a model by its name, `<endpoint>/<model>`. Needs neither network nor key.
    ///
    /// # Errors
    /// The name is malformed, names no endpoint, or the endpoint's address cannot be used.
    pub fn open(&self, name: &str) -> Result<Arc<dyn Model>, OpenModelError> {
        let name: ModelName = name.parse()?;
        let endpoint = self.endpoint_of(&name)?;
        let url = endpoint
            .url(name.model())
            .ok_or_else(|| OpenModelError::BaseUrlInvalid {
                provider: endpoint.provider().to_owned(),
            })?;
        Ok(Arc::new(RemoteModel {
            price: self.prices.price(name.as_str()),
            endpoint: endpoint.clone(),
            keys: Arc::clone(&self.keys),
            http: self.http.clone(),
            url,
            name,
        }))
    }

    /// The name of the environment variable that holds the key for a model; `None` where it needs none.
    ///
    /// # Errors
    /// The name is malformed or names no endpoint.
    pub fn key_env(&self, name: &str) -> Result<Option<&str>, OpenModelError> {
        Ok(self.endpoint_of(&name.parse()?)?.key_name())
    }

    fn endpoint_of(&self, name: &ModelName) -> Result<&Endpoint, OpenModelError> {
        self.endpoints
            .get(name.provider())
            .ok_or_else(|| OpenModelError::ProviderUnknown {
                model: name.to_string(),
                known: self
                    .endpoints
                    .keys()
                    .cloned()
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}

impl fmt::Debug for Providers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Providers")
            .field("endpoints", &self.endpoints)
            .finish_non_exhaustive()
    }
}

/// Why an answer stopped that ended by itself: for its calls, if it has some, whatever word the provider has for it.
const fn finished(calls: &[ModelCall]) -> StopReason {
    if calls.is_empty() {
        StopReason::Finished
    } else {
        StopReason::ToolCalls
    }
}

/// The error for an answer that cannot be read. Says where, and quotes nothing.
fn invalid(error: &serde_json::Error) -> ModelError {
    let kind = match error.classify() {
        serde_json::error::Category::Syntax => "it is no JSON",
        serde_json::error::Category::Eof => "it ends too early",
        serde_json::error::Category::Data => "a field has another form",
        serde_json::error::Category::Io => "it cannot be read",
    };
    ModelError::InvalidAnswer {
        detail: format!("{kind}, at line {} column {}", error.line(), error.column()),
    }
}
