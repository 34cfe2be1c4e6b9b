//! Following one execution: every line once, in order, from any frame on, without a gap.

use leasehold_journal::FollowCursor;

use super::{Desk, Teller};
use crate::cli::error::CliError;
use crate::cli::frames::{FrameReader, Step};
use crate::cli::ids::resolve;
use crate::cli::request::{Reply, Until};
use crate::cli::story::Story;
use crate::cli::view::State;

impl Desk {
    pub(super) async fn watch(
        &self,
        execution: &str,
        from: u64,
        until: Until,
        teller: &Teller,
    ) -> Result<(), CliError> {
        let execution = resolve(&*self.store, execution).await?;
        let mut story = Story::new(execution);
        let mut reader = FrameReader::new(execution.tree());
        let mut cursor = FollowCursor::default();
        loop {
            // A cursor first, a look second: what is appended between the two is in the next page.
            let page = self.store.follow(cursor);
            let is_broken = self.tell_new(&mut reader, &mut story, from, teller).await?;
            // Without an instance nothing comes after what is there.
            if is_broken || is_reached(until, &story) || !self.is_running() {
                let mut view = story.view(vec![]);
                view.why = self.qualified(view.state, view.why);
                return teller.tell(Reply::Execution(Box::new(view))).await;
            }
            cursor = page.await?.next;
        }
    }

    /// Tells what was appended since the last look; says whether nothing more can be read.
    async fn tell_new(
        &self,
        reader: &mut FrameReader,
        story: &mut Story,
        from: u64,
        teller: &Teller,
    ) -> Result<bool, CliError> {
        loop {
            match reader.step(&*self.store).await? {
                Step::Frame(frame) => {
                    let events = story.read(&frame);
                    if frame.header.index.get() < from {
                        continue;
                    }
                    for event in events {
                        teller.tell(Reply::Event(Box::new(event))).await?;
                    }
                }
                Step::Tail => return Ok(false),
                Step::Broken(broken) => {
                    story.ends_broken(&broken);
                    return Ok(true);
                }
            }
        }
    }
}

fn is_reached(until: Until, story: &Story) -> bool {
    let state = story.state();
    match (until, state) {
        (_, state) if state.is_over() => true,
        (Until::Rest, State::Waiting | State::Blocked) | (Until::Asked, State::Blocked) => true,
        (Until::Asked, State::Waiting) => !story.pauses().is_empty(),
        (Until::End, _) | (Until::Rest | Until::Asked, _) => false,
    }
}
