//! The timer actor: says one thing to one actor after a time on the application's clock.
//!
//! **Supervision.** It is a child of the actor that asked for it and ends with it. If it is killed, its parent is told and rings at
//! once: early, and never not at all.

use std::sync::Arc;
use std::time::Duration;

use leasehold_types::Clock;
use ractor::{Actor, ActorCell, ActorId, ActorProcessingErr, ActorRef, SpawnErr};

/// Sends one message later.
pub(crate) struct TimerActor;

/// What to do when the time has come.
pub(crate) type Ring = Box<dyn FnOnce() + Send + Sync>;

/// Rings after a time, as a child of `parent`.
pub(crate) async fn ring_after(
    parent: ActorCell,
    clock: &Arc<dyn Clock>,
    after: Duration,
    ring: Ring,
) -> Result<ActorId, SpawnErr> {
    let arguments = (Arc::clone(clock), after, ring);
    let (timer, _task) = Actor::spawn_linked(None, TimerActor, arguments, parent).await?;
    Ok(timer.get_id())
}

impl Actor for TimerActor {
    type Msg = ();
    type State = Option<(Arc<dyn Clock>, Duration, Ring)>;
    type Arguments = (Arc<dyn Clock>, Duration, Ring);

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        arguments: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(Some(arguments))
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        if let Some((clock, after, ring)) = state.take() {
            clock.sleep(after).await;
            ring();
        }
        myself.stop(None);
        Ok(())
    }
}
