//! The look before a claim: what a tree's journal and inbox say, and whether there is anything to claim it for.
//!
//! Nothing is written here.

use std::sync::Arc;

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::DecisionReply;
use leasehold_execution::{Context, Machine, Standing};
use leasehold_journal::{BlobError, LetterSeq};
use leasehold_types::{Tenant, TreeId};

use crate::agent::Agent;
use crate::claim::{ClaimEnd, ClaimOrder};
use crate::deps::Deps;
use crate::execution::{Arrived, Settled, apply_letter};
use crate::node::Closed;
use crate::read::{LoadError, Loaded};

/// A tree that was read.
pub(crate) struct Folded {
    pub(crate) loaded: Loaded,
    pub(crate) machine: Machine,
    pub(crate) agent: Arc<Agent>,
    pub(crate) tenant: Tenant,
    pub(crate) letters: Letters,
}

/// How a tree ends that cannot be read.
pub(crate) fn unreadable(error: LoadError) -> Closed {
    match error {
        LoadError::Store(_) | LoadError::Blob(BlobError::Store(_)) => Closed::Unavailable {
            why: error.to_string(),
        },
        LoadError::Corrupt(_) | LoadError::Blob(BlobError::Unavailable { .. }) => Closed::Corrupt {
            why: error.to_string(),
        },
        LoadError::NeedsNewerVersion { .. } => Closed::WaitingForVersion {
            why: error.to_string(),
        },
    }
}

/// Folds a tree that was read into the machine of its agent.
pub(crate) fn fold(
    deps: &Deps,
    tree: TreeId,
    loaded: &Loaded,
) -> Result<(Machine, Arc<Agent>, Tenant), Closed> {
    let (Some(started), Some(last)) = (loaded.started(), &loaded.last) else {
        return Err(Closed::Missing);
    };
    let agent = deps.agents.agent(&started.workflow, &started.agent);
    let agent = agent.filter(|agent| agent.plan.config_hash == started.config_hash);
    let Some(agent) = agent else {
        let why = format!(
            "[execution.config-changed] it started under configuration {} of agent {:?}, which this instance does not run",
            started.config_hash.short(),
            started.agent
        );
        return Err(Closed::WaitingForVersion { why });
    };
    let mut machine = Machine::new(tree, Arc::clone(&agent.plan));
    for frame in &loaded.frames {
        machine
            .replay(&frame.entries)
            .map_err(|error| Closed::Corrupt {
                why: format!("frame {}: {error}", frame.header.index),
            })?;
    }
    Ok((machine, agent, last.header.tenant.clone()))
}

/// Letters that were read: those that say something, and those that cannot be read.
pub(crate) struct Letters {
    pub(crate) arrived: Vec<Arrived>,
    pub(crate) unreadable: Vec<Settled>,
    pub(crate) cursor: LetterSeq,
}

/// Reads a tree's letters after `after`.
pub(crate) async fn read_letters(
    deps: &Deps,
    tree: TreeId,
    after: LetterSeq,
) -> Result<Letters, String> {
    let stored = deps
        .store
        .letters(tree, after)
        .await
        .map_err(|error| error.to_string())?;
    let mut letters = Letters {
        arrived: vec![],
        unreadable: vec![],
        cursor: after,
    };
    for letter in stored {
        letters.cursor = letters.cursor.max(letter.seq);
        let (seq, id) = (letter.seq, letter.letter.id);
        match LetterBody::read(&letter.letter.body, &format!("{:032x}", id.0)) {
            Ok(body) => letters.arrived.push(Arrived { seq, id, body }),
            Err(error) => {
                tracing::warn!(%tree, %error, "letter cannot be read, dropped");
                let reply = DecisionReply::Invalid(error.to_string());
                letters.unreadable.push(Settled { seq, id, reply });
            }
        }
    }
    Ok(letters)
}

/// A wake that would change nothing claims nothing: CLAIM-2.
pub(crate) fn look(
    deps: &Deps,
    order: &ClaimOrder,
    machine: &Machine,
    tenant: &Tenant,
    letters: &Letters,
) -> Option<ClaimEnd> {
    let now = deps.clock.now();
    let idle = match machine.standing(now) {
        Standing::Ended => Some(Closed::Ended),
        Standing::Blocked => Some(Closed::Blocked),
        Standing::AtRest { due } if due.is_none_or(|due| due > now) && machine.is_resting() => {
            Some(Closed::Resting { due })
        }
        Standing::AtRest { .. } | Standing::Busy | Standing::Waiting { .. } => None,
    }?;
    if order.quarantine.is_some() && idle != Closed::Ended && idle != Closed::Blocked {
        return None;
    }
    let mut settled = letters.unreadable.clone();
    for arrived in &letters.arrived {
        let context = Context {
            now,
            random: &*deps.random,
        };
        let (reply, output) =
            apply_letter(&mut machine.clone(), context, arrived.body.clone(), tenant);
        if !output.entries.is_empty() {
            return None;
        }
        settled.push(Settled {
            seq: arrived.seq,
            id: arrived.id,
            reply,
        });
    }
    Some(ClaimEnd::NotNow { how: idle, settled })
}
