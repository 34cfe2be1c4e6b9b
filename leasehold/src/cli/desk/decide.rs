//! What changes something: decisions, cancels, retries, starts. Each is a letter or a start, and its outcome is told.

use leasehold_actors::{Node, PauseTarget, StartRequest};
use leasehold_execution::machine::{DecisionReply, Verdict};
use leasehold_types::{Digest, ExecutionId, Owner, PauseRef, Principal, ThreadId};

use super::{Desk, OUTCOME_WAIT, Teller};
use crate::cli::error::CliError;
use crate::cli::ids::{resolve, resolve_pause, short, short_pause};
use crate::cli::request::{Reply, Request, Say};
use crate::cli::story::Story;
use crate::cli::user;
use crate::cli::view::{DecidedView, State};
use crate::cli::when::When;
use crate::escape::clip;

/// The least of a digest that says which one is meant.
const DIGEST_CHARS_MIN: usize = 8;

/// A letter that was sent.
struct Sent {
    execution: ExecutionId,
    pause: Option<PauseRef>,
    did: &'static str,
    by: String,
    /// How many frames there were before.
    from: u64,
}

impl Desk {
    pub(super) async fn change(
        &self,
        request: Request,
        by: &Principal,
        teller: &Teller,
    ) -> Result<(), CliError> {
        let node = self.node.as_ref().ok_or(CliError::NoInstance(
            "this store was opened to be read: nothing can be changed through it",
        ))?;
        let decided = match request {
            Request::Decide {
                pause,
                verdict,
                digest,
                act_as,
            } => {
                let by = user::acting_as(by, act_as.as_deref())?;
                self.decide(node, &pause, verdict, digest, by).await?
            }
            Request::Cancel { execution, reason } => {
                self.cancel(node, &execution, reason, by).await?
            }
            Request::Retry { execution } => self.retry(node, &execution, by).await?,
            Request::Start {
                agent,
                input,
                thread,
                key,
            } => {
                let request = StartRequest {
                    agent,
                    input,
                    owner: Owner::new(by.id.clone()),
                    tenant: by.tenant.clone(),
                    thread: thread.map(ThreadId::new),
                    started_by: by.clone(),
                    idempotency_key: key,
                };
                let execution = node.start(request).await?;
                return teller.tell(Reply::Started { execution }).await;
            }
            Request::List { .. }
            | Request::Show { .. }
            | Request::Watch { .. }
            | Request::Dump { .. }
            | Request::Approvals { .. } => return Ok(()),
        };
        teller.tell(Reply::Decided(Box::new(decided))).await
    }

    async fn cancel(
        &self,
        node: &Node,
        execution: &str,
        reason: String,
        by: &Principal,
    ) -> Result<DecidedView, CliError> {
        let sent = self.sent(execution, "cancelled", by).await?;
        let tree = sent.execution.tree();
        let reply = node.cancel(tree, by.clone(), reason, OUTCOME_WAIT).await?;
        self.decided(sent, &reply).await
    }

    async fn retry(
        &self,
        node: &Node,
        execution: &str,
        by: &Principal,
    ) -> Result<DecidedView, CliError> {
        let sent = self.sent(execution, "let go on", by).await?;
        self.is_blocked(sent.execution).await?;
        let tree = sent.execution.tree();
        let reply = node.retry(tree, by.clone(), OUTCOME_WAIT).await?;
        self.decided(sent, &reply).await
    }

    async fn sent(
        &self,
        execution: &str,
        did: &'static str,
        by: &Principal,
    ) -> Result<Sent, CliError> {
        let execution = resolve(&*self.store, execution).await?;
        let read = self.store.tail(execution.tree()).await?;
        let header = read
            .header()
            .map_err(leasehold_journal::JournalError::from)?;
        Ok(Sent {
            execution,
            pause: None,
            did,
            by: by.id.clone(),
            from: header.map_or(0, |header| header.index.get() + 1),
        })
    }

    /// Letting go on what nobody stopped would do nothing, and say that it did.
    async fn is_blocked(&self, execution: ExecutionId) -> Result<(), CliError> {
        let (story, _) = self.read(Story::new(execution)).await?;
        let state = story.state();
        if state == State::Blocked {
            return Ok(());
        }
        let state = state.word();
        Err(CliError::NotBlocked { execution, state })
    }

