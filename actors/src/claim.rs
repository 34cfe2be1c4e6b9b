//! Claiming a tree: look, win the lease, and append the claim with what follows from it as one frame.
//!
//! - CLAIM-1: nothing is appended before the lease is won, and nothing is done before the claim's frame is acknowledged.
//! - CLAIM-2: letters that change nothing claim nothing: they are answered from the look alone.

use std::sync::Arc;

use leasehold_execution::letter::LetterBody;
use leasehold_execution::machine::{ClaimFacts, DecisionReply, SUSPECT_DEATHS};
use leasehold_execution::record::ClaimCause;
use leasehold_execution::spill::spill;
use leasehold_execution::{Context, Entry, Machine, Output, Standing, Step, write_entries};
use leasehold_journal::{LetterSeq, Writer};
use leasehold_lease::{Claim, ClaimOutcome, ClaimToken, Release, Revision, claim_one, release_one};
use leasehold_types::{FrameIndex, OwnershipGuard, Signal, Tenant, TreeId};

use crate::agent::Agent;
use crate::deps::Deps;
use crate::execution::{Arrived, Settled, apply_letter};
use crate::node::Closed;
use crate::read::{LoadError, Loaded, load};
use crate::tree::append_and_settle;

/// What to claim, and how.
#[derive(Debug, Clone)]
pub(crate) struct ClaimOrder {
    pub(crate) tree: TreeId,
    pub(crate) cause: ClaimCause,
    /// Names the claim: the same where a failed actor's tree is started again.
    pub(crate) token: ClaimToken,
    /// Whether no other suspect runs here.
    pub(crate) alone: bool,
    /// The tree's actors failed too often: stop it.
    pub(crate) quarantine: Option<String>,
}

/// A tree that was claimed.
pub(crate) struct Claimed {
    pub(crate) machine: Machine,
    pub(crate) agent: Arc<Agent>,
    pub(crate) tenant: Tenant,
    pub(crate) writer: Writer,
    pub(crate) guard: OwnershipGuard,
    pub(crate) revision: Revision,
    pub(crate) frame: FrameIndex,
    pub(crate) steps: Vec<Step>,
    pub(crate) settled: Vec<Settled>,
    pub(crate) entries: Vec<Entry>,
    /// Letters up to here were read.
    pub(crate) cursor: LetterSeq,
}

/// What came of a claim.
pub(crate) enum ClaimEnd {
    Won(Box<Claimed>),
    /// Nothing was claimed; these letters are over.
    NotNow {
        how: Closed,
        settled: Vec<Settled>,
    },
}

/// Claims a tree.
pub(crate) async fn claim(deps: &Arc<Deps>, order: &ClaimOrder) -> ClaimEnd {
    let end = attempt(deps, order).await;
    if let ClaimEnd::NotNow { how, .. } = &end
        && *how != Closed::Suspect
        && order.cause == ClaimCause::Restart
    {
        // The failed actor's key is still there, under the same token.
        let claim = Claim {
            tree: order.tree,
            token: order.token,
        };
        if let ClaimOutcome::Claimed { create_revision } =
            claim_one(&*deps.leases, &deps.session, claim).await
        {
            give_back(deps, order.tree, create_revision).await;
        }
    }
    end
}

async fn attempt(deps: &Arc<Deps>, order: &ClaimOrder) -> ClaimEnd {
    let not_now = |how: Closed| ClaimEnd::NotNow {
        how,
        settled: vec![],
    };
    let loaded = match load(&*deps.store, order.tree).await {
        Ok(loaded) => loaded,
        Err(error) => return not_now(unreadable(error)),
    };
    let (machine, agent, tenant) = match fold(deps, order.tree, &loaded) {
        Ok(folded) => folded,
        Err(how) => return not_now(how),
    };
    let letters = match read_letters(deps, order.tree, LetterSeq::default()).await {
        Ok(letters) => letters,
        Err(error) => return not_now(Closed::Unavailable { why: error }),
    };
    if let Some(end) = look(deps, order, &machine, &tenant, &letters) {
        return end;
    }
    if machine.deaths() >= SUSPECT_DEATHS && !order.alone {
        return not_now(Closed::Suspect);
    }
    win(
        deps,
        order,
        Folded {
            loaded,
            machine,
            agent,
            tenant,
            letters,
        },
    )
    .await
}

struct Folded {
    loaded: Loaded,
    machine: Machine,
    agent: Arc<Agent>,
    tenant: Tenant,
    letters: Letters,
}

