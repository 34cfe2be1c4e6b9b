//! The tree's inbox: letters are read past the cursor, handed to the execution, and settled once their records are durable.

use std::time::Duration;

use ractor::ActorRef;

use super::{Handled, State, TreeMsg};
use crate::execution::{ExecutionMsg, Settled};
use crate::look::read_letters;
use crate::node::NodeMsg;
use crate::timer::ring_after;

/// How long to wait before an inbox that could not be read is read again.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);

impl State {
    pub(super) async fn read_inbox(&mut self, myself: &ActorRef<TreeMsg>) -> Handled {
        let Some(held) = &mut self.held else {
            return Ok(());
        };
        let letters = match read_letters(&self.deps, self.tree, held.cursor).await {
            Ok(letters) => letters,
            Err(error) => {
                tracing::warn!(tree = %self.tree, error, "inbox cannot be read now");
                return self.read_again(myself).await;
            }
        };
        held.cursor = letters.cursor;
        for arrived in letters.arrived {
            held.execution.cast(ExecutionMsg::Letter(arrived))?;
        }
        self.tally.drop_letters(letters.unreadable.len());
        self.settle(letters.unreadable).await;
        Ok(())
    }

    /// One timer, however many bells ring meanwhile.
    async fn read_again(&mut self, myself: &ActorRef<TreeMsg>) -> Handled {
        if std::mem::replace(&mut self.reads_again, true) {
            return Ok(());
        }
        let tree = myself.clone();
        let ring = Box::new(move || {
            let _gone = tree.cast(TreeMsg::ReadAgain);
        });
        ring_after(myself.get_cell(), &self.deps.clock, READ_AGAIN_AFTER, ring).await?;
        Ok(())
    }

    /// Ends letters and tells their senders.
    pub(super) async fn settle(&mut self, settled: Vec<Settled>) {
        for Settled { seq, id, reply } in settled {
            if let Err(error) = self.deps.store.settle(self.tree, seq).await {
                // It is read again by the next owner, whose machine knows the decision.
                tracing::warn!(tree = %self.tree, %error, "letter could not be settled");
                self.unsettled = true;
            }
            let _gone = self.node.cast(NodeMsg::Settled { id, reply });
        }
    }
}
