//! Models: by their names, given by the application or opened from providers, and what they cost.

#[cfg(feature = "providers")]
use std::cell::OnceCell;
use std::sync::Arc;

use leasehold_models::{Model, ModelAnswer, ModelError, ModelName, ModelRequest, Price};
#[cfg(feature = "providers")]
use leasehold_models::{OpenModelError, PriceBook, Providers};
use leasehold_types::{BoxFuture, Permit, Signal};

use super::error::CheckError;
use crate::agent::Agent;
use crate::app::App;

/// A model, found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) model: Arc<dyn Model>,
    /// The environment variable with its key.
    pub(super) key_env: Option<String>,
}

/// Finds models. Providers are opened only where an agent needs one.
pub(super) struct Models<'a> {
    app: &'a App,
    #[cfg(feature = "providers")]
    providers: OnceCell<Result<Providers, OpenModelError>>,
}

impl<'a> Models<'a> {
    pub(super) const fn of(app: &'a App) -> Self {
        Self {
            app,
            #[cfg(feature = "providers")]
            providers: OnceCell::new(),
        }
    }

    /// The model of an agent: its own script, else the application's for the name, else a provider's.
    pub(super) fn find(&self, agent: &Agent, name: &str) -> Result<Found, CheckError> {
        name.parse::<ModelName>()
            .map_err(|error| CheckError::ModelName {
                agent: agent.name.clone(),
                place: agent.place,
                error,
            })?;
        let app = self.app;
        let given = app.agent_models.get(&agent.name);
        let Some(model) = given.or_else(|| app.models.get(name)) else {
            return self.open(agent, name);
        };
        let model = match app.prices.get(name) {
            Some(price) => Arc::new(Priced {
                model: Arc::clone(model),
                price: *price,
            }),
            None => Arc::clone(model),
        };
        Ok(Found {
            model,
            key_env: None,
        })
    }

    #[cfg(feature = "providers")]
    fn open(&self, agent: &Agent, name: &str) -> Result<Found, CheckError> {
        let refused = |error: OpenModelError| CheckError::Model {
            agent: agent.name.clone(),
            place: agent.place,
            error,
        };
        let providers = self.providers.get_or_init(|| providers(self.app));
        let providers = providers.as_ref().map_err(|error| refused(error.clone()))?;
        Ok(Found {
            model: providers.open(name).map_err(refused)?,
            key_env: providers.key_env(name).map_err(refused)?.map(str::to_owned),
        })
    }

    #[cfg(not(feature = "providers"))]
    fn open(&self, agent: &Agent, name: &str) -> Result<Found, CheckError> {
        Err(CheckError::ModelNotGiven {
            agent: agent.name.clone(),
            place: agent.place,
            model: name.to_owned(),
        })
    }
}

#[cfg(feature = "providers")]
fn providers(app: &App) -> Result<Providers, OpenModelError> {
    let clock = Arc::new(leasehold_actors::SystemClock);
    let keys = Arc::new(leasehold_cluster::config::variable);
    let prices = app
        .prices
        .iter()
        .fold(PriceBook::built_in(), |book, (name, price)| {
            book.with(name, *price)
        });
    let providers = Providers::new(clock, keys)?.prices(prices);
    Ok(app.endpoints.iter().fold(providers, |providers, endpoint| {
        providers.endpoint(endpoint.clone())
    }))
}

/// A model whose price the application says.
#[derive(Debug)]
struct Priced {
    model: Arc<dyn Model>,
    price: Price,
}

impl Model for Priced {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn price(&self) -> Option<Price> {
        Some(self.price)
    }

    fn chat<'a>(
        &'a self,
        permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        self.model.chat(permit, request, signal)
    }
}
