//! The whole command line over an embedded store: as `main` runs it, but for the streams.

use std::path::Path;

use leasehold_models::{Scripted, Turn};
use leasehold_types::{Owner, Principal, PrincipalKind, Tenant};
use serde_json::Value;

use super::door::Program as _;
use super::error::CliError;
use super::exit::Exit;
use super::out::tests::kept;
use super::stop::Stop;
use super::{Configured, parse, run, told};
use crate::prelude::*;
use crate::{Node, Runtime, StartRequest};

fn app(script: Scripted) -> App {
    let support = Agent::new("support")
        .model("scripted/support")
        .instructions("Help.");
    App::new("shop")
        .model("scripted/support", script)
        .agent(support)
}

fn says() -> App {
    app(Scripted::new([Turn::say("Hello.")]))
}

/// Runs a command line on the store in `directory`.
async fn command(app: App, directory: &Path, line: &str) -> (Exit, String, String) {
    let mut words: Vec<std::ffi::OsString> = vec!["shop".into()];
    words.extend(line.split(' ').map(Into::into));
    words.extend(["--store".into(), directory.into()]);
    let cli = parse(&words, "shop").unwrap();
    let (mut out, kept_out, kept_err) = kept();
    let ended = run(app, "shop", &cli, &mut out, Stop::new().0).await;
    let exit = ended.unwrap_or_else(|error| told(&error, &mut out));
    (exit, kept_out.text(), kept_err.text())
}

async fn json(app: App, directory: &Path, line: &str) -> Value {
    let line = format!("{line} --output json");
    let (_, out, err) = command(app, directory, &line).await;
    serde_json::from_str(&out).unwrap_or_else(|_| panic!("{line}: {out}{err}"))
}

// CONTRACT O2
#[tokio::test(flavor = "multi_thread")]
async fn commands_work_on_a_store_that_no_instance_holds() {
    let made = tempfile::tempdir().unwrap();
    let directory = made.path().join("store");
    let (exit, _, err) = command(says(), &directory, "executions list").await;
    assert_eq!(exit, Exit::Refused);
    assert!(err.contains("[cli.no-store]"), "{err}");
    assert!(!directory.exists(), "a look makes nothing");
    let (exit, out, err) = command(says(), &directory, "run support Hello there").await;
    assert_eq!((exit, out.as_str()), (Exit::Done, "Hello.\n"), "{err}");
    let list = json(says(), &directory, "executions list").await;
    assert_eq!(list["executions"][0]["state"], "completed");
    let (exit, _, err) = command(says(), &directory, "run nobody hello").await;
    assert_eq!(exit, Exit::Refused, "{err}");
    let fails = app(Scripted::new([]));
    let (exit, out, err) = command(fails, &directory, "run support Hello").await;
    assert_eq!((exit, out.as_str()), (Exit::Failed, ""), "{err}");
    let run = json(says(), &directory, "run support Hello").await;
    assert_eq!(
        (run["schema"].as_u64(), run["answer"].as_str()),
        (Some(1), Some("Hello."))
    );
}

// CONTRACT O2
#[tokio::test(flavor = "multi_thread")]
async fn the_application_is_checked_described_and_doctored() {
    let made = tempfile::tempdir().unwrap();
    let directory = made.path().join("store");
    let (exit, out, _) = command(says(), &directory, "check").await;
    assert_eq!(
        (exit, out.as_str()),
        (Exit::Done, "shop is sound in development\n")
    );
    let described = json(says(), &directory, "describe").await;
    assert_eq!(
        (described["app"].as_str(), described["schema"].as_u64()),
        (Some("shop"), Some(1))
    );
    let doctored = json(says(), &directory, "doctor").await;
    let about = |what: &str| {
        let findings = doctored["findings"].as_array().unwrap();
        findings.iter().any(|finding| finding["about"] == what)
    };
    assert!(
        ["store", "disk", "clock", "keys"].into_iter().all(about),
        "{doctored}"
    );
    let (exit, out, _) = command(says(), &directory, "completion bash").await;
    assert!(exit == Exit::Done && out.contains("executions"));
    let unsound = says().agent(Agent::new("Not a name"));
    let (exit, out, _) = command(unsound, &directory, "check").await;
    assert_eq!(exit, Exit::Failed);
    assert!(out.starts_with('['), "problems have codes: {out}");
    assert!(!directory.exists(), "none of them makes a store");
}

async fn start(node: &Node) -> String {
    let by = Principal::new("dana", PrincipalKind::LocalUser);
    let request = StartRequest {
        agent: "support".to_owned(),
        input: "Hello?".to_owned(),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        thread: None,
        started_by: by,
        idempotency_key: None,
    };
    node.start(request).await.unwrap().to_string()
}

// CONTRACT O2
#[tokio::test(flavor = "multi_thread")]
async fn a_command_moves_only_what_it_is_about() {
    let made = tempfile::tempdir().unwrap();
    let directory = made.path().join("store");
    let hangs = || app(Scripted::from_fn(|_| Turn::hang()));
    let global = super::args::Global {
        store: Some(directory.clone()),
        ..super::args::Global::default()
    };
    let configured = Configured::load(hangs(), &global, Stop::new().0).unwrap();
    let runtime = Runtime::open(&configured.app, &configured.config)
        .await
        .unwrap();
    let left_over = start(runtime.node()).await;
    runtime.crash().await;
    let frames =
        json(says(), &directory, &format!("executions show {left_over}")).await["frames"].clone();
    let (exit, _, err) = command(says(), &directory, "run support Hello").await;
    assert_eq!(exit, Exit::Done, "{err}");
    let shown = json(says(), &directory, &format!("executions show {left_over}")).await;
    assert_eq!(
        shown["frames"], frames,
        "what was left over is no business of `run`"
    );
    let cancel = format!("executions cancel {left_over} --reason old");
    let (exit, out, err) = command(hangs(), &directory, &cancel).await;
    assert_eq!(exit, Exit::Done, "{err}");
    assert!(out.ends_with("it is cancelled\n"), "{out}");
    let locked = Runtime::open(&configured.app, &configured.config)
        .await
        .unwrap();
    let refused = configured.store().await;
    let pid = std::process::id();
    assert!(matches!(refused, Err(CliError::StoreLocked { pid: held, .. }) if held == pid));
    locked.close().await;
}
