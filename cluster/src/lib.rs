//! Where an instance is put together: its configuration, its backends, and the keeper that wakes what is due.
//!
//! It decides nothing about an execution. It alone chooses backends, and [`config`] alone reads the environment,
//! the command line and files of configuration.

pub mod config;
mod instance;
mod keeper;
mod store;

pub use config::Config;
pub use instance::{Application, Backends, Instance, Moves, OpenError, Seams};
pub use store::{OpenedBackends, end_of_process, open_store};
