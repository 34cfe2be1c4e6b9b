//! The application as a program declares it: a plain value that nothing has checked yet.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use leasehold_actors::Channel;
#[cfg(feature = "providers")]
use leasehold_models::Endpoint;
use leasehold_models::{Model, Price};
use leasehold_tools::{Role, RoleInfo, Services, Tool};
use leasehold_types::Size;

use crate::agent::{Agent, ListedTool};
use crate::assemble::Assembly;
use crate::assemble::error::CheckErrors;
use crate::place::Place;
use crate::runtime::{RunError, Runtime};

/// The environment of an application that declares none.
pub const DEFAULT_ENVIRONMENT: &str = "development";

/// An application: its agents, what their tools need, and how people are asked.
///
/// A plain value without type parameters. No method fails; what is wrong is reported by [`App::check`], all at once.
///
/// ```
/// use leasehold::prelude::*;
///
/// fn app() -> App {
///     App::new("shop").agent(
///         Agent::new("support")
///             .model("anthropic/claude-sonnet-5")
///             .instructions("Help customers with refunds."),
///     )
/// }
/// # assert!(app().check().is_ok());
/// ```
#[derive(Debug, Clone)]
pub struct App {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) services: Services,
    pub(crate) agents: Vec<Agent>,
    pub(crate) catalogue: Vec<ListedTool>,
    pub(crate) channels: Vec<Implementation>,
    pub(crate) environments: Vec<(String, Place)>,
    pub(crate) models: BTreeMap<String, Arc<dyn Model>>,
    pub(crate) agent_models: BTreeMap<String, Arc<dyn Model>>,
    pub(crate) prices: BTreeMap<String, Price>,
    #[cfg(feature = "providers")]
    pub(crate) endpoints: Vec<Endpoint>,
    pub(crate) max_result_size: Option<Size>,
}

/// A channel that was given for a role.
#[derive(Debug, Clone)]
pub(crate) struct Implementation {
    pub(crate) role: RoleInfo,
    /// The one environment it serves; every one if none.
    pub(crate) environment: Option<String>,
    pub(crate) channel: Arc<dyn Channel>,
    pub(crate) place: Place,
}

