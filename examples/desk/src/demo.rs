//! The demonstration: a refund whose worker is killed at the worst moment, and what is left of it afterwards.
//!
//! It runs the desk's own command line as separate processes, so nothing but the files survives the kill.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use leasehold::{App, PauseTarget, Verdict};
use leasehold_types::{PauseRef, Principal, PrincipalKind, TreeState};
use serde_json::Value;

use crate::shop::Shop;

/// Who decides where nobody sits at a terminal.
const PRINCIPAL: &str = "demo-manager";
/// What the agent is asked.
const REQUEST: &str = "Please handle ticket T-7.";
/// The key of the start: the same key is the same execution, also after the kill.
const KEY: &str = "demo";
/// The command that decides in the place of a person; only the demonstration runs it.
pub(crate) const DECIDE: &str = "decide-as-demo-manager";
/// Marks a directory as made by the demonstration, so that it may be made anew.
const MARK: &str = ".desk-demo";
/// The exit code of a command that left an execution waiting for a decision.
const WAITS: i32 = 5;

/// Ends this process at once, as a power cut would: no destructor, no buffer, no goodbye.
pub(crate) fn kill_own_process() {
    let own = rustix::process::getpid();
    let _killed = rustix::process::kill_process(own, rustix::process::Signal::KILL);
}

/// Why the demonstration could not be shown.
#[derive(Debug, thiserror::Error)]
enum DemoError {
    #[error("{0} is not a directory of an earlier demonstration: name another with --data")]
    NotOurs(PathBuf),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("{0}")]
    Shop(#[from] crate::shop::ShopError),
    #[error("the command line said something unexpected: {0}")]
    Unexpected(String),
}

