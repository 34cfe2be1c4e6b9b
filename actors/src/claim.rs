//! Claiming a tree: look, win the lease, and append the claim with what follows from it as one frame.
//!
//! - CLAIM-1: nothing is appended before the lease is won, and nothing is done before the claim's frame is acknowledged.
//! - CLAIM-2: letters that change nothing claim nothing: they are answered from the look alone.

use std::sync::Arc;

use leasehold_execution::machine::{ClaimFacts, SUSPECT_DEATHS};
use leasehold_execution::record::ClaimCause;
use leasehold_execution::spill::spill;
use leasehold_execution::{Context, Entry, Machine, Output, Step, write_entries};
use leasehold_journal::{LetterSeq, Writer};
use leasehold_lease::{Claim, ClaimOutcome, ClaimToken, Release, Revision, claim_one, release_one};
use leasehold_types::{FrameIndex, OwnershipGuard, Signal, Tenant, TreeId};

use crate::agent::Agent;
use crate::append::append_and_settle;
use crate::deps::Deps;
use crate::execution::{Settled, apply_letter};
use crate::look::{Folded, fold, look, read_letters, unreadable};
use crate::node::Closed;
use crate::read::load;

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
