//! The errand actor: does one thing that must wait for a store, so that its parent need not.
//!
//! **Supervision.** It is a child of the actor that sent it and ends with it. Its end, however it comes, means nothing to its parent.

use leasehold_types::BoxFuture;
use ractor::{Actor, ActorCell, ActorProcessingErr, ActorRef, SpawnErr};

struct ErrandActor;

type Errand = BoxFuture<'static, ()>;

/// Runs `errand` as a child of `parent`.
pub(crate) async fn run_errand(parent: ActorCell, errand: Errand) -> Result<(), SpawnErr> {
    let _running = Actor::spawn_linked(None, ErrandActor, errand, parent).await?;
    Ok(())
}

impl Actor for ErrandActor {
    type Msg = ();
    type State = Errand;
    type Arguments = Errand;

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        errand: Errand,
    ) -> Result<Errand, ActorProcessingErr> {
        Ok(errand)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        errand: &mut Errand,
    ) -> Result<(), ActorProcessingErr> {
        errand.await;
        myself.stop(None);
        Ok(())
    }
}
