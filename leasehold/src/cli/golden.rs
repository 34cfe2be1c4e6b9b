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

// CONTRACT P8, P14
// RELIABILITY SEC11
#[tokio::test]
async fn open_questions_are_shown_whole_with_what_would_run() {
    let approvals = Request::Approvals {
        limit: 50,
        execution: None,
    };
    let replies = ask(&desk().await, approvals).await.unwrap();
    let pauses: Vec<super::view::PauseView> = replies
        .into_iter()
        .map(|reply| {
            let Reply::Pause(pause) = reply else {
                panic!("{reply:?}");
            };
            *pause
        })
        .collect();
    assert_eq!(pauses.len(), 3);
    golden(
        "approvals-list",
        &lines(&render::approvals(&pauses, Still.now(), false)),
    );
    let document = super::document::approvals(&pauses, None);
    let json = serde_json::to_string_pretty(&document).unwrap();
    golden("approvals-list-json", &escape::json(&json));
    let none = lines(&render::approvals(&[], Still.now(), false));
    assert_eq!(none, "nothing waits for a decision");
}

// CONTRACT P5
// RELIABILITY SEC11
#[tokio::test]
async fn a_dump_shows_every_record_and_a_pauses_secret_only_where_all_is_asked_for() {
    use leasehold_types::PauseId;
    let desk = desk().await;
    let dump = |execution: &str, raw| Request::Dump {
        execution: execution.to_owned(),
        raw,
    };
    for (name, execution) in [("waiting", "6nwt"), ("hostile", "m1pe")] {
        let mut text = Vec::new();
        for reply in ask(&desk, dump(execution, false)).await.unwrap() {
            let Reply::Frame(frame) = reply else {
                panic!("{reply:?}");
            };
            text.extend(render::frame(&frame, false));
        }
        golden(&format!("journal-dump-{name}"), &lines(&text));
    }
    let secret = PauseId::from_u128(0x5ec4e7).reveal();
    let has_secret = |replies: &[Reply]| serde_json::to_string(replies).unwrap().contains(&secret);
    assert!(
        !has_secret(&ask(&desk, dump("6nwt", false)).await.unwrap()),
        "DUMP-1"
    );
    assert!(
        has_secret(&ask(&desk, dump("6nwt", true)).await.unwrap()),
        "DUMP-1"
    );
    let show = Request::Show {
        execution: "6nwt".to_owned(),
    };
    assert!(!has_secret(&ask(&desk, show).await.unwrap()));
    let approvals = Request::Approvals {
        limit: 9,
        execution: None,
    };
    assert!(!has_secret(&ask(&desk, approvals).await.unwrap()));
}

// BAD INPUT 63, 66
#[tokio::test]
async fn what_cannot_be_read_is_said_and_what_stands_before_it_is_shown() {
    let store = Arc::new(MemoryStore::new());
    let mut tree = fixture::Tree::start(&store, 9, 0, "Hello?").await;
    let newer = br#"{"kind":"thought","v":7,"x":0,"at":1796095316000000,"body":{"deep":true}}"#;
    tree.raw_frame(newer).await;
    tree.raw_frame(b"\x00 no record\n").await;
    let desk = Desk::reading(store);
    let execution = tree.execution.to_string();
    let replies = ask(
        &desk,
        Request::Show {
            execution: execution.clone(),
        },
    )
    .await
    .unwrap();
    let [Reply::Execution(view)] = replies.as_slice() else {
        panic!("{replies:?}");
    };
    golden(
        "executions-show-newer",
        &lines(&render::show(view, Still.now(), false)),
    );
    let list = ask(
        &desk,
        Request::List {
            limit: 9,
            state: None,
        },
    )
    .await
    .unwrap();
    assert_eq!(list.len(), 1, "a list goes on");
    let dump = ask(
        &desk,
        Request::Dump {
            execution,
            raw: false,
        },
    )
    .await
    .unwrap();
    assert_eq!(
        dump.len(),
        3,
        "a dump needs not understand a record to print it"
    );
}
