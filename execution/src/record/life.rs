//! Records about the life of an execution: its start, who holds it, what others want of it.

use leasehold_types::{
    BootId, Digest, Epoch, ExecutionId, InstanceId, Money, Owner, Principal, ThreadId,
};
use serde::{Deserialize, Serialize};

use super::Place;

/// Somebody started the execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// The workflow, or the agent where it was started by itself.
    pub workflow: String,
    /// The agent that runs.
    pub agent: String,
    /// What it was asked.
    pub input: String,
    /// The hash of all that the model reads; the execution resumes under no other.
    pub config_hash: Digest,
    /// Whose it is.
    pub owner: Owner,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<ThreadId>,
    /// The execution of the same thread whose history it goes on from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<ExecutionId>,
    /// Who started it.
    pub started_by: Principal,
    /// The most money the tree may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Money>,
    /// The caller's key for this start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The execution that started it, for a child.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// The W3C trace context of the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// Who started a child execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The parent's number in the tree.
    pub execution: u32,
    /// The step of the parent that started it.
    pub place: Place,
}

/// Why an instance took a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimCause {
    /// It was just started.
    Start,
    /// A letter or a timer woke it.
    Wake,
    /// Its owner is gone.
    Takeover,
    /// An actor of it failed and is started again.
    Restart,
}

/// An instance took the tree, under a new epoch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claimed {
    /// The epoch; the frame's own.
    pub epoch: Epoch,
    /// The instance.
    pub instance: InstanceId,
    /// Its start.
    pub boot: BootId,
    /// Why.
    pub cause: ClaimCause,
    /// The lease key's create revision, where a lease store gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_revision: Option<u64>,
    /// Whether the instance ran no other suspect beside it: only then does a death count for quarantine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
}

/// Somebody cancelled the execution.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CancelRequested {
    /// Who.
    pub by: Principal,
    /// Why, in the canceller's words.
    #[serde(default)]
    pub reason: String,
}

/// The lease is given back while steps are left.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// Why.
    pub reason: String,
}

/// The tree is stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    /// What it did.
    pub cause: String,
    /// How often in a row.
    pub deaths: u32,
}

/// An operator lets the tree go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Retried {
    /// Who.
    pub by: Principal,
}
