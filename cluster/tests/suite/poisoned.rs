//! A store whose fsync fails: the process ends at once, and the next one finds everything that was acknowledged.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use leasehold_actors::OsRandom;
use leasehold_cluster::{Application, Backends, Instance, Seams, end_of_process};
use leasehold_journal::embedded::{
    EmbeddedConfig, EmbeddedStore, FaultAction, FaultPlan, FaultPoint,
};
use leasehold_lease::{Expiry, LocalLeaseStore};
use leasehold_types::{BootId, ExecutionId};

use crate::support::Tools;
use crate::world::{World, completed, done, effect, request, worlds};

/// Names the folder of the world to the process that is to end.
const CHILD: &str = "LEASEHOLD_TEST_CHILD";
const NAME: &str =
    "poisoned::a_failed_fsync_ends_the_process_with_74_and_loses_nothing_that_was_acknowledged";
/// An input/output error, as Linux numbers it.
const EIO: i32 = 5;

// RELIABILITY ES1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_fsync_ends_the_process_with_74_and_loses_nothing_that_was_acknowledged() {
    let [_, world] = worlds(&[effect(), done()], Tools::PLAIN);
    if let Some(directory) = std::env::var_os(CHILD) {
        return run_until_it_ends(&world, Path::new(&directory)).await;
    }
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program)
        .args(["--exact", NAME, "--nocapture"])
        .env(CHILD, world.config().store)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(74), "{said}");
    assert!(
        said.contains("[store.failed] the store can go on no more"),
        "{said}"
    );
    let started = executions(&output.stdout);
    assert!(!started.is_empty());
    let instance = world.open().await;
    for execution in started {
        assert_eq!(world.outcome(&instance, execution).await, completed());
    }
    instance.close().await;
}

fn executions(stdout: &[u8]) -> Vec<ExecutionId> {
    let text = String::from_utf8_lossy(stdout);
    let named = text
        .lines()
        .filter_map(|line| line.strip_prefix("started "));
    named.map(|id| id.parse().unwrap()).collect()
}

/// Starts executions and says which were acknowledged, until the store's 30th write cannot be synced.
async fn run_until_it_ends(world: &World, directory: &Path) {
    let mut config = EmbeddedConfig::at(directory);
    config.faults = vec![FaultPlan {
        point: FaultPoint::AfterWrite,
        nth: 30,
        action: FaultAction::Error(EIO),
    }];
    let boot = BootId::new(&OsRandom);
    let opened = EmbeddedStore::open(&config, boot, end_of_process()).unwrap();
    let seams = Seams::default();
    let leases = LocalLeaseStore::new(Arc::clone(&seams.clock), Expiry::Never);
    let backends = Backends {
        store: Arc::new(opened.store),
        leases: Arc::new(leases),
    };
    let application = Application {
        agents: Arc::clone(&world.app) as _,
        channels: Arc::clone(&world.app) as _,
    };
    let instance = Instance::over(&world.config(), backends, application, seams)
        .await
        .unwrap();
    for _ in 0..100 {
        if let Ok(execution) = instance.node().start(request("go")).await {
            let line = format!("\nstarted {execution}\n");
            std::io::stdout().write_all(line.as_bytes()).unwrap();
        }
    }
}
