//! Claiming a tree: look, win the lease, and append the claim with what follows from it as one frame.
//!
//! - CLAIM-1: nothing is appended before the lease is won, and nothing is done before the claim's frame is acknowledged.
//! - CLAIM-2: letters that change nothing claim nothing: they are answered from the look alone.

use std::sync::Arc;

use leasehold_execution::machine::{ClaimFacts, SUSPECT_DEATHS};
use leasehold_execution::record::ClaimCause;
use leasehold_execution::spill::spill;
use leasehold_execution::{Context, Entry, Machine, Output, RecordError, Step, write_entries};
use leasehold_journal::{LetterSeq, Writer};
use leasehold_lease::{Claim, ClaimOutcome, ClaimToken, Release, Revision, claim_one, release_one};
use leasehold_types::{FrameIndex, OwnershipGuard, Tenant, TreeId};

use crate::agent::Agent;
use crate::append::append_and_settle;
use crate::deps::Deps;
use crate::execution::{Settled, apply_letter};
use crate::hold::Hold;
use crate::look::{Folded, Letters, fold, look, read_letters, unreadable};
use crate::node::Closed;
use crate::read::load;
use crate::tally::Tally;

/// The most letters that are applied with a claim: what they lead to must fit into its frame.
const LETTERS_MAX: usize = 32;

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
    /// What the node can take it away by.
    pub(crate) hold: Arc<Hold>,
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
pub(crate) async fn claim(deps: &Arc<Deps>, order: &ClaimOrder, tally: &Tally) -> ClaimEnd {
    let end = attempt(deps, order, tally).await;
    if let ClaimEnd::NotNow { how, .. } = &end
        && *how != Closed::Suspect
        && order.cause == ClaimCause::Restart
    {
        give_back_by_token(deps, order.tree, order.token).await;
    }
    end
}

/// Gives back the key that a failed actor of the tree may still hold: its token tells.
pub(crate) async fn give_back_by_token(deps: &Deps, tree: TreeId, token: ClaimToken) {
    let claim = Claim { tree, token };
    let outcome = claim_one(&*deps.leases, &deps.session, claim).await;
    if let ClaimOutcome::Claimed { create_revision } = outcome {
        give_back(deps, tree, create_revision).await;
    }
}

async fn attempt(deps: &Arc<Deps>, order: &ClaimOrder, tally: &Tally) -> ClaimEnd {
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
    tally.drop_letters(letters.unreadable.len());
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
    let won = match win_key(deps, order).await {
        Ok(revision) => match append_claim(deps, order, folded, revision).await {
            Ok(claimed) => Ok(claimed),
            Err(how) => {
                give_back(deps, order.tree, revision).await;
                Err(how)
            }
        },
        Err(how) => Err(how),
    };
    match won {
        Ok(claimed) => ClaimEnd::Won(Box::new(claimed)),
        Err(how) => ClaimEnd::NotNow {
            how,
            settled: vec![],
        },
    }
}

/// Wins the tree's key, or says why not now.
async fn win_key(deps: &Deps, order: &ClaimOrder) -> Result<Revision, Closed> {
    let (tree, token) = (order.tree, order.token);
    let claim = Claim { tree, token };
    let mut outcome = claim_one(&*deps.leases, &deps.session, claim).await;
    if let ClaimOutcome::Held(owner) = &outcome
        && owner.session == Some(deps.session.id)
    {
        // Nobody here runs the tree: it is a claim of ours whose outcome was unknown, and which has landed.
        give_back(deps, tree, owner.create_revision).await;
        outcome = claim_one(&*deps.leases, &deps.session, claim).await;
    }
    let why = match outcome {
        ClaimOutcome::Claimed { create_revision } => return Ok(create_revision),
        ClaimOutcome::Held(_) => return Err(Closed::HeldElsewhere),
        ClaimOutcome::Unknown(error) => error.to_string(),
        ClaimOutcome::SessionGone => "the lease session is over".to_owned(),
    };
    Err(Closed::Unavailable { why })
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

/// Appends the claim, and what letters and the machine add to it, as one frame.
async fn append_claim(
    deps: &Arc<Deps>,
    order: &ClaimOrder,
    folded: Folded,
    revision: Revision,
) -> Result<Claimed, Closed> {
    let last = folded.loaded.last.as_ref().ok_or(Closed::Missing)?;
    let mut writer = Writer::claiming(last, folded.loaded.tail, &*deps.random);
    let (mut machine, tenant) = (folded.machine, folded.tenant);
    let facts = ClaimFacts {
        epoch: writer.token().epoch,
        instance: deps.instance.clone(),
        boot: deps.boot,
        cause: order.cause,
        lease_revision: Some(revision.get()),
        alone: order.alone,
    };
    let plan = plan(deps, order, &mut machine, facts, folded.letters, &tenant);
    let unwritable = |error: RecordError| Closed::Corrupt {
        why: error.to_string(),
    };
    let body = write_entries(&plan.output.entries).map_err(unwritable)?;
    let spilled = spill(body).map_err(unwritable)?;
    let signal = order.hold.signal();
    let frame = append_and_settle(deps, &mut writer, machine.summary(), spilled, signal).await?;
    let guard = OwnershipGuard::claimed(writer.token(), frame, None, signal.clone());
    order.hold.claimed(guard.clone());
    Ok(Claimed {
        machine,
        agent: folded.agent,
        tenant,
        writer,
        guard,
        revision,
        frame,
        steps: plan.output.steps,
        settled: plan.settled,
        entries: plan.output.entries,
        cursor: plan.cursor,
    })
}

/// What a claim says and does; thrown away where it is refused.
struct ClaimPlan {
    output: Output,
    settled: Vec<Settled>,
    cursor: LetterSeq,
}

fn plan(
    deps: &Deps,
    order: &ClaimOrder,
    machine: &mut Machine,
    facts: ClaimFacts,
    letters: Letters,
    tenant: &Tenant,
) -> ClaimPlan {
    let context = Context {
        now: deps.clock.now(),
        random: &*deps.random,
    };
    let mut output = machine.claim(context, facts);
    let mut settled = letters.unreadable;
    let mut cursor = letters.cursor;
    if let Some(cause) = &order.quarantine {
        merge(&mut output, machine.quarantine(context, cause.clone()));
    }
    if let Some(left) = letters.arrived.get(LETTERS_MAX) {
        // What does not fit into this frame is read again once the tree is claimed.
        cursor = LetterSeq(left.seq.0.saturating_sub(1));
    }
    for arrived in letters.arrived.into_iter().take(LETTERS_MAX) {
        let (reply, applied) = apply_letter(machine, context, arrived.body, tenant);
        merge(&mut output, applied);
        settled.push(Settled {
            seq: arrived.seq,
            id: arrived.id,
            reply,
        });
    }
    merge(&mut output, machine.resume(context));
    ClaimPlan {
        output,
        settled,
        cursor,
    }
}

fn merge(output: &mut Output, more: Output) {
    output.entries.extend(more.entries);
    output.steps.extend(more.steps);
}