/// Shows it, in `directory`.
pub(crate) fn run(directory: &Path) -> ExitCode {
    match show(directory) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("The demonstration stopped: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn show(directory: &Path) -> Result<bool, DemoError> {
    prepare(directory)?;
    let shop = Shop::with_samples(directory.join("shop"))?;
    let desk = Desk {
        directory: directory.to_owned(),
    };
    title("1. A customer wants her money back");
    say(&format!(
        "The shop's files are in {}.",
        shop.directory().display()
    ));
    let start: &[&str] = &["run", "support", REQUEST, "--idempotency-key", KEY];
    let mut status = desk.run(start, Crash::AfterPayment)?;
    if status.code() == Some(WAITS) {
        let reference = desk.waiting()?;
        title("   Nobody sits at a terminal");
        say(&format!(
            "The demonstration approves {reference} itself, as {PRINCIPAL:?}, through the door that everybody uses."
        ));
        status = desk.run(&[DECIDE, &reference], Crash::AfterPayment)?;
    }
    if status.signal() != Some(9) {
        say(&format!(
            "The worker was to be killed after the payment, but ended with {status}."
        ));
        return Ok(false);
    }
    title("2. The worker is dead: killed with SIGKILL, right after it paid");
    for refund in shop.refunds_of("A-1042")? {
        say(&format!(
            "refunds.csv: {} {} cents, receipt {}",
            refund.order, refund.cents, refund.receipt
        ));
    }
    say("The payment is in the shop's file. That it was made is not in the journal.");
    title("3. The same command again");
    let again = [start, &["--quiet"]].concat();
    let status = desk.run(&again, Crash::Never)?;
    title("4. What the journal says");
    desk.run(&["executions", "show", &desk.execution()?], Crash::Never)?;
    title("5. What the shop says");
    verdict(&shop, status)
}

/// Approves a pause as the demonstration's own principal, and stays until the execution rests or ends, or this process does.
pub(crate) fn decide(app: App, reference: &str) -> ExitCode {
    match decided(app, reference) {
        Ok(reply) => {
            say(&reply);
            ExitCode::SUCCESS
        }
        Err(error) => {
            say(&format!("The decision was not taken: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn decided(app: App, reference: &str) -> Result<String, Box<dyn std::error::Error>> {
    let reference: PauseRef = reference.parse()?;
    tokio::runtime::Runtime::new()?.block_on(async {
        let runtime = app.dev().await?;
        let by = Principal::new(PRINCIPAL, PrincipalKind::Service);
        let verdict = Verdict::Approve {
            override_arguments: None,
        };
        let target = PauseTarget::Reference(reference);
        let wait = Duration::from_secs(30);
        let reply = runtime
            .node()
            .decide(target, by, verdict, None, wait)
            .await?;
        let tree = reference.execution.tree();
        runtime
            .node()
            .wait_for(tree, |summary| summary.state != TreeState::Live)
            .await?;
        runtime.close().await;
        Ok(format!("{reply:?}"))
    })
}

/// Holds the shop's files against what should be in them.
fn verdict(shop: &Shop, status: ExitStatus) -> Result<bool, DemoError> {
    let refunds = shop.refunds_of("A-1042")?;
    let ticket = shop.ticket("T-7")?;
    let paid_once = refunds.len() == 1;
    let answered_once = ticket.status == "closed" && ticket.replies.len() == 1;
    say(&format!(
        "refunds of A-1042: {} (should be 1)",
        refunds.len()
    ));
    say(&format!(
        "ticket T-7: {}, answered {} time(s)",
        ticket.status,
        ticket.replies.len()
    ));
    let good = paid_once && answered_once && status.success();
    say(if good {
        "Paid once, answered once, and no finished step ran again."
    } else {
        "This is not as it should be."
    });
    Ok(good)
}

/// A fresh directory; one of an earlier demonstration is made anew, another is left alone.
fn prepare(directory: &Path) -> Result<(), DemoError> {
    if directory.exists() {
        if !directory.join(MARK).exists() {
            return Err(DemoError::NotOurs(directory.to_owned()));
        }
        std::fs::remove_dir_all(directory)?;
    }
    std::fs::create_dir_all(directory)?;
    std::fs::write(directory.join(MARK), "made by desk demo\n")?;
    Ok(())
}

/// Whether a command's process dies after the payment.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Crash {
    AfterPayment,
    Never,
}

/// The desk's command line, as other processes.
struct Desk {
    directory: PathBuf,
}

impl Desk {
    fn command(&self, arguments: &[&str], crash: Crash) -> Result<Command, DemoError> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--data").arg(&self.directory);
        command.env("LEASEHOLD_STORE", self.directory.join("store"));
        if crash == Crash::AfterPayment {
            command.arg("--kill-after-payment");
        }
        command.args(arguments.iter().map(OsString::from));
        Ok(command)
    }

    /// Runs a command on this terminal, or without one.
    fn run(&self, arguments: &[&str], crash: Crash) -> Result<ExitStatus, DemoError> {
        say(&format!("$ desk {}", shown(arguments)));
        let mut command = self.command(arguments, crash)?;
        if !std::io::stdin().is_terminal() {
            command.stdin(Stdio::null());
        }
        Ok(command.status()?)
    }

    fn json(&self, arguments: &[&str]) -> Result<Value, DemoError> {
        let output = self
            .command(arguments, Crash::Never)?
            .stdin(Stdio::null())
            .output()?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            DemoError::Unexpected(String::from_utf8_lossy(&output.stderr).into_owned())
        })
    }

    /// The reference of the one pause that waits.
    fn waiting(&self) -> Result<String, DemoError> {
        let listed = self.json(&["approvals", "list", "--output", "json"])?;
        text(&listed["approvals"][0]["pause"], &listed)
    }

    /// The one execution there is.
    fn execution(&self) -> Result<String, DemoError> {
        let listed = self.json(&["executions", "list", "--output", "json"])?;
        text(&listed["executions"][0]["execution"], &listed)
    }
}

fn text(value: &Value, whole: &Value) -> Result<String, DemoError> {
    value
        .as_str()
        .map(str::to_owned)
        .ok_or_else(|| DemoError::Unexpected(whole.to_string()))
}

fn shown(arguments: &[&str]) -> String {
    let quoted = arguments.iter().map(|word| {
        if word.contains(' ') {
            format!("{word:?}")
        } else {
            (*word).to_owned()
        }
    });
    quoted.collect::<Vec<_>>().join(" ")
}

fn title(text: &str) {
    say("");
    say(text);
}

/// Prints a line; a reader that has gone away is no reason to fail.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _closed = writeln!(out, "{line}");
    let _flushed = out.flush();
}
