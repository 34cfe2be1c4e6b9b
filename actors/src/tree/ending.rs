//! How a tree's actors end without failing: the lease is given back, and the node is told whether letters are left.

use leasehold_execution::machine::DecisionReply;
use leasehold_journal::LetterSeq;
use leasehold_types::LeaseLostReason;
use ractor::ActorRef;

use super::{Handled, State, TreeMsg};
use crate::claim::give_back;
use crate::look::read_letters;
use crate::node::{Closed, Left, NodeMsg};

impl State {
    /// D7: what runs is dropped, nothing of it is journaled.
    pub(super) async fn lost(
        &mut self,
        myself: &ActorRef<TreeMsg>,
        reason: LeaseLostReason,
    ) -> Handled {
        let Some(held) = &self.held else {
            return Ok(());
        };
        held.guard.lose(reason);
        let how = match reason {
            LeaseLostReason::Taken | LeaseLostReason::Fenced => Closed::HeldElsewhere,
            LeaseLostReason::StoreSilent | LeaseLostReason::Released => Closed::Unavailable {
                why: format!("its lease is lost: {}", reason.words()),
            },
        };
        self.shut(myself, how).await
    }

    /// Ends the actors below, gives the lease back, and tells the node.
    pub(super) async fn shut(&mut self, myself: &ActorRef<TreeMsg>, how: Closed) -> Handled {
        if let Some(held) = self.held.take() {
            let revision = held.revision;
            held.execution.kill();
            // The guard goes before the key: nothing of this epoch begins once another may have the tree.
            drop(held);
            give_back(&self.deps, self.tree, revision).await;
        }
        self.close(myself, how).await
    }

    pub(super) async fn close(&mut self, myself: &ActorRef<TreeMsg>, how: Closed) -> Handled {
        let left = self.left(&how).await;
        self.node.cast(NodeMsg::Closed {
            tree: self.tree,
            actor: myself.get_id(),
            how,
            left,
            bells: self.bells,
        })?;
        myself.stop(None);
        Ok(())
    }

    /// Whether letters are left that somebody must look at: one that came while the tree was closing was read by nobody.
    async fn left(&self, how: &Closed) -> Left {
        match how {
            Closed::Resting { .. } | Closed::Ended | Closed::Blocked => {}
            Closed::Corrupt { why } | Closed::WaitingForVersion { why } => {
                self.refuse_letters(why).await;
                return Left::Nothing;
            }
            Closed::Released
            | Closed::Fenced { .. }
            | Closed::HeldElsewhere
            | Closed::Unavailable { .. }
            | Closed::Missing
            | Closed::Suspect => return Left::Nothing,
        }
        if self.unsettled {
            return Left::Later;
        }
        if self.bells == 0 {
            return Left::Nothing;
        }
        match self
            .deps
            .store
            .letters(self.tree, LetterSeq::default())
            .await
        {
            Ok(letters) if letters.is_empty() => Left::Nothing,
            Ok(_) => Left::Letters,
            Err(_) => Left::Later,
        }
    }

    /// Letters for a tree that cannot be moved here are answered at once, and stay for whoever can.
    async fn refuse_letters(&self, why: &str) {
        let Ok(letters) = read_letters(&self.deps, self.tree, LetterSeq::default()).await else {
            return;
        };
        for arrived in letters.arrived {
            let reply = DecisionReply::Invalid(why.to_owned());
            let _gone = self.node.cast(NodeMsg::Settled {
                id: arrived.id,
                reply,
            });
        }
    }
}
