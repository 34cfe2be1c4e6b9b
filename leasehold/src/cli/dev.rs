//! `dev`: an instance in the foreground that prints what happens.

use std::collections::BTreeMap;
use std::sync::Arc;

use leasehold_cluster::Moves;
use leasehold_journal::{FollowCursor, Store, TreeHead};
use leasehold_types::{ExecutionId, TreeId, TreeState};

use super::args::Output;
use super::command::Session;
use super::door::Served;
use super::error::CliError;
use super::exit::Exit;
use super::frames::{FrameReader, Step};
use super::ids::{each_tree, short};
use super::out::Paint;
use super::story::Story;
use super::view::EventView;
use super::{document, render};
use crate::escape::line;

/// Runs an instance until somebody asks it to end.
///
/// # Errors
/// It does not open, or the output is gone.
pub(super) async fn dev(session: &mut Session<'_>, about: &str) -> Result<Exit, CliError> {
    let served = Served::open(session.program, Moves::All).await?;
    let told = tell_all(session, &served, about).await;
    session
        .out
        .note("ending: running calls may finish, a second Ctrl-C ends at once")?;
    served.close().await;
    told.map(|()| Exit::Done)
}

async fn tell_all(session: &mut Session<'_>, served: &Served, about: &str) -> Result<(), CliError> {
    let instance = &served.instance;
    let directory = session.program.directory().display().to_string();
    session.out.note(&format!(
        "{} runs on the store {}",
        line(about),
        line(&directory)
    ))?;
    for warning in instance.warnings() {
        session.out.note(&format!("warning: {}", line(warning)))?;
    }
    if let Some(why) = &served.no_socket {
        let why = line(why);
        session.out.note(&format!(
            "warning: no control socket ({why}): other commands find the store locked"
        ))?;
    }
    let store = Arc::clone(&instance.node().deps().store);
    let stop = session.program.stop();
    let mut live = Live::new(store);
    tokio::select! {
        told = live.tell(session) => told,
        () = stop.first() => Ok(()),
    }
}

/// Tells what happens in every tree.
struct Live {
    store: Arc<dyn Store>,
    /// The first frame of each tree that was not told.
    told: BTreeMap<TreeId, u64>,
    /// Trees that are awake.
    awake: BTreeMap<TreeId, (FrameReader, Story)>,
}

impl Live {
    fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            told: BTreeMap::new(),
            awake: BTreeMap::new(),
        }
    }

    async fn tell(&mut self, session: &mut Session<'_>) -> Result<(), CliError> {
        // A cursor first, all trees second, every change after: nothing falls between.
        let mut page = self.store.follow(FollowCursor::default()).await?;
        let told = &mut self.told;
        each_tree(&*self.store, |head| {
            told.insert(head.header.tree, head.header.index.get() + 1);
        })
        .await?;
        loop {
            page = self.store.follow(page.next).await?;
            for head in &page.heads {
                self.tell_tree(session, head).await?;
            }
        }
    }

    async fn tell_tree(
        &mut self,
        session: &mut Session<'_>,
        head: &TreeHead,
    ) -> Result<(), CliError> {
        let tree = head.header.tree;
        let execution = ExecutionId::root(tree);
        let from = self.told.get(&tree).copied().unwrap_or(0);
        let begin = || (FrameReader::new(tree), Story::new(execution));
        let (reader, story) = self.awake.entry(tree).or_insert_with(begin);
        while let Step::Frame(frame) = reader.step(&*self.store).await? {
            for event in story.read(&frame) {
                if frame.header.index.get() >= from {
                    tell_event(session, execution, event)?;
                }
            }
        }
        self.told.insert(tree, reader.position());
        let is_asleep = match head.header.summary.state {
            TreeState::Live => false,
            TreeState::Resting | TreeState::Blocked | TreeState::Ended => true,
        };
        if is_asleep && let Some((_, story)) = self.awake.remove(&tree) {
            tell_rest(session, &story)?;
        }
        Ok(())
    }
}

fn tell_event(
    session: &mut Session<'_>,
    execution: ExecutionId,
    event: EventView,
) -> Result<(), CliError> {
    if session.global.output == Output::Json {
        #[derive(serde::Serialize)]
        struct Body {
            execution: ExecutionId,
            #[serde(flatten)]
            event: EventView,
        }
        return session
            .out
            .json_line(&document::other(Body { execution, event }));
    }
    let end = session.out.painted(&short(execution), Paint::Dim);
    let lines = render::event(&event, session.out.streams.out_colour);
    let lines: Vec<String> = lines.iter().map(|text| format!("{end}  {text}")).collect();
    session.out.lines(&lines)
}

/// What a tree that fell asleep waits for, or its answer.
fn tell_rest(session: &mut Session<'_>, story: &Story) -> Result<(), CliError> {
    if session.global.output == Output::Json {
        return Ok(());
    }
    let view = story.view(vec![]);
    let colour = session.out.streams.out_colour;
    let mut lines = render::outcome(&view, colour);
    if !view.pauses.is_empty() {
        lines.push(String::new());
        lines.extend(render::approvals(
            &view.pauses,
            session.program.clock().now(),
            colour,
        ));
    }
    if !lines.is_empty() {
        lines.push(String::new());
    }
    session.out.lines(&lines)
}
