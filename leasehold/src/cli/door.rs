//! The way to whoever has the store: the instance that runs on it, or the store itself where none runs.
//!
//! - DOOR-1: the same request gets the same replies both ways.
//! - DOOR-2: what is opened for a command is closed by it: calls it set going are let end, the tree is given back.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::Node;
use leasehold_cluster::Moves;
use leasehold_journal::Store;
use leasehold_types::{BoxFuture, Clock};
use tokio::task::JoinSet;

use super::control::{Client, listen, serve};
use super::desk::{Desk, Teller};
use super::error::CliError;
use super::request::{Reply, Request};
use super::stop::Stop;
use super::user;

/// How long a store that is locked is tried again: an instance that starts or stops, or another command.
const LOCKED_WAIT: Duration = Duration::from_secs(5);
/// How long to wait between two tries.
const LOCKED_STEP: Duration = Duration::from_millis(50);

/// What a command needs of the application that it belongs to.
pub(super) trait Program: Send + Sync {
    /// The store's directory.
    fn directory(&self) -> &Path;

    /// Time.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Whether somebody wants the command to end.
    fn stop(&self) -> Stop;

    /// Opens the store to look into it.
    fn store(&self) -> BoxFuture<'_, Result<Arc<dyn Store>, CliError>>;

    /// Opens the store and runs an instance on it.
    fn instance(&self, moves: Moves) -> BoxFuture<'_, Result<Box<dyn Running>, CliError>>;
}

/// An instance in this process.
pub(super) trait Running: Send + Sync {
    /// Its node.
    fn node(&self) -> &Node;

    /// What an operator should know of the store.
    fn warnings(&self) -> &[String];

    /// Lets running calls end, gives the trees back, closes the store.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// The way to the store.
#[derive(Debug)]
pub(super) struct Door {
    way: Way,
    stop: Stop,
}

enum Way {
    /// Over the socket of the instance that runs.
    Socket(Client),
    /// The store itself, to look into.
    Store(Desk),
    /// An instance in this process, for this command; others reach it over its socket.
    Own(Served),
}

/// An instance in this process and its socket.
pub(super) struct Served {
    /// The instance.
    pub(super) instance: Box<dyn Running>,
    /// Serves the socket; aborted when dropped.
    serving: JoinSet<()>,
    /// Why there is no socket, if there is none.
    pub(super) no_socket: Option<String>,
}

impl Served {
    /// Opens an instance and its socket.
    ///
    /// # Errors
    /// The store is held by somebody else, or does not open.
    pub(super) async fn open(program: &dyn Program, moves: Moves) -> Result<Self, CliError> {
        let instance = program.instance(moves).await?;
        let mut serving = JoinSet::new();
        let no_socket = match listen(program.directory()) {
            Ok(listening) => {
                let desk = Desk::running(instance.node().clone());
                serving.spawn(serve(listening, desk, program.clock()));
                None
            }
            Err(error) => Some(error.to_string()),
        };
        Ok(Self {
            instance,
            serving,
            no_socket,
        })
    }

    /// Takes no more clients, lets running calls end, gives the trees back, closes the store.
    pub(super) async fn close(mut self) {
        self.serving.shutdown().await;
        self.instance.close().await;
    }
}

impl std::fmt::Debug for Way {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Socket(_) => "Way::Socket",
            Self::Store(_) => "Way::Store",
            Self::Own(_) => "Way::Own",
        })
    }
}

impl Door {
    /// Finds the way that `request` needs.
    ///
    /// # Errors
    /// The store is held by somebody who does not answer, or does not open.
    pub(super) async fn open(program: &dyn Program, request: &Request) -> Result<Self, CliError> {
        let way = Self::find(program, request).await?;
        let stop = program.stop();
        Ok(Self { way, stop })
    }

    async fn find(program: &dyn Program, request: &Request) -> Result<Way, CliError> {
        let clock = program.clock();
        let until = clock.uptime().plus(LOCKED_WAIT);
        loop {
            if let Some(client) = Client::find(program.directory(), Arc::clone(&clock)).await {
                return Ok(Way::Socket(client));
            }
            let opened = if request.needs_instance() {
                Served::open(program, Moves::Asked).await.map(Way::Own)
            } else {
                let store = program.store().await;
                store.map(|store| Way::Store(Desk::reading(store)))
            };
            match opened {
                Err(CliError::StoreLocked { .. }) if clock.uptime() < until => {
                    clock.sleep(LOCKED_STEP).await;
                }
                opened => return opened,
            }
        }
    }

    /// Whether an instance goes on after this command.
    pub(super) const fn is_instance(&self) -> bool {
        matches!(self.way, Way::Socket(_))
    }

    /// Whether something can happen while one looks.
    pub(super) const fn is_running(&self) -> bool {
        matches!(self.way, Way::Socket(_) | Way::Own(_))
    }

    /// Asks, and hands each reply to `told`.
    ///
    /// # Errors
    /// It was refused, the store does not answer, or `told` wants no more.
    pub(super) async fn ask(
        &self,
        request: Request,
        told: &mut (dyn FnMut(Reply) -> Result<(), CliError> + Send),
    ) -> Result<(), CliError> {
        let asked = async {
            match &self.way {
                Way::Socket(client) => client.ask(&request, told).await,
                Way::Store(desk) => ask_here(desk, request, told).await,
                Way::Own(served) => {
                    let desk = Desk::running(served.instance.node().clone());
                    ask_here(&desk, request, told).await
                }
            }
        };
        tokio::select! {
            asked = asked => asked,
            () = self.stop.first() => Err(CliError::Interrupted),
        }
    }

    /// Closes what was opened: DOOR-2.
    pub(super) async fn close(self) {
        match self.way {
            Way::Socket(_) | Way::Store(_) => {}
            Way::Own(served) => served.close().await,
        }
    }
}

async fn ask_here(
    desk: &Desk,
    request: Request,
    told: &mut (dyn FnMut(Reply) -> Result<(), CliError> + Send),
) -> Result<(), CliError> {
    let (teller, mut replies) = Teller::new();
    let by = user::own();
    let answer = async move {
        // The teller goes with the answer: the queue ends when all is told.
        let teller = teller;
        desk.answer(request, &by, &teller).await
    };
    let tell = async {
        // The receiver goes with the telling: an answer whose reader is gone ends.
        let mut replies = std::mem::replace(&mut replies, Teller::new().1);
        while let Some(reply) = replies.recv().await {
            told(reply)?;
        }
        Ok(())
    };
    match tokio::join!(answer, tell) {
        // What the reader met is why the answer ended.
        (_, Err(error)) | (Err(error), Ok(())) => Err(error),
        (Ok(()), Ok(())) => Ok(()),
    }
}