fn unreadable(error: LoadError) -> Closed {
    match error {
        LoadError::Store(error) => Closed::Unavailable {
            why: error.to_string(),
        },
        LoadError::Corrupt(_) | LoadError::Blob(_) => Closed::Corrupt {
            why: error.to_string(),
        },
        LoadError::NeedsNewerVersion { .. } => Closed::WaitingForVersion {
            why: error.to_string(),
        },
    }
}

/// Folds a tree that was read into the machine of its agent.
fn fold(
    deps: &Deps,
    tree: TreeId,
    loaded: &Loaded,
) -> Result<(Machine, Arc<Agent>, Tenant), Closed> {
    use leasehold_execution::Record;
    let started = loaded.entries().find_map(|entry| match &entry.record {
        Record::Started(started) => Some(started),
        _ => None,
    });
    let (Some(started), Some(last)) = (started, &loaded.last) else {
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
fn look(
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

async fn win(deps: &Arc<Deps>, order: &ClaimOrder, folded: Folded) -> ClaimEnd {
    let claim = Claim {
        tree: order.tree,
        token: order.token,
    };
    let outcome = claim_one(&*deps.leases, &deps.session, claim).await;
    let revision = match outcome {
        ClaimOutcome::Claimed { create_revision } => create_revision,
        ClaimOutcome::Held(_) => {
            return ClaimEnd::NotNow {
                how: Closed::HeldElsewhere,
                settled: vec![],
            };
        }
        ClaimOutcome::Unknown(error) => {
            let how = Closed::Unavailable {
                why: error.to_string(),
            };
            return ClaimEnd::NotNow {
                how,
                settled: vec![],
            };
        }
        ClaimOutcome::SessionGone => {
            let how = Closed::Unavailable {
                why: "the lease session is over".to_owned(),
            };
            return ClaimEnd::NotNow {
                how,
                settled: vec![],
            };
        }
    };
    match append_claim(deps, order, folded, revision).await {
        Ok(claimed) => ClaimEnd::Won(Box::new(claimed)),
        Err(how) => {
            give_back(deps, order.tree, revision).await;
            ClaimEnd::NotNow {
                how,
                settled: vec![],
            }
        }
    }
}

/// Gives a tree's key back.
pub(crate) async fn give_back(deps: &Deps, tree: TreeId, create_revision: Revision) {
    let outcome = release_one(
        &*deps.leases,
        Release {
            tree,
            create_revision,
        },
    )
    .await;
    tracing::debug!(%tree, ?outcome, "lease released");
}

async fn append_claim(
    deps: &Arc<Deps>,
    order: &ClaimOrder,
    folded: Folded,
    revision: Revision,
) -> Result<Claimed, Closed> {
    let Folded {
        loaded,
        mut machine,
        agent,
        tenant,
        letters,
    } = folded;
    let last = loaded.last.as_ref().ok_or(Closed::Missing)?;
    let mut writer = Writer::claiming(last, loaded.tail, &*deps.random);
    let context = Context {
        now: deps.clock.now(),
        random: &*deps.random,
    };
    let facts = ClaimFacts {
        epoch: writer.token().epoch,
        instance: deps.instance.clone(),
        boot: deps.boot,
        cause: order.cause,
        lease_revision: Some(revision.get()),
        alone: order.alone,
    };
    let mut output = machine.claim(context, facts);
    let mut settled = letters.unreadable;
    if let Some(cause) = &order.quarantine {
        merge(&mut output, machine.quarantine(context, cause.clone()));
    }
    for arrived in letters.arrived {
        let (reply, applied) = apply_letter(&mut machine, context, arrived.body, &tenant);
        merge(&mut output, applied);
        settled.push(Settled {
            seq: arrived.seq,
            id: arrived.id,
            reply,
        });
    }
    merge(&mut output, machine.resume(context));
    let body = write_entries(&output.entries).map_err(|error| Closed::Corrupt {
        why: error.to_string(),
    })?;
    let spilled = spill(body).map_err(|error| Closed::Corrupt {
        why: error.to_string(),
    })?;
    let signal = Signal::root();
    let frame = append_and_settle(deps, &mut writer, machine.summary(), spilled, &signal).await?;
    let guard = OwnershipGuard::claimed(writer.token(), frame, None, signal);
    let steps = output.steps;
    let entries = output.entries;
    Ok(Claimed {
        machine,
        agent,
        tenant,
        writer,
        guard,
        revision,
        frame,
        steps,
        settled,
        entries,
        cursor: letters.cursor,
    })
}

fn merge(output: &mut Output, more: Output) {
    output.entries.extend(more.entries);
    output.steps.extend(more.steps);
}
