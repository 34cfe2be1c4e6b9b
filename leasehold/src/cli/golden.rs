//! What is printed, pinned: the outputs in `tests/golden/cli/` are what people and scripts get.

use std::sync::Arc;

use leasehold_journal::MemoryStore;
use leasehold_types::{BoxFuture, Clock, Timestamp, Uptime};

use super::desk::{Desk, Teller};
use super::error::CliError;
use super::fixture::{self, START};
use super::request::{Reply, Request};
use super::{render, user};
use crate::escape;

/// A clock that stands 50 minutes after the fixtures' start.
#[derive(Debug)]
pub(super) struct Still;
impl Clock for Still {
    fn now(&self) -> Timestamp {
        START.plus(std::time::Duration::from_secs(3_060))
    }
    fn uptime(&self) -> Uptime {
        Uptime::from_micros(1)
    }
    fn sleep(&self, _: std::time::Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

pub(super) async fn ask(desk: &Desk, request: Request) -> Result<Vec<Reply>, CliError> {
    let (teller, mut replies) = Teller::new();
    let by = user::own();
    let mut told = Vec::new();
    let answer = async move {
        let teller = teller;
        desk.answer(request, &by, &teller).await
    };
    let gather = async {
        while let Some(reply) = replies.recv().await {
            told.push(reply);
        }
    };
    let (answered, ()) = tokio::join!(answer, gather);
    answered.map(|()| told)
}

async fn desk() -> Desk {
    let store = Arc::new(MemoryStore::new());
    fixture::all(&store).await;
    Desk::reading(store)
}

fn golden(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/cli"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
    let hidden = text
        .chars()
        .find(|letter| *letter != '\n' && escape::is_unsafe(*letter));
    assert_eq!(hidden, None, "ESC-1: {name}");
}

fn lines(lines: &[String]) -> String {
    lines.join("\n")
}

async fn rows() -> Vec<super::view::ExecutionRow> {
    let list = Request::List {
        limit: 50,
        state: None,
    };
    let replies = ask(&desk().await, list).await.unwrap();
    replies
        .into_iter()
        .map(|reply| {
            let Reply::Row(row) = reply else {
                panic!("{reply:?}");
            };
            *row
        })
        .collect()
}

async fn shown(end: &str) -> super::view::ExecutionView {
    let desk = desk().await;
    let store = Arc::new(MemoryStore::new());
    let all = fixture::all(&store).await;
    let names = [
        "refunded",
        "waiting",
        "uncertain",
        "failed",
        "running",
        "hostile",
    ];
    let position = names.iter().position(|name| *name == end).unwrap();
    let execution = all[position].to_string();
    let replies = ask(&desk, Request::Show { execution }).await.unwrap();
    match replies.into_iter().next() {
        Some(Reply::Execution(view)) => *view,
        other => panic!("{other:?}"),
    }
}

// CONTRACT O2
#[tokio::test]
async fn executions_are_listed_newest_first_with_what_each_waits_for() {
    let rows = rows().await;
    golden(
        "executions-list",
        &lines(&render::executions(&rows, Still.now(), false)),
    );
    let document = super::document::executions(&rows, None);
    golden(
        "executions-list-json",
        &serde_json::to_string_pretty(&document).unwrap(),
    );
}

// CONTRACT O2
// RELIABILITY SEC11
#[tokio::test]
async fn one_execution_is_shown_with_its_timeline_from_its_records_alone() {
    for name in [
        "refunded",
        "waiting",
        "uncertain",
        "failed",
        "running",
        "hostile",
    ] {
        let view = shown(name).await;
        assert_eq!(view.broken, None, "{name}");
        golden(
            &format!("executions-show-{name}"),
            &lines(&render::show(&view, Still.now(), false)),
        );
    }
    let view = shown("refunded").await;
    let document = super::document::execution(&view);
    golden(
        "executions-show-json",
        &serde_json::to_string_pretty(&document).unwrap(),
    );
}
