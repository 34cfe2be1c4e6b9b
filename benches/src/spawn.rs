//! What an actor costs: one call actor is started and ends for each call.

use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, SupervisionEvent};
use tokio::sync::mpsc;

use crate::machine::{cpu, monotonic};
use crate::report::Report;

const ACTORS: u32 = 100_000;

struct Child;

impl Actor for Child {
    type Msg = ();
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<()>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        myself.stop(None);
        Ok(())
    }
}

/// Starts one child after another, as an execution does its calls.
struct Parent;

impl Actor for Parent {
    type Msg = ();
    type State = (u32, mpsc::Sender<()>);
    type Arguments = mpsc::Sender<()>;

    async fn pre_start(
        &self,
        myself: ActorRef<()>,
        done: mpsc::Sender<()>,
    ) -> Result<Self::State, ActorProcessingErr> {
        myself.cast(())?;
        Ok((0, done))
    }

    async fn handle(
        &self,
        myself: ActorRef<()>,
        (): (),
        _: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        let _started = Actor::spawn_linked(None, Child, (), myself.get_cell()).await?;
        Ok(())
    }

    async fn handle_supervisor_evt(
        &self,
        myself: ActorRef<()>,
        event: SupervisionEvent,
        (count, done): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        if let SupervisionEvent::ActorTerminated(..) = event {
            *count += 1;
            if *count == ACTORS {
                done.send(()).await?;
            } else {
                myself.cast(())?;
            }
        }
        Ok(())
    }
}

pub(crate) fn measure(report: &mut Report) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let (wall, used) = runtime.block_on(async {
        let (sender, mut receiver) = mpsc::channel(1);
        let (started, before) = (monotonic(), cpu());
        let (parent, _task) = Actor::spawn(None, Parent, sender).await?;
        receiver.recv().await;
        let figures = (monotonic() - started, cpu() - before);
        parent.stop(None);
        anyhow::Ok(figures)
    })?;
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / f64::from(ACTORS);
    report.add(
        "a call actor, started, ended and noticed",
        micros(wall),
        "us",
    );
    report.add("a call actor, CPU", micros(used), "us");
    Ok(())
}
