//! What a store holds of each run, read and folded.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use leasehold_actors::{Agents, LoadedFrame, OsRandom, load};
use leasehold_execution::record::Outcome;
use leasehold_execution::{Machine, Record};
use leasehold_journal::embedded::EmbeddedStore;
use leasehold_journal::{Inbox, Journal, LetterSeq};
use leasehold_types::{BootId, TreeId};

use crate::agent::Parts;
use crate::outside::Outside;
use crate::site::nobody_forks;
use crate::worker::store_config;

/// One execution, read from the store.
pub(crate) struct Story {
    pub(crate) tree: TreeId,
    pub(crate) frames: Vec<LoadedFrame>,
    pub(crate) machine: Machine,
    pub(crate) letters: usize,
}

impl Story {
    pub(crate) fn records(&self) -> impl Iterator<Item = &Record> {
        self.frames
            .iter()
            .flat_map(|frame| &frame.entries)
            .map(|entry| &entry.record)
    }

    pub(crate) fn count(&self, is: impl Fn(&Record) -> bool) -> usize {
        self.records().filter(|record| is(record)).count()
    }

    pub(crate) fn claims(&self) -> usize {
        self.count(|record| matches!(record, Record::Claimed(_)))
    }

    pub(crate) fn outcome(&self) -> &Outcome {
        &self.machine.ended().unwrap().outcome
    }
}

/// All executions of a site, by the names of their runs.
pub(crate) fn read(directory: &Path) -> BTreeMap<String, Story> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let _open = nobody_forks();
    runtime.block_on(read_all(directory))
}

async fn read_all(directory: &Path) -> BTreeMap<String, Story> {
    let parts = Parts::new(&Arc::new(Outside::at(directory, 0)));
    let boot = BootId::new(&OsRandom);
    let opened = EmbeddedStore::open(&store_config(directory), boot, Arc::new(|_| {})).unwrap();
    let mut stories = BTreeMap::new();
    for head in opened.store.scan(None, 10_000).await.unwrap() {
        let tree = head.header.tree;
        let frames = load(&opened.store, tree).await.unwrap().frames;
        let Record::Started(started) = &frames[0].entries[0].record else {
            panic!("{tree} does not begin with its start");
        };
        let (run, plan) = (
            started.input.clone(),
            parts.agent(&started.agent, "").unwrap(),
        );
        let mut machine = Machine::new(tree, Arc::clone(&plan.plan));
        for frame in &frames {
            machine.replay(&frame.entries).unwrap();
        }
        let letters = opened
            .store
            .letters(tree, LetterSeq::default())
            .await
            .unwrap()
            .len();
        let story = Story {
            tree,
            frames,
            machine,
            letters,
        };
        let twice = stories.insert(run.clone(), story);
        assert!(twice.is_none(), "{run} was started twice");
    }
    stories
}
