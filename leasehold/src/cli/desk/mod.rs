//! Where requests are answered: over a store, and where something is to change with the instance that runs on it.
//!
//! - DESK-1: a request changes nothing that a letter or a start does not change.
//! - DESK-2: what is told goes through a bounded queue: a slow reader slows its own request and nobody else's.

mod decide;
mod dump;
mod list;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::Node;
use leasehold_journal::Store;
use leasehold_types::Principal;
use tokio::sync::mpsc;

use super::error::CliError;
use super::frames::{FrameReader, Step};
use super::ids::resolve;
use super::request::{Reply, Request};
use super::story::Story;
use super::view::{EventView, ExecutionView, State};

/// Replies that wait for their reader.
pub(super) const REPLIES_MAX: usize = 16;
/// How long a letter's outcome is waited for: a tree that is awake answers at once, one that rests within a claim.
const OUTCOME_WAIT: Duration = Duration::from_secs(20);

/// Answers requests.
#[derive(Debug, Clone)]
pub(super) struct Desk {
    store: Arc<dyn Store>,
    node: Option<Node>,
}

/// Where replies go.
#[derive(Debug, Clone)]
pub(super) struct Teller(mpsc::Sender<Reply>);

impl Teller {
    /// A teller, and the queue it fills.
    pub(super) fn new() -> (Self, mpsc::Receiver<Reply>) {
        let (sender, receiver) = mpsc::channel(REPLIES_MAX);
        (Self(sender), receiver)
    }

    /// Tells, and waits while the reader is behind.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) async fn tell(&self, reply: Reply) -> Result<(), CliError> {
        self.0.send(reply).await.map_err(|_| CliError::ReaderGone)
    }
}

impl Desk {
    /// A desk over a store that only reads.
    pub(super) const fn reading(store: Arc<dyn Store>) -> Self {
        Self { store, node: None }
    }

    /// A desk of a running instance.
    pub(super) fn running(node: Node) -> Self {
        Self {
            store: Arc::clone(&node.deps().store),
            node: Some(node),
        }
    }

    /// Answers one request; it ends when all is told.
    ///
    /// # Errors
    /// It was refused, or the store does not answer.
    pub(super) async fn answer(
        &self,
        request: Request,
        by: &Principal,
        teller: &Teller,
    ) -> Result<(), CliError> {
        match request {
            Request::List { limit, state } => self.list(limit, state, teller).await,
            Request::Show { execution } => self.show(&execution, teller).await,
            Request::Watch {
                execution,
                from,
                until,
            } => self.watch(&execution, from, until, teller).await,
            Request::Dump { execution, raw } => self.dump(&execution, raw, teller).await,
            Request::Approvals { limit, execution } => {
                self.approvals(limit, execution.as_deref(), teller).await
            }
            Request::Decide { .. }
            | Request::Cancel { .. }
            | Request::Retry { .. }
            | Request::Start { .. } => self.change(request, by, teller).await,
        }
    }

    /// Whether something can happen while one looks: an instance runs.
    const fn is_running(&self) -> bool {
        self.node.is_some()
    }

    /// A reason, with what only the one who looks knows: whether anybody is there to go on.
    fn qualified(&self, state: State, why: String) -> String {
        match state {
            State::Starting | State::Running if !self.is_running() => {
                format!("no instance runs on this store; when one ran last: {why}")
            }
            State::Starting
            | State::Running
            | State::Waiting
            | State::Blocked
            | State::Completed
            | State::Failed
            | State::Cancelled
            | State::LimitExceeded
            | State::BudgetExceeded
            | State::Unreadable => why,
        }
    }

    async fn show(&self, execution: &str, teller: &Teller) -> Result<(), CliError> {
        let execution = resolve(&*self.store, execution).await?;
        let (story, timeline) = self.read(Story::new(execution)).await?;
        let mut view: ExecutionView = story.view(timeline);
        view.why = self.qualified(view.state, view.why);
        teller.tell(Reply::Execution(Box::new(view))).await
    }

    /// Reads an execution as far as it can be read.
    async fn read(&self, mut story: Story) -> Result<(Story, Vec<EventView>), CliError> {
        let mut reader = FrameReader::new(story.tree());
        let mut timeline = Vec::new();
        loop {
            match reader.step(&*self.store).await? {
                Step::Frame(frame) => timeline.extend(story.read(&frame)),
                Step::Tail => return Ok((story, timeline)),
                Step::Broken(broken) => {
                    story.ends_broken(&broken);
                    return Ok((story, timeline));
                }
            }
        }
    }
}