impl App {
    /// An application of this name: kebab-case, at most 64 bytes.
    #[must_use]
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            place: Place::here(),
            services: Services::new(),
            agents: vec![],
            catalogue: vec![],
            channels: vec![],
            environments: vec![],
            models: BTreeMap::new(),
            agent_models: BTreeMap::new(),
            prices: BTreeMap::new(),
            #[cfg(feature = "providers")]
            endpoints: vec![],
            max_result_size: None,
        }
    }

    /// Gives a service, to be taken by tools as `Dep<T>`.
    #[must_use]
    pub fn provide<T: Send + Sync + 'static>(mut self, service: T) -> Self {
        self.services = self.services.provide(service);
        self
    }

    /// Gives a shared service; `T` may be a trait: `provide_shared::<dyn Payments>(Arc::new(Stripe))`.
    #[must_use]
    pub fn provide_shared<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services = self.services.provide_shared(service);
        self
    }

    /// Puts a service in the place of the one of its type, as tests do.
    #[must_use]
    pub fn replace<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        self.services = self.services.replace(service);
        self
    }

    /// The service of a type, if one was given.
    #[must_use]
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.services.find::<T>()
    }

    /// All services, for running one of its tools alone.
    #[must_use]
    pub const fn services(&self) -> &Services {
        &self.services
    }

    /// How the role `R` is asked, in every environment.
    #[must_use]
    #[track_caller]
    pub fn channel<R: Role>(self, channel: impl Channel + 'static) -> Self {
        self.implement(R::info(), None, Arc::new(channel), Place::here())
    }

    /// How the role `R` is asked in one environment.
    #[must_use]
    #[track_caller]
    pub fn channel_in<R: Role>(
        self,
        environment: impl Into<String>,
        channel: impl Channel + 'static,
    ) -> Self {
        let environment = Some(environment.into());
        self.implement(R::info(), environment, Arc::new(channel), Place::here())
    }

    fn implement(
        mut self,
        role: RoleInfo,
        environment: Option<String>,
        channel: Arc<dyn Channel>,
        place: Place,
    ) -> Self {
        self.channels.push(Implementation {
            role,
            environment,
            channel,
            place,
        });
        self
    }

    /// Adds an agent.
    #[must_use]
    pub fn agent(mut self, agent: Agent) -> Self {
        self.agents.push(agent);
        self
    }

    /// Offers a tool that agents list by name. One that no agent lists is named by `describe`.
    #[must_use]
    #[track_caller]
    pub fn tool(mut self, tool: impl Tool) -> Self {
        self.catalogue
            .push(ListedTool::Value(Arc::new(tool), Place::here()));
        self
    }

    /// Declares an environment, such as `production`. An application that declares none has those its channels name,
    /// else [`DEFAULT_ENVIRONMENT`]. The first is the one that is used where none is chosen.
    #[must_use]
    #[track_caller]
    pub fn environment(mut self, name: impl Into<String>) -> Self {
        self.environments.push((name.into(), Place::here()));
        self
    }

    /// Has agents that name this model ask `model` instead: a script, or a model of your own.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, model: impl Model + 'static) -> Self {
        self.models.insert(name.into(), Arc::new(model));
        self
    }

    /// Has the agent of this name ask `model`, whatever model it names, as tests do.
    #[must_use]
    pub fn model_of(mut self, agent: impl Into<String>, model: Arc<dyn Model>) -> Self {
        self.agent_models.insert(agent.into(), model);
        self
    }

    /// What a model's tokens cost, in place of what is known of it.
    #[must_use]
    pub fn price(mut self, model: impl Into<String>, price: Price) -> Self {
        self.prices.insert(model.into(), price);
        self
    }

    /// Where models are asked whose names begin with the endpoint's: a provider that is not built in, or another address.
    #[cfg(feature = "providers")]
    #[must_use]
    pub fn endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoints.push(endpoint);
        self
    }

    /// How much of a result models read, where neither tool nor agent says it; 128 KB unless set.
    #[must_use]
    pub const fn max_result_size(mut self, size: Size) -> Self {
        self.max_result_size = Some(size);
        self
    }

    /// Puts every tool through `wrap`, as tests do to cut calls off at chosen points. What the model sees must stay the same.
    #[must_use]
    pub fn wrap_tools(mut self, wrap: impl Fn(Arc<dyn Tool>) -> Arc<dyn Tool>) -> Self {
        let listed = self.agents.iter_mut().flat_map(|agent| &mut agent.tools);
        for tool in listed.chain(&mut self.catalogue) {
            if let ListedTool::Value(tool, _) = tool {
                *tool = wrap(Arc::clone(tool));
            }
        }
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its environments: those it declares, else those its channels name, else [`DEFAULT_ENVIRONMENT`].
    #[must_use]
    pub fn environments(&self) -> Vec<&str> {
        let declared = self.environments.iter().map(|(name, _)| name.as_str());
        let mut names: Vec<&str> = declared.collect();
        if names.is_empty() {
            let named = self
                .channels
                .iter()
                .filter_map(|given| given.environment.as_deref());
            names.extend(named);
        }
        if names.is_empty() {
            names.push(DEFAULT_ENVIRONMENT);
        }
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(*name));
        names
    }

    /// Checks everything there is, in every environment, without network, keys or a model call.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn check(&self) -> Result<(), CheckErrors> {
        self.assemble(None).map(|_assembly| ())
    }

    /// Checks everything there is, in every environment, and puts together what runs in this one; the first where none is named.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn assemble(&self, environment: Option<&str>) -> Result<Assembly, CheckErrors> {
        Assembly::of(self, environment)
    }

    /// Runs the command line: `dev`, `serve`, `check`, `describe` and the others.
    #[must_use]
    pub fn main(self) -> ExitCode {
        self.main_with(leasehold_cluster::config::arguments())
    }

    /// The same with these arguments, the program's name first: for a program that takes options of its own before them.
    #[must_use]
    pub fn main_with(self, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
        let arguments: Vec<OsString> = arguments.into_iter().collect();
        crate::cli::main(self, &arguments)
    }

    /// Runs it within this program, over the embedded store that the configuration names, until [`Runtime::close`].
    ///
    /// # Errors
    /// The application, its configuration or its store is not as it should be.
    pub async fn dev(self) -> Result<Runtime, RunError> {
        let config =
            leasehold_cluster::Config::load(&leasehold_cluster::config::Overrides::none())?;
        Runtime::open(&self, &config).await
    }
}
