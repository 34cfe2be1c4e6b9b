//! A model behind an endpoint: one request for each permit, in the endpoint's dialect.

use std::fmt;
use std::sync::Arc;

use leasehold_types::{BoxFuture, Permit, Signal};
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::http::{Http, Reply};
use super::{
    ApiKey, Dialect, Endpoint, KeySource, anthropic, anthropic_answer, failure, gemini,
    gemini_answer, openai, openai_answer, retry_after,
};
use crate::abort::unless_aborted;
use crate::{Model, ModelAnswer, ModelError, ModelName, ModelRequest, Price};

pub(crate) struct RemoteModel {
    pub(crate) name: ModelName,
    pub(crate) endpoint: Endpoint,
    pub(crate) url: Url,
    pub(crate) price: Option<Price>,
    pub(crate) keys: Arc<dyn KeySource>,
    pub(crate) http: Http,
}

impl Model for RemoteModel {
    fn name(&self) -> &str {
        self.name.as_str()
    }

    fn price(&self) -> Option<Price> {
        self.price
    }

    fn chat<'a>(
        &'a self,
        permit: Permit,
        request: &'a ModelRequest,
        signal: &'a Signal,
    ) -> BoxFuture<'a, Result<ModelAnswer, ModelError>> {
        Box::pin(async move {
            // The permit is used up here, whatever comes of the call.
            let _permit = permit;
            unless_aborted(signal, self.ask(request)).await?
        })
    }
}

impl RemoteModel {
    async fn ask(&self, request: &ModelRequest) -> Result<ModelAnswer, ModelError> {
        request.check_history()?;
        let key = self.key()?;
        let headers = self.headers(key.as_ref())?;
        let body = self.body(request).to_string().into_bytes();
        let reply = self.http.post(self.url.clone(), headers, body).await?;
        self.read(&reply, key.as_ref())
    }

    fn key(&self) -> Result<Option<ApiKey>, ModelError> {
        let Some(key_env) = self.endpoint.key_name() else {
            return Ok(None);
        };
        let key = self
            .keys
            .key(key_env)
            .filter(|key| !key.reveal().is_empty());
        key.map(Some).ok_or_else(|| key_missing(key_env))
    }

    fn headers(&self, key: Option<&ApiKey>) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        if self.endpoint.dialect() == Dialect::Anthropic {
            let name = HeaderName::from_static("anthropic-version");
            headers.insert(name, HeaderValue::from_static(anthropic::VERSION));
        }
        if let Some(key) = key {
            let (name, text) = match self.endpoint.dialect() {
                Dialect::OpenAi | Dialect::OpenAiCompatible => {
                    (AUTHORIZATION, format!("Bearer {}", key.reveal()))
                }
                Dialect::Anthropic => (
                    HeaderName::from_static("x-api-key"),
                    key.reveal().to_owned(),
                ),
                Dialect::Gemini => (
                    HeaderName::from_static("x-goog-api-key"),
                    key.reveal().to_owned(),
                ),
            };
            let key_env = self.endpoint.key_name().unwrap_or_default();
            let mut value = HeaderValue::from_str(&text).map_err(|_| key_missing(key_env))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(headers)
    }

    fn body(&self, request: &ModelRequest) -> Value {
        match self.endpoint.dialect() {
            dialect @ (Dialect::OpenAi | Dialect::OpenAiCompatible) => {
                openai::body(&self.name, dialect, request)
            }
            Dialect::Anthropic => anthropic::body(&self.name, request),
            Dialect::Gemini => gemini::body(&self.name, request),
        }
    }

    fn read(&self, reply: &Reply, key: Option<&ApiKey>) -> Result<ModelAnswer, ModelError> {
        if !(200..=299).contains(&reply.status) {
            return Err(self.failure(reply, key));
        }
        let answer = match self.endpoint.dialect() {
            Dialect::OpenAi | Dialect::OpenAiCompatible => {
                openai_answer::read(&self.name, &reply.body)
            }
            Dialect::Anthropic => anthropic_answer::read(&self.name, &reply.body),
            Dialect::Gemini => gemini_answer::read(&self.name, &reply.body),
        };
        answer.map_err(|error| {
            if failure::is_error_body(&reply.body) {
                return self.failure(reply, key);
            }
            error
        })
    }

    fn failure(&self, reply: &Reply, key: Option<&ApiKey>) -> ModelError {
        failure::of(
            reply.status,
            &reply.body,
            retry_after::from_headers(&reply.headers, self.http.clock.now()),
            self.endpoint.key_name(),
            key.map(ApiKey::reveal),
        )
    }
}

fn key_missing(key_env: &str) -> ModelError {
    ModelError::KeyMissing {
        key_env: key_env.to_owned(),
    }
}

impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteModel")
            .field("name", &self.name.as_str())
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
