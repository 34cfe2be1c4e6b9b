//! The stage hand: a thread that starts a crashed instance again, and lets time pass when nothing else can happen.
//!
//! Timers of retries and expiries would take real time, and a test does not wait. Tokio's paused clock is no way out: it moves
//! as soon as the runtime is idle, also while a blocking tool works on its own thread or the test itself has not looked yet, and
//! the runtime's timers are not on it. So the test clock jumps to its next deadline only when all of this holds at one moment:
//!
//! - HAND-1: somebody waits for an execution, and everybody who waits has looked at all that happened.
//! - HAND-2: no model and no tool works, by what the journals say: an intent without an outcome. So a call never times out by
//!   itself; a test that wants that advances the clock.
//! - HAND-3: every worker of the runtime was parked, with nothing queued, from before the other conditions were looked at until
//!   after: what holds the conditions true cannot have changed in between.
//! - HAND-4: no instance is being started again.
//!
//! What the conditions cannot see is work that an application does outside its tools, on threads or sockets of its own.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeMetrics};

use crate::fail::fail;
use crate::world::World;

/// How often is looked whether time may pass, while somebody waits. It bounds how fast time jumps, and nothing else.
const LOOK_EVERY: Duration = Duration::from_micros(100);

/// Starts the hand of a world. It ends with the world, or once that is closed.
pub(crate) fn start(world: &Arc<World>, runtime: Handle) {
    let known = Arc::downgrade(world);
    let work = move || {
        let metrics = runtime.metrics();
        while let Some(world) = known.upgrade() {
            if world.is_closed() {
                return;
            }
            let pause = turn(&world, &runtime, &metrics);
            // A world that ends meanwhile ends here or there, never both.
            drop(world);
            match pause {
                Pause::Short => thread::park_timeout(LOOK_EVERY),
                Pause::UntilCalled => thread::park(),
            }
        }
    };
    let hand = thread::Builder::new()
        .name("testkit".to_owned())
        .spawn(work);
    match hand {
        Ok(hand) => world.stage.call_for(hand.thread().clone()),
        Err(error) => fail(format_args!("no thread for the test's time: {error}")),
    }
}

enum Pause {
    Short,
    UntilCalled,
}

fn turn(world: &World, runtime: &Handle, metrics: &RuntimeMetrics) -> Pause {
    if world.stage.crashes() > 0 {
        runtime.block_on(world.restart());
        return Pause::Short;
    }
    if !world.stage.pulse.has_waiters() {
        return Pause::UntilCalled;
    }
    if is_idle(world, metrics) {
        world.clock.jump();
    }
    Pause::Short
}

fn is_idle(world: &World, metrics: &RuntimeMetrics) -> bool {
    let Some(before) = parked(metrics) else {
        return false;
    };
    let may = world.stage.pulse.all_wait() && world.stage.crashes() == 0 && !world.is_worked_for();
    fence(Ordering::SeqCst);
    may && metrics.global_queue_depth() == 0 && parked(metrics) == Some(before)
}

/// How often each worker has parked and gone on, if all are parked: an odd count is a parked worker's.
fn parked(metrics: &RuntimeMetrics) -> Option<Vec<u64>> {
    let workers = 0..metrics.num_workers();
    let counts = workers.map(|worker| metrics.worker_park_unpark_count(worker));
    let parked = counts.map(|count| (count % 2 == 1).then_some(count));
    let parked = parked.collect();
    fence(Ordering::SeqCst);
    parked
}
