//! An application with a store in memory and commands that are run on it, for tests.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::{Node, SystemClock};
use leasehold_cluster::{Application, Backends, Config, Instance, Moves, Seams};
use leasehold_journal::{MemoryStore, Store};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_models::{Scripted, Turn};
use leasehold_types::{BoxFuture, Clock};
use serde_json::json;
use tokio::sync::Notify;

use super::args::Cli;
use super::ask::tests::Script;
use super::command::{self, Session};
use super::door::{Program, Running};
use super::error::CliError;
use super::exit::Exit;
use super::out::Streams;
use super::out::tests::kept;
use super::stop::{Signals, Stop};
use crate::prelude::*;
use clap::Parser as _;

/// Money that goes back.
#[dto]
pub(super) struct Refund {
    /// Order number.
    order: String,
    /// Amount in cents.
    #[dto(range = 1..=50_000)]
    cents: u32,
}

/// Approves refunds.
#[role(approves = Refund, answered_by = channel)]
pub(super) struct RefundApproval;

/// Lets tests hold a refund up.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Told when a refund has begun.
    pub(super) begun: Notify,
    /// Lets it go on.
    pub(super) open: Notify,
}

/// Pays a refund.
#[tool(effect = idempotent(days(7)), approval = RefundApproval)]
async fn refund_card(Input(refund): Input<Refund>, gate: Dep<Gate>) -> ToolResult<PlainText> {
    gate.begun.notify_one();
    gate.open.notified().await;
    Ok(format!("refunded {} for {}", refund.cents, refund.order).into())
}

/// An application, its store, and the signals that its commands get.
pub(super) struct World {
    pub(super) store: Arc<MemoryStore>,
    pub(super) gate: Arc<Gate>,
    leases: Arc<LocalLeaseStore>,
    directory: tempfile::TempDir,
    app: App,
    config: Config,
    stop: Stop,
    pub(super) signals: Signals,
    begun: tokio::time::Instant,
    /// Whether another process is to be seen to hold the store.
    pub(super) is_locked: bool,
}

/// What a command did.
pub(super) struct Did {
    pub(super) exit: Exit,
    pub(super) out: String,
    pub(super) err: String,
}

impl World {
    /// An application whose agent asks for one refund and then says that it is done.
    pub(super) fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new()))
    }

    pub(super) fn over(store: Arc<MemoryStore>) -> Self {
        let gate = Arc::new(Gate::default());
        let arguments = json!({"order": "A-1042", "cents": 2000});
        let script = [
            Turn::call("refund-card-tool", &arguments),
            Turn::say("Done."),
        ];
        let support = Agent::new("support")
            .model("scripted/support")
            .instructions("Help.")
            .tool(refund_card)
            .budget(usd(1.5).per_execution());
        let app = App::new("shop")
            .replace(Arc::clone(&gate))
            .channel::<RefundApproval>(Terminal)
            .model("scripted/support", Scripted::new(script))
            .agent(support);
        let directory = tempfile::tempdir().unwrap();
        let (stop, signals) = Stop::new();
        let clock = Arc::new(SystemClock);
        Self {
            store,
            gate,
            leases: Arc::new(LocalLeaseStore::new(clock, Expiry::Never)),
            config: Config::at(directory.path()).unwrap(),
            directory,
            app,
            stop,
            signals,
            begun: tokio::time::Instant::now(),
            is_locked: false,
        }
    }

    /// Runs a command line, the words apart by spaces; whoever sits at the terminal types these lines.
    pub(super) async fn typing(&self, line: &str, typed: &[&'static str]) -> Did {
        let words = std::iter::once("shop").chain(line.split(' '));
        let cli = Cli::try_parse_from(words).unwrap();
        let (mut out, told, noted) = kept();
        out.streams = Streams {
            can_ask: !typed.is_empty(),
            ..Streams::PLAIN
        };
        let mut typist = Script(typed.to_vec());
        let mut session = Session {
            program: self,
            global: &cli.global,
            out: &mut out,
            typist: &mut typist,
        };
        let ended = command::run(&mut session, &cli.command).await.unwrap();
        let exit = ended.unwrap_or_else(|error| super::told(&error, &mut out));
        Did {
            exit,
            out: told.text(),
            err: noted.text(),
        }
    }

    /// Runs a command line at no terminal.
    pub(super) async fn run(&self, line: &str) -> Did {
        self.typing(line, &[]).await
    }

    /// Runs a command line and reads its JSON.
    pub(super) async fn json(&self, line: &str) -> serde_json::Value {
        let did = self.run(&format!("{line} --output json")).await;
        serde_json::from_str(&did.out).unwrap_or_else(|_| panic!("{line}: {}", did.err))
    }
}

impl Program for World {
    fn directory(&self) -> &Path {
        self.directory.path()
    }

    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(RuntimeClock(self.begun))
    }

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn store(&self) -> BoxFuture<'_, Result<Arc<dyn Store>, CliError>> {
        let opened: Result<Arc<dyn Store>, CliError> =
            self.locked().map(|()| self.store.clone() as _);
        Box::pin(std::future::ready(opened))
    }

    fn instance(&self, _: Moves) -> BoxFuture<'_, Result<Box<dyn Running>, CliError>> {
        Box::pin(async move {
            self.locked()?;
            let assembly = Arc::new(self.app.assemble(None).unwrap());
            let application = Application {
                agents: Arc::clone(&assembly) as _,
                channels: assembly,
            };
            let backends = Backends {
                store: self.store.clone(),
                leases: self.leases.clone(),
            };
            let opened = Instance::over(&self.config, backends, application, Seams::default());
            let running: Box<dyn Running> = Box::new(Over(opened.await.unwrap()));
            Ok(running)
        })
    }
}

impl World {
    /// Where its socket lies.
    pub(super) fn directory_of(&self) -> &Path {
        self.directory.path()
    }

    fn locked(&self) -> Result<(), CliError> {
        if !self.is_locked {
            return Ok(());
        }
        let directory = self.directory.path().to_owned();
        Err(CliError::StoreLocked { directory, pid: 7 })
    }
}

/// The runtime's clock, which a test pauses.
#[derive(Debug)]
struct RuntimeClock(tokio::time::Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> leasehold_types::Timestamp {
        SystemClock.now()
    }
    fn uptime(&self) -> leasehold_types::Uptime {
        leasehold_types::Uptime::default().plus(self.0.elapsed())
    }
    fn sleep(&self, after: Duration) -> BoxFuture<'static, ()> {
        SystemClock.sleep(after)
    }
}

struct Over(Instance);

impl Running for Over {
    fn node(&self) -> &Node {
        self.0.node()
    }

    fn warnings(&self) -> &[String] {
        self.0.warnings()
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            self.0.drain(Duration::from_secs(20)).await;
            self.0.close().await;
        })
    }
}
