//! Long conversations: a journal grows by what each turn adds, not by what each model call reads.
//!
//! - GROW-1: the bytes kept are in proportion to the turns.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of tests ends the test where its premise does not hold"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use leasehold::prelude::*;
use leasehold::{Runtime, Scripted, StartRequest, Turn};
use leasehold_actors::SystemClock;
use leasehold_cluster::{Backends, Config, Seams};
use leasehold_journal::{MemoryStore, Store};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_models::{Message, ModelRequest};
use leasehold_types::{
    FrameIndex, Owner, Principal, PrincipalKind, Tenant, ThreadId, TreeId, TreeState,
};

/// What stands on one page.
const PAGE_BYTES: usize = 4_000;

/// Which page to read.
#[dto]
struct Page {
    /// Its number, from 0.
    number: usize,
}

/// Reads one page. Changes nothing.
#[tool(effect = read)]
async fn read_page(Input(page): Input<Page>) -> ToolResult<PlainText> {
    let text = format!("{:0>width$}", page.number, width = PAGE_BYTES);
    std::future::ready(Ok(text.into())).await
}

/// How a run of so many turns ended.
struct Run {
    /// Bytes of the journal's frames.
    journaled: u64,
    /// Bytes of all conversations that the model was sent.
    sent: u64,
}

/// An agent that reads a page in each of `turns` turns and counts what it was sent.
fn app(turns: u32, sent: &Arc<AtomicU64>) -> App {
    let sent = Arc::clone(sent);
    let model = Scripted::from_fn(move |request: &ModelRequest| {
        let bytes: u64 = request.messages.iter().map(Message::bytes).sum();
        sent.fetch_add(bytes, Ordering::Relaxed);
        let number = request.turn();
        if number < turns as usize {
            return Turn::call("read-page-tool", &serde_json::json!({ "number": number }));
        }
        Turn::say("Read.")
    });
    let agent = Agent::new("reader")
        .model("scripted/pages")
        .instructions("Read all pages.")
        .tool(read_page)
        .max_tool_calls(turns + 1)
        .max_model_calls(turns + 1);
    App::new("library")
        .agent(agent)
        .model("scripted/pages", model.named("scripted/pages"))
}

async fn read_pages(turns: u32) -> Run {
    let sent = Arc::new(AtomicU64::new(0));
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let backends = Backends {
        store: Arc::clone(&store),
        leases: Arc::new(LocalLeaseStore::new(Arc::new(SystemClock), Expiry::Never)),
    };
    let config = Config::at("unused").unwrap();
    let app = app(turns, &sent);
    let runtime = Runtime::over(&app, &config, backends, Seams::default())
        .await
        .unwrap();
    let tree = runtime.node().start(request()).await.unwrap().tree();
    let is_over = |summary: &leasehold_types::TreeSummary| summary.state == TreeState::Ended;
    runtime.node().wait_for(tree, is_over).await.unwrap();
    runtime.close().await;
    Run {
        journaled: bytes_of(&*store, tree).await,
        sent: sent.load(Ordering::Relaxed),
    }
}

fn request() -> StartRequest {
    StartRequest {
        agent: "reader".to_owned(),
        input: "Read.".to_owned(),
        owner: Owner::new("dana"),
        tenant: Tenant::default(),
        thread: None::<ThreadId>,
        started_by: Principal::new("dana", PrincipalKind::Person),
        idempotency_key: None,
    }
}

/// No record here is large enough to leave its frame.
async fn bytes_of(store: &dyn Store, tree: TreeId) -> u64 {
    let frames = store.read(tree, FrameIndex::FIRST, usize::MAX).await;
    let frames = frames.unwrap();
    frames.iter().map(|frame| frame.bytes.len() as u64).sum()
}

// CASE 113
#[tokio::test]
async fn a_journal_grows_by_what_a_turn_adds_and_not_by_what_the_model_reads_again() {
    let run = read_pages(200).await;
    let added = 200 * PAGE_BYTES as u64;
    let twentieth = run.sent / 20;
    assert!(
        run.journaled >= added,
        "{} bytes hold {added}",
        run.journaled
    );
    assert!(
        run.journaled < twentieth,
        "{} of {}",
        run.journaled,
        run.sent
    );
}

// CASE 114
#[tokio::test]
async fn ten_times_the_turns_are_ten_times_the_bytes() {
    let (short, long) = (read_pages(100).await, read_pages(1_000).await);
    let in_proportion = short.journaled * 10;
    let is_linear = long.journaled.abs_diff(in_proportion) < in_proportion / 20;
    assert!(
        is_linear,
        "GROW-1: {} and {}",
        short.journaled, long.journaled
    );
}
