//! One execution under test: what it waits for, how it ended, and a way to wait for either.
//!
//! A wait that can never end fails at once where that is known: the execution is over, or rests until somebody decides.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use leasehold_execution::record::Ended;
use leasehold_models::Message;
use leasehold_tools::{ApprovalRole, Role, Tool};
use leasehold_types::{ExecutionId, Principal};

use crate::ending::{Ending, Wanted};
use crate::fail::Asked;
use crate::pause::{Doubt, Pause, say_to};
use crate::reading::{Reading, Stands};
use crate::timeline::Timeline;
use crate::world::World;

/// How long a decision may take on the test clock: it does not move meanwhile.
pub(crate) const DECISION_WAIT: Duration = Duration::from_secs(86_400);

/// An execution of the application under test. Clones are the same one.
#[derive(Clone)]
pub struct Execution {
    world: Arc<World>,
    id: ExecutionId,
}

impl Execution {
    pub(crate) const fn new(world: Arc<World>, id: ExecutionId) -> Self {
        Self { world, id }
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> ExecutionId {
        self.id
    }

    pub(crate) const fn world(&self) -> &Arc<World> {
        &self.world
    }

    /// Waits until the role is asked, and gives the first of its open pauses.
    ///
    /// # Panics
    /// The execution ends or rests and asks nothing of the role.
    #[track_caller]
    pub fn paused<R: ApprovalRole>(&self) -> impl Future<Output = Pause<R>> {
        let asked = Asked::here();
        async move {
            let role = <R as Role>::info().name;
            let first = |reading: &Reading| reading.asked_of(role).into_iter().next();
            let what = format!("a pause for {role}");
            let question = self.until(asked, &what, first).await;
            Pause::new(self.clone(), question, asked)
        }
    }

    /// Waits until the execution rests, and gives all open pauses of the role, in order.
    ///
    /// # Panics
    /// The execution ends.
    #[track_caller]
    pub fn pauses<R: ApprovalRole>(&self) -> impl Future<Output = Vec<Pause<R>>> {
        let asked = Asked::here();
        async move {
            let role = <R as Role>::info().name;
            let all = |reading: &Reading| reading.is_resting().then(|| reading.asked_of(role));
            let questions = self.until(asked, "rest", all).await;
            let pause = |question| Pause::new(self.clone(), question, asked);
            questions.into_iter().map(pause).collect()
        }
    }

    /// Waits until nobody knows what a call did and a person must decide.
    ///
    /// # Panics
    /// The execution ends or rests without such a call.
    #[track_caller]
    pub fn uncertain(&self) -> impl Future<Output = Doubt> {
        let asked = Asked::here();
        async move {
            let first = |reading: &Reading| reading.uncertain().into_iter().next();
            let what = "a call of unknown outcome";
            let question = self.until(asked, what, first).await;
            Doubt::new(self.clone(), question, asked)
        }
    }

    /// Waits until the execution waits for what the person says next, and says it.
    ///
    /// # Panics
    /// The execution ends or rests otherwise, or this person may not speak.
    #[track_caller]
    pub fn told(&self, by: &Principal, text: &str) -> impl Future<Output = ()> {
        let asked = Asked::here();
        let (by, text) = (by.clone(), text.to_owned());
        async move {
            let what = "its question for a person";
            let question = self.until(asked, what, Reading::awaits_message).await;
            say_to(self.clone(), question, &by, text, asked).await;
        }
    }

    /// Waits until the execution rests: nothing runs, and nothing happens before somebody decides or a timer ends.
    ///
    /// # Panics
    /// The execution ends.
    #[track_caller]
    pub fn rests(&self) -> impl Future<Output = ()> {
        let asked = Asked::here();
        async move {
            let rests = |reading: &Reading| reading.is_resting().then_some(());
            self.until(asked, "rest", rests).await;
        }
    }

    /// Waits until the body of this tool runs and waits for something itself: what is advanced afterwards counts for its
    /// timeout. A body that ends without waiting is never seen here.
    ///
    /// # Panics
    /// The execution ends or rests before.
    #[track_caller]
    pub fn running(&self, tool: impl Tool) -> impl Future<Output = ()> {
        let asked = Asked::here();
        let name = tool.spec().name.into_owned();
        async move {
            let stage = Arc::clone(&self.world.stage);
            let runs = |_: &Reading| stage.is_running(self.id, &name).then_some(());
            self.until(asked, &format!("a call of {name}"), runs).await;
        }
    }

    /// Waits until the model is asked and has not answered.
    ///
    /// # Panics
    /// The execution ends or rests before.
    #[track_caller]
    pub fn thinking(&self) -> impl Future<Output = ()> {
        let asked = Asked::here();
        async move {
            let thinks = |reading: &Reading| reading.is_model_asked().then_some(());
            self.until(asked, "a call of its model", thinks).await;
        }
    }

    /// Waits until the execution is over, however it ended.
    ///
    /// # Panics
    /// It rests until somebody decides.
    #[track_caller]
    pub fn ended(&self) -> impl Future<Output = Ending> {
        let asked = Asked::here();
        self.ending(asked, Wanted::Any)
    }

    /// Waits until the execution has ended with this answer.
    ///
    /// # Panics
    /// It ended otherwise, or rests until somebody decides.
    #[track_caller]
    pub fn completed(&self, answer: &str) -> impl Future<Output = Ending> {
        let asked = Asked::here();
        self.ending(asked, Wanted::Answer(answer.to_owned()))
    }

    /// Waits until the execution has failed, reached a limit or run out of budget.
    ///
    /// # Panics
    /// It ended otherwise, or rests until somebody decides.
    #[track_caller]
    pub fn failed(&self) -> impl Future<Output = Ending> {
        let asked = Asked::here();
        self.ending(asked, Wanted::Failure)
    }

    /// Waits until the execution has ended as cancelled.
    ///
    /// # Panics
    /// It ended otherwise, or rests until somebody decides.
    #[track_caller]
    pub fn cancelled(&self) -> impl Future<Output = Ending> {
        let asked = Asked::here();
        self.ending(asked, Wanted::Cancel)
    }

    async fn ending(&self, asked: Asked, wanted: Wanted) -> Ending {
        let over = |reading: &Reading| {
            let ended: Option<&Ended> = reading.ended();
            ended.map(|ended| (ended.clone(), reading.timeline()))
        };
        let (ended, timeline) = self.until(asked, "its end", over).await;
        Ending::checked(ended, timeline, &wanted, asked)
    }

    /// Cancels it, in somebody's name.
    ///
    /// # Panics
    /// The store refuses.
    #[track_caller]
    pub fn cancel(&self, by: &Principal, reason: &str) -> impl Future<Output = ()> {
        let asked = Asked::here();
        let (by, reason) = (by.clone(), reason.to_owned());
        async move {
            let node = self.world.node().await;
            let told = node.cancel(self.id.tree(), by, reason, DECISION_WAIT).await;
            match told {
                // It is durable: whoever has the tree next applies it.
                Ok(_) | Err(leasehold_actors::DecideError::Pending { .. }) => {}
                Err(error) => asked.fail(error),
            }
        }
    }

    /// What it did so far.
    ///
    /// # Panics
    /// Its journal cannot be read.
    #[track_caller]
    pub fn timeline(&self) -> impl Future<Output = Timeline> {
        let asked = Asked::here();
        async move {
            match self.read(asked).await {
                Some(reading) => reading.timeline(),
                None => asked.fail(format_args!("{} has not begun", self.id)),
            }
        }
    }

    /// What the model reads of it: the conversation so far, results with what was added to them.
    ///
    /// # Panics
    /// Its journal cannot be read.
    #[track_caller]
    pub fn conversation(&self) -> impl Future<Output = Vec<Message>> {
        let asked = Asked::here();
        async move {
            match self.read(asked).await {
                Some(reading) => reading.machine().conversation().0.to_vec(),
                None => vec![],
            }
        }
    }

    async fn read(&self, asked: Asked) -> Option<Reading> {
        match self.world.read(self.id.tree()).await {
            Ok(reading) => reading,
            Err(why) => asked.fail(format_args!("{} cannot be read: {why}", self.id)),
        }
    }

    /// Waits until `look` finds something. Time passes meanwhile, as far as nothing else can happen.
    pub(crate) async fn until<T>(
        &self,
        asked: Asked,
        what: &str,
        look: impl Fn(&Reading) -> Option<T>,
    ) -> T {
        let stage = &self.world.stage;
        let look = async || {
            let reading = self.read(asked).await?;
            if let Some(found) = look(&reading) {
                return Some(found);
            }
            let why = match reading.stands() {
                Stands::Moving => return None,
                Stands::Rests => "[testkit.rests] it rests until somebody decides",
                Stands::Blocked => "[testkit.blocked] it waits for an operator",
                Stands::Over => "[testkit.over] it is over",
            };
            let timeline = reading.timeline();
            asked.fail(format_args!("{why}, waiting for {what}\n{timeline}"))
        };
        stage.pulse.until(|| stage.call(), look).await
    }
}

impl fmt::Debug for Execution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Execution").field(&self.id).finish()
    }
}
