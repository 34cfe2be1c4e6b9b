//! The timer actor: says one thing to one actor after a time on the application's clock.
//!
//! **Supervision.** It is a child of the actor that asked for it and ends with it. Its end, however it comes, means nothing to its parent.

use std::sync::Arc;
use std::time::Duration;

use leasehold_types::Clock;
use ractor::{Actor, ActorProcessingErr, ActorRef};

/// Sends one message later.
pub(crate) struct TimerActor;

/// What to do when the time has come.
pub(crate) type Ring = Box<dyn FnOnce() + Send + Sync>;

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
