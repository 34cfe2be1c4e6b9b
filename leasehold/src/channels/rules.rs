//! Channels that put no question to anybody: two that answer at once, and one that leaves it to the owner's own list.

use leasehold_actors::{Ask, Channel, ChannelError, Sent};
use leasehold_execution::machine::Verdict;
use leasehold_types::BoxFuture;

/// Approves every call as it is. For development and tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AutoApprove;

impl Channel for AutoApprove {
    fn name(&self) -> &'static str {
        "auto-approve"
    }

    fn send(&self, _ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        decided(Verdict::Approve {
            override_arguments: None,
        })
    }
}

/// Rejects every call; the model reads that it was not made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AutoReject;

impl Channel for AutoReject {
    fn name(&self) -> &'static str {
        "auto-reject"
    }

    fn send(&self, _ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        decided(Verdict::Reject {
            reason: String::new(),
        })
    }
}

/// For roles that the owner of the thread answers: the question stands in the list of the execution's pauses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner;

impl Channel for Owner {
    fn name(&self) -> &'static str {
        "thread-owner"
    }

    fn send(&self, _ask: Ask) -> BoxFuture<'_, Result<Sent, ChannelError>> {
        Box::pin(std::future::ready(Ok(Sent::AwaitReply)))
    }
}

fn decided(verdict: Verdict) -> BoxFuture<'static, Result<Sent, ChannelError>> {
    Box::pin(std::future::ready(Ok(Sent::Decided(verdict))))
}
