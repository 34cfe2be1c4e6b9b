//! The keeper actor: wakes what an instance finds when it opens, and what becomes due later.
//!
//! **Supervision.** It is started with the instance and has one child at a time, a timer, whose end means nothing to it. If it fails
//! while the instance runs, timers stop and nothing is lost: they are read from the journal at the next start.

mod machine;

use std::sync::Arc;
use std::time::Duration;

use leasehold_actors::{Closed, Node};
use leasehold_execution::record::ClaimCause;
use leasehold_journal::{JournalError, Store};
use leasehold_types::{Clock, Timestamp, TreeId};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};

use crate::instance::Moves;
use machine::{KeeperMachine, Wake};

/// Heads that are asked for with one read.
const SCAN_PAGE: usize = 1_024;
/// How long to wait before a scan that the store could not serve is tried again.
const SCAN_AGAIN: Duration = Duration::from_secs(1);
/// The longest sleep: the wall clock may jump, and due times are points on it.
const SLEEP_MAX: Duration = Duration::from_secs(60);
/// What passes between two looks at the clock is less than this, unless it jumped or the machine is very slow.
const JUMP_MIN: Duration = Duration::from_millis(1);

/// What the keeper is told.
pub(crate) enum KeeperMsg {
    /// Look at every tree there is, and wake what has something to do; or only hold the times of those that close.
    Begin(Node, Moves),
    /// A tree's actors have ended.
    Closed(TreeId, Closed),
    /// Time has passed.
    Tick,
    /// How many trees it holds a time for.
    Held(RpcReplyPort<usize>),
}

/// Wakes trees.
pub(crate) struct KeeperActor;

pub(crate) struct State {
    clock: Arc<dyn Clock>,
    store: Arc<dyn Store>,
    node: Option<Node>,
    machine: KeeperMachine,
    timer: Option<ActorRef<()>>,
    /// The scan goes on after this tree; none once it is done.
    scan: Option<Option<TreeId>>,
}

impl Actor for KeeperActor {
    type Msg = KeeperMsg;
    type State = State;
    type Arguments = (Arc<dyn Clock>, Arc<dyn Store>);

    async fn pre_start(
        &self,
        _: ActorRef<KeeperMsg>,
        (clock, store): Self::Arguments,
    ) -> Result<State, ActorProcessingErr> {
        Ok(State {
            clock,
            store,
            node: None,
            machine: KeeperMachine::default(),
            timer: None,
            scan: Some(None),
        })
    }

    async fn handle(
        &self,
        myself: ActorRef<KeeperMsg>,
        message: KeeperMsg,
        state: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            KeeperMsg::Begin(node, moves) => {
                state.node = Some(node);
                match moves {
                    Moves::All => state.scan().await,
                    Moves::Asked => state.scan = None,
                }
            }
            KeeperMsg::Closed(tree, how) => {
                state.machine.on_closed(state.clock.now(), tree, &how);
            }
            KeeperMsg::Tick => {
                if state.scan.is_some() {
                    state.scan().await;
                }
                let due = state.machine.on_tick(state.clock.now());
                state.wake(due);
            }
            KeeperMsg::Held(port) => {
                let _gone = port.send(state.machine.held());
            }
        }
        state.wait(&myself).await
    }

    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<KeeperMsg>,
        _: SupervisionEvent,
        _: &mut State,
    ) -> Result<(), ActorProcessingErr> {
        Ok(())
    }
}

impl State {
    /// Reads the heads that are left to read. A store that does not answer is asked again later.
    async fn scan(&mut self) {
        while let Some(after) = self.scan {
            match self.page(after).await {
                Ok(next) => self.scan = next.map(Some),
                Err(error) => {
                    tracing::warn!(%error, "trees cannot be listed now");
                    return;
                }
            }
        }
    }

    async fn page(&mut self, after: Option<TreeId>) -> Result<Option<TreeId>, JournalError> {
        let heads = self.store.scan(after, SCAN_PAGE).await?;
        let now = self.clock.now();
        let mut wakes = Vec::new();
        for head in &heads {
            let (tree, summary) = (head.header.tree, &head.header.summary);
            wakes.extend(self.machine.on_head(now, tree, summary));
        }
        self.wake(wakes);
        Ok(match heads.len() < SCAN_PAGE {
            true => None,
            false => heads.last().map(|head| head.header.tree),
        })
    }

    fn wake(&self, wakes: Vec<Wake>) {
        let Some(node) = &self.node else { return };
        for wake in wakes {
            match wake {
                Wake::LeftOver(tree) => node.wake(tree, ClaimCause::Takeover),
                Wake::Due(tree) => node.wake(tree, ClaimCause::Wake),
            }
        }
    }

    /// Has itself told when something is next to be done; the timer before is given up.
    async fn wait(&mut self, myself: &ActorRef<KeeperMsg>) -> Result<(), ActorProcessingErr> {
        if let Some(timer) = self.timer.take() {
            timer.kill();
        }
        let again = match (&self.scan, &self.node) {
            (Some(_), Some(_)) => Some(self.clock.now().plus(SCAN_AGAIN)),
            (_, _) => None,
        };
        let due = self.machine.next_deadline().into_iter().chain(again).min();
        let Some(until) = due else { return Ok(()) };
        let arguments = (Arc::clone(&self.clock), until, myself.clone());
        let (timer, _task) =
            Actor::spawn_linked(None, TimerActor, arguments, myself.get_cell()).await?;
        self.timer = Some(timer);
        Ok(())
    }
}

/// Says `Tick` to the keeper at a time. Killed when that time is no longer the next one.
struct TimerActor;

impl Actor for TimerActor {
    type Msg = ();
    type State = (Arc<dyn Clock>, Timestamp, ActorRef<KeeperMsg>);
    type Arguments = Self::State;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        arguments: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(arguments)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (clock, until, keeper): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        sleep_until(&**clock, *until).await;
        let _gone = keeper.cast(KeeperMsg::Tick);
        myself.stop(None);
        Ok(())
    }
}

/// Sleeps until a point on the wall clock, which may jump meanwhile.
async fn sleep_until(clock: &dyn Clock, until: Timestamp) {
    loop {
        let now = clock.now();
        if until <= now {
            return;
        }
        let sleep = clock.sleep(until.since(now).min(SLEEP_MAX));
        // A clock that jumped before the sleep began to count would wake it too late.
        if clock.now().since(now) < JUMP_MIN {
            sleep.await;
        }
    }
}
