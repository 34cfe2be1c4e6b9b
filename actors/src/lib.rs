//! The shells that run: node ▸ tree ▸ execution ▸ call, each an actor that its parent supervises.
//!
//! A shell receives, asks its machine, and carries out what it says; no domain decision stands here.
//! What the end of each actor does to its parent, children and siblings is written at its type and in `docs/supervision.md`.

mod agent;
mod append;
mod call;
mod channel;
mod claim;
mod clock;
mod deps;
mod errand;
mod error;
mod execution;
mod handle;
mod hold;
mod letters;
mod look;
mod node;
mod observe;
mod process_group;
mod read;
mod restart;
mod start;
mod tally;
mod threads;
mod timer;
mod tree;
mod unwind;

pub use agent::{Agent, AgentTool, Agents};
pub use channel::{Ask, Channel, ChannelError, Channels, Sent};
pub use clock::{OsRandom, SystemClock, TokioPool};
pub use deps::{Deps, NodeConfig};
pub use error::{DecideError, StartError};
pub use handle::{Node, NodeStats, PauseTarget, StartRequest};
pub use node::Closed;
pub use observe::{Ignore, Observer};
pub use process_group::{ProcessGroup, ProcessOutput};
pub use read::{LoadError, Loaded, LoadedFrame, load};
pub use restart::{RESTART_WINDOW, RESTARTS_MAX, RestartLimiter};
pub use tree::Fault;
