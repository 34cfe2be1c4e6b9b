//! The demonstration: a refund whose worker is killed at the worst moment, and what is left of it afterwards.
//!
//! It runs the desk's own command line as separate processes, so nothing but the files survives the kill.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use serde_json::Value;

use crate::shop::Shop;

/// Who decides where nobody sits at a terminal.
const PRINCIPAL: &str = "demo-manager";
/// What the agent is asked.
const REQUEST: &str = "Please handle ticket T-7.";
/// The key of the start: the same key is the same execution, also after the kill.
const KEY: &str = "demo";
/// Marks a directory as made by the demonstration, so that it may be made anew.
const MARK: &str = ".desk-demo";
/// The exit code of a command that left an execution waiting for a decision.
const WAITS: i32 = 5;

/// Ends this process at once, as a power cut would: no destructor, no buffer, no goodbye.
pub fn kill_own_process() {
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
pub fn run(directory: &Path) -> ExitCode {
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
            "{PRINCIPAL:?} decides, through the same door as everybody: approvals approve {reference}"
        ));
        let approve: &[&str] = &[
            "approvals",
            "approve",
            &reference,
            "--as",
            PRINCIPAL,
            "--follow",
        ];
        status = desk.run(approve, Crash::AfterPayment)?;
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
    let status = desk.run(start, Crash::Never)?;
    title("4. What the journal says");
    desk.run(&["executions", "show", &desk.execution()?], Crash::Never)?;
    title("5. What the shop says");
    verdict(&shop, status)
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
        text(&listed["approvals"][0]["reference"], &listed)
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
