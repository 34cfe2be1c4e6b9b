//! One exchange over HTTP: a request out, a bounded answer back, each wait under a limit.
//!
//! - PROVIDER-1: no retry, no redirect, no proxy from the environment: one call, one request.
//! - HTTP-1: dropping the exchange closes its connection.
//! - HTTP-2: at most [`HttpLimits::body_bytes_max`] bytes of an answer are held.

use std::error::Error as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use leasehold_types::Clock;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Client, Response, Url, redirect, retry};

use crate::{ModelError, TransportPhase};

/// The longest error answer that is read, in bytes: its message is all that is used.
const ERROR_BYTES_MAX: u64 = 64 * 1_024;
/// The longest text of the network's own error that is kept, in characters.
const DETAIL_CHARS_MAX: usize = 200;
/// How long an idle connection is kept for the next call; below the minute after which servers close theirs.
const POOL_IDLE: Duration = Duration::from_secs(45);
/// How often the peer is probed while it computes, so that a dead one is noticed.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// Limits of one call. Time is counted on the application's clock, except for `connect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Until the connection stands: 10 s.
    pub connect: Duration,
    /// From the start until the answer begins: 600 s, since a model may compute that long before its first byte.
    pub headers: Duration,
    /// Between two pieces of the answer: 60 s.
    pub idle: Duration,
    /// From the beginning of the answer until its end: 600 s, so that one byte now and then does not go on for ever.
    pub body: Duration,
    /// The largest answer in bytes: 16 MB, several times the longest text any model writes.
    pub body_bytes_max: u64,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            headers: Duration::from_secs(600),
            idle: Duration::from_secs(60),
            body: Duration::from_secs(600),
            body_bytes_max: 16 * 1_024 * 1_024,
        }
    }
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The client all models share.
#[derive(Debug, Clone)]
pub(crate) struct Http {
    client: Client,
    pub(crate) clock: Arc<dyn Clock>,
    limits: HttpLimits,
}

impl Http {
    pub(crate) fn new(clock: Arc<dyn Clock>, limits: HttpLimits) -> Result<Self, String> {
        let client = Client::builder()
            .no_proxy()
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .connect_timeout(limits.connect)
            .pool_idle_timeout(POOL_IDLE)
            .tcp_keepalive(KEEPALIVE)
            .user_agent(concat!("leasehold/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| root_cause(&error))?;
        Ok(Self {
            client,
            clock,
            limits,
        })
    }

    /// Sends `body` once and reads the answer.
    pub(crate) async fn post(
        &self,
        url: Url,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<Reply, ModelError> {
        let request = self
            .client
            .post(url)
            .headers(headers)
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body)
            .send();
        let mut response = self
            .within(self.limits.headers, request)
            .await?
            .map_err(|error| broken(&error))?;
        let body = self
            .within(self.limits.body, self.read(&mut response))
            .await??;
        Ok(Reply {
            status: response.status().as_u16(),
            headers: std::mem::take(response.headers_mut()),
            body,
        })
    }

    /// Reads the body. Of a failed answer as much as comes: its status tells enough.
    async fn read(&self, response: &mut Response) -> Result<Vec<u8>, ModelError> {
        let failed = !response.status().is_success();
        let limit = self.limits.body_bytes_max;
        let max = if failed {
            limit.min(ERROR_BYTES_MAX)
        } else {
            limit
        };
        let mut body = Vec::new();
        loop {
            match self.piece(response).await {
                Ok(None) => return Ok(body),
                Ok(Some(piece)) if (body.len() + piece.as_ref().len()) as u64 <= max => {
                    body.extend_from_slice(piece.as_ref());
                }
                Ok(Some(_)) | Err(_) if failed => return Ok(body),
                Ok(Some(_)) => return Err(ModelError::AnswerTooLarge { max }),
                Err(error) => return Err(error),
            }
        }
    }

    async fn piece(
        &self,
        response: &mut Response,
    ) -> Result<Option<impl AsRef<[u8]> + use<>>, ModelError> {
        let piece = self.within(self.limits.idle, response.chunk()).await?;
        piece.map_err(|error| broken(&error))
    }

    /// What `future` gives, unless `limit` passes first.
    async fn within<T>(
        &self,
        limit: Duration,
        future: impl Future<Output = T>,
    ) -> Result<T, ModelError> {
        match select(pin!(future), self.clock.sleep(limit)).await {
            Either::Left((value, _)) => Ok(value),
            Either::Right(((), _)) => Err(ModelError::Stalled { after: limit }),
        }
    }
}

fn broken(error: &reqwest::Error) -> ModelError {
    let phase = if error.is_connect() || error.is_builder() {
        TransportPhase::Connect
    } else {
        TransportPhase::Exchange
    };
    ModelError::Transport {
        phase,
        detail: root_cause(error),
    }
}

/// The innermost error: what the system said, without the address, whose path may name things.
fn root_cause(error: &reqwest::Error) -> String {
    let Some(mut cause) = error.source() else {
        return "unknown".to_owned();
    };
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string().chars().take(DETAIL_CHARS_MAX).collect()
}
