//! What an agent may ask: the Model trait, providers, prices.
//!
//! It never retries, never keeps a conversation, and never judges a call's arguments: retries and history are `execution`'s, arguments are `tools`'s.

mod abort;
mod answer;
mod error;
mod history;
mod model;
mod name;
mod price;
mod price_book;
mod price_table;
#[cfg(feature = "providers")]
mod provider;
mod request;
mod reservation;
mod script;
mod scripted;
mod spend;

pub use answer::{ModelAnswer, ModelCall, StopReason};
pub use error::{ModelError, Retry, TransportPhase};
pub use history::HistoryError;
pub use model::{Model, ask};
pub use name::{ModelName, ModelNameError};
pub use price::{Price, Rates};
pub use price_book::PriceBook;
#[cfg(feature = "providers")]
pub use provider::{
    ApiKey, Dialect, Endpoint, HttpLimits, KeySource, OpenModelError, Providers, install_crypto,
};
pub use request::{Message, ModelRequest, PastCall, ToolChoice, ToolDefinitionRef};
pub use reservation::Reservation;
pub use script::Turn;
pub use scripted::Scripted;
pub use spend::ModelSpend;