    async fn decide(
        &self,
        node: &Node,
        pause: &str,
        say: Say,
        digest: Option<String>,
        by: Principal,
    ) -> Result<DecidedView, CliError> {
        let reference = resolve_pause(&*self.store, pause).await?;
        let execution = reference.execution;
        let (story, _) = self.read(Story::new(execution)).await?;
        let shown = shown(&story, reference, digest.as_deref())?;
        let (verdict, did) = verdict_of(say);
        let sent = Sent {
            execution,
            pause: Some(reference),
            did,
            by: by.id.clone(),
            from: story.frames(),
        };
        let target = PauseTarget::Reference(reference);
        let reply = node
            .decide(target, by, verdict, shown, OUTCOME_WAIT)
            .await?;
        self.decided(sent, &reply).await
    }

    /// What became of a letter, and what the execution does after it.
    async fn decided(&self, sent: Sent, reply: &DecisionReply) -> Result<DecidedView, CliError> {
        let Sent {
            execution,
            pause,
            did,
            by,
            from,
        } = sent;
        let what = pause.map_or_else(|| short(execution), short_pause);
        let changed = counted(reply, &what)?;
        let (story, _) = self.read(Story::new(execution)).await?;
        let state = story.state();
        Ok(DecidedView {
            execution,
            pause,
            did: did.to_owned(),
            by,
            changed,
            from,
            state,
            goes_on: state == State::Running,
        })
    }
}

/// The digest of what is open now: the decision is bound to it, and to what was shown where the decider says so.
fn shown(
    story: &Story,
    reference: PauseRef,
    given: Option<&str>,
) -> Result<Option<Digest>, CliError> {
    let pauses = story.pauses();
    let Some(open) = pauses.iter().find(|pause| pause.pause == reference) else {
        // Closed, or never there: the machine knows which, and who decided.
        return Ok(None);
    };
    if let Some(given) = given {
        let given = given.to_ascii_lowercase();
        if given.len() < DIGEST_CHARS_MIN || !open.digest.starts_with(&given) {
            return Err(CliError::DigestMismatch {
                given: clip(&given, 64),
                found: open.digest.clone(),
            });
        }
    }
    Ok(open.digest.parse().ok())
}

fn verdict_of(say: Say) -> (Verdict, &'static str) {
    match say {
        Say::Approve { arguments } => {
            let did = match arguments {
                None => "approved",
                Some(_) => "approved with other arguments",
            };
            let override_arguments = arguments;
            (Verdict::Approve { override_arguments }, did)
        }
        Say::Reject { reason } => (Verdict::Reject { reason }, "rejected"),
        Say::Message { text } => (Verdict::Message { text }, "answered"),
    }
}

/// Whether it changed something; else why it did not count.
fn counted(reply: &DecisionReply, what: &str) -> Result<bool, CliError> {
    let text = match reply {
        DecisionReply::Counted => return Ok(true),
        DecisionReply::CountedBefore => return Ok(false),
        DecisionReply::AlreadyDecided { by, at, what: how } => {
            let by = by
                .as_deref()
                .map_or_else(|| "nobody".to_owned(), |by| clip(by, 64));
            let at = When(*at).full();
            format!(
                "[decision.already-decided] {what} was {how} by {by} at {at}: the first decision counts"
            )
        }
        DecisionReply::Expired => format!(
            "[decision.expired] {what} has expired: the call was not made, and the model was told so"
        ),
        DecisionReply::Closed => {
            format!("[decision.closed] {what} is over: nothing can be decided any more")
        }
        DecisionReply::Unknown => format!(
            "[decision.unknown-pause] there is no {what} for you: `approvals list` shows what is open"
        ),
        DecisionReply::NotAllowed => format!(
            "[decision.not-allowed] {what} is not yours to answer: the owner of its execution may"
        ),
        DecisionReply::Mismatch => format!(
            "[decision.mismatch] ApprovalMismatchError: what {what} asks about is not what would run now; look at it again with `approvals list`"
        ),
        DecisionReply::Invalid(why) if why.starts_with('[') => clip(why, 4_000),
        DecisionReply::Invalid(why) => {
            format!("[decision.invalid] {what}: {}", clip(why, 4_000))
        }
    };
    Err(CliError::Refused(text))
}
