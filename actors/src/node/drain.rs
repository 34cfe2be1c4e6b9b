//! Draining: nothing new wakes, what runs may end, each tree is released as it gets there; what is left is released at once.

use ractor::RpcReplyPort;

use super::State;
use crate::tree::TreeMsg;

impl State {
    pub(super) fn drain(&mut self, port: RpcReplyPort<()>) {
        self.is_draining = true;
        self.draining = Some(port);
        for awake in self.awake.values() {
            let _closing = awake.actor.cast(TreeMsg::Drain);
        }
        self.drained();
    }

    /// The time that was given is over.
    pub(super) fn release(&mut self, port: RpcReplyPort<()>) {
        self.draining = Some(port);
        for awake in self.awake.values() {
            let _closing = awake.actor.cast(TreeMsg::Release);
        }
        self.drained();
    }

    pub(super) fn drained(&mut self) {
        if self.awake.is_empty()
            && let Some(port) = self.draining.take()
        {
            let _gone = port.send(());
        }
    }
}
